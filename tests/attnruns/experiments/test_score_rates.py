"""Five scores at six learning rates: each layer computes the score of its name."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.attention import cosine
from attnruns.experiments import score_rates, square_root
from attnruns.experiments.score_rates import Scored
from attnruns.shared.runner import Job

WIDTH = 16


@pytest.fixture
def asked():
    torch.manual_seed(0)
    return square_root.questions(200)


def pairs(model, asked):
    """The query of each question ``(B, 1, d)``, and its keys ``(B, Tk, d)``."""
    query, key = model.to_query(model.wishes)[asked.wishes], model.to_key(model.labels)[asked.labels]
    return query[:, None], key


def test_the_cosine_starts_ten_times_as_sharp(asked):
    model = Scored("cosine", WIDTH)
    torch.testing.assert_close(model.scores(asked), 10 * cosine(*pairs(model, asked))[:, 0])


def test_the_general_score_has_a_matrix_between_query_and_key(asked):
    model = Scored("general", WIDTH)
    query, key = pairs(model, asked)
    torch.testing.assert_close(model.scores(asked), (query @ model.compare.key_to_query.weight @ key.mT)[:, 0])


def test_a_new_score_is_learned_with_its_matrices():
    learned = {name for name, weight in Scored("cosine", WIDTH).named_parameters() if weight.requires_grad}
    assert {"compare.log_beta", "to_query.weight", "to_key.weight"} <= learned


def made(name):
    torch.manual_seed(1)
    return score_rates.make(name, WIDTH)


@pytest.mark.parametrize("score", score_rates.SCORES)
def test_all_scores_begin_with_the_same_queries_and_keys_or_with_queries_larger_by_a_factor(score):
    factor = {"dot_small_start": WIDTH**-0.5, "scaled_dot_large_start": WIDTH**0.5}.get(score, 1.0)
    torch.testing.assert_close(made(score).to_query.weight, factor * made("dot").to_query.weight)
    assert torch.equal(made(score).labels, made("dot").labels)


def test_the_two_exchanged_starts_give_the_first_scores_of_the_other(asked):
    for start, other in (("dot_small_start", "scaled_dot"), ("scaled_dot_large_start", "dot")):
        torch.testing.assert_close(made(start).scores(asked), made(other).scores(asked))


def test_an_unknown_score_is_refused():
    with pytest.raises(ValueError, match="location"):
        score_rates.make("location", WIDTH)


@pytest.mark.parametrize("name", score_rates.STEPS)
def test_a_run_has_a_curve_for_each_learning_rate(name, tmp_path, monkeypatch):
    monkeypatch.setattr(square_root, "POINTS", (0, 1))
    monkeypatch.setattr(square_root, "TESTS", 50)
    figures = checked_run(score_rates, Job(name, 0, 2), tmp_path, "cpu")
    assert figures["by_rate"].keys() == {str(rate) for rate in score_rates.RATES}
    for curve in figures["by_rate"].values():
        assert curve.keys() == {"0", "1", "2"}
