"""When heads form, with few steps and few tests."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.worlds.episodes import DIM
from attnruns.experiments import forming, in_context
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Small batches and few tests."""
    monkeypatch.setattr(forming, "TESTS", 5)
    monkeypatch.setattr(forming, "EVERY", 2)
    monkeypatch.setitem(forming.TRAINING, "batch", 4)


@pytest.mark.parametrize("name, best", once_on_the_card(forming.RECIPES), indirect=["best"])
def test_a_run_measures_while_it_trains(name, best, tmp_path):
    figures = checked_run(forming, Job(name, 0, 3), tmp_path, best)
    assert [seen["step"] for seen in figures["while_training"]] == [0, 2, 3]
    assert len(figures["while_training"][0]["step_before"]) == (1 if name == "one_layer_bound" else 2)
    for maps in figures["maps"].values():
        assert torch.tensor(maps).shape == (3, 4, 4)
        assert torch.tensor(maps).sum(dim=-1) == pytest.approx(1, abs=1e-3)


def test_the_models_are_those_of_in_context_apart_from_the_inputs_that_are_bound():
    assert forming.build("two_layers").config == in_context.build("recall_transformer").config
    assert forming.build("one_layer_bound").reader.config == in_context.build("recall_one_layer").config
    assert set(forming.STEPS.values()) == {in_context.STEPS["recall_transformer"]}


def test_a_bound_step_holds_the_input_of_the_step_before():
    x = forming.examples(2)
    bound = forming.build("one_layer_bound").bind(x)
    assert torch.equal(bound[..., : x.shape[-1]], x)
    assert torch.equal(bound[:, 1:, -DIM:], x[:, :-1, :DIM])
    assert not bound[:, 0, -DIM:].any()


def test_a_bound_reader_never_reads_a_later_step():
    x = forming.examples(2).requires_grad_()
    (gradient,) = torch.autograd.grad(forming.build("one_layer_bound")(x)[0][:, 1].sum(), x)
    assert gradient[:, :2].any()
    assert not gradient[:, 2:].any()


def test_the_best_heads_are_those_with_the_largest_scores():
    seen = {"step_before": [[0.1, 0.9], [0.2, 0.3]], "after_same_key": [[0.1, 0.1], [0.8, 0.2]]}
    assert forming.best_heads(seen) == {"binds": (0, 1), "finds": (1, 0)}


def test_the_example_shows_cat_twice_and_each_label_one_step_late():
    x = forming.examples(1)[0]
    assert (x[1, :DIM] - x[3, :DIM]).norm() < 0.5 * (x[1, :DIM] - x[2, :DIM]).norm()
    assert x[:, DIM:].tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
