"""The layer that learns which label fits which wish, with each of its scores."""

from functools import partial

import pytest
import torch
from experiment_runs import checked_run

from attnbook.attention import attend, scaled_dot
from attnruns.experiments import square_root
from attnruns.experiments.square_root import Library, Questions
from attnruns.shared.runner import Job


@pytest.fixture
def asked():
    torch.manual_seed(0)
    return square_root.questions(200)


def made(score, width=16):
    torch.manual_seed(1)
    return Library(score, width)


def test_the_label_that_fits_is_shown_once_and_its_book_holds_the_answer(asked):
    fits = asked.labels == asked.wishes[:, None]
    assert fits.sum(dim=1).eq(1).all()
    assert torch.equal(asked.contents[fits], asked.answers)
    assert asked.labels.shape == (200, square_root.BOOKS)


def test_the_root_is_the_packages_scaled_dot_product(asked, close):
    model = made("root")
    query, key = model.to_query(model.wishes)[asked.wishes], model.to_key(model.labels)[asked.labels]
    value = model.values(asked.contents)
    context, weights = attend(query[:, None], key, value, score=scaled_dot)
    logits, found = model(asked)
    close(found, weights[:, 0])
    close(logits, model.out(context[:, 0]))


def test_a_small_start_gives_the_scores_that_the_root_gives(asked, close):
    close(made("small_start").scores(asked), made("root").scores(asked))
    close(made("plain").scores(asked), 4 * made("root").scores(asked))


def test_a_large_start_gives_with_the_root_the_scores_that_the_plain_product_gives(asked, close):
    close(made("large_start").scores(asked), made("plain").scores(asked))


def test_the_additive_score_is_the_one_of_the_chapter(asked, close):
    model = made("additive")
    query, key = model.to_query(model.wishes)[asked.wishes[0]], model.to_key(model.labels)[asked.labels[0, 2]]
    by_hand = model.to_score.weight[0] @ torch.tanh(query + key)
    assert model.scores(asked)[0, 2].item() == pytest.approx(by_hand.item(), rel=1e-5)


def test_queries_and_keys_start_with_variance_one(asked):
    torch.manual_seed(0)
    model = Library("plain", 1024)
    assert model.to_query(model.wishes).var().item() == pytest.approx(1, abs=0.1)
    assert square_root.measured(model, asked)["spread"] == pytest.approx(32, rel=0.15)


def test_what_is_measured_of_a_layer_that_attends_to_the_right_book():
    model = made("plain", width=square_root.FEATURES)
    asked = Questions(*(torch.tensor(part) for part in ([3], [[1, 3]], [[0, 5]], [5])))
    with torch.no_grad():
        model.wishes.copy_(model.labels)
        for layer in (model.to_query, model.to_key):
            layer.weight.copy_(torch.eye(square_root.FEATURES))
        model.out.weight.copy_(model.values.weight)
        model.out.bias.zero_()
    assert {name: square_root.measured(model, asked)[name] for name in ("accuracy", "sharp")} == {
        "accuracy": 1.0,
        "sharp": 1.0,
    }


@pytest.mark.parametrize("name", square_root.STEPS)
def test_a_run_has_a_curve_for_each_learning_rate(name, tmp_path, monkeypatch):
    monkeypatch.setattr(square_root, "POINTS", (0, 1))
    monkeypatch.setattr(square_root, "TESTS", 50)
    figures = checked_run(square_root, Job(name, 0, 2), tmp_path, "cpu")
    assert figures["by_rate"].keys() == {"0.0003", "0.001", "0.003", "0.01"}
    for curve in figures["by_rate"].values():
        assert curve.keys() == {"0", "1", "2"}
        assert curve["2"].keys() == {"accuracy", "sharp", "spread"}


def test_a_layer_with_the_root_learns_in_a_hundred_steps():
    curve = square_root.curve(partial(Library, "root", 64), Job("root_64", 0, 100), 0.01)
    assert curve["100"]["accuracy"] > 0.9 > 0.3 > curve["0"]["accuracy"]
