"""The control for the dates of Chapter 2: equal weights, and a score whose query has no effect."""

import pytest
import torch

from attnruns.experiments import dates

MASK = torch.tensor([[True, True, True], [True, True, False]])  # (B, Tk)


def weights_of(name, query):
    torch.manual_seed(0)
    model = dates.build(name)
    scores = model.score(query[:, None], torch.randn(2, 3, dates.HIDDEN))[:, 0]  # (B, Tk)
    return scores.masked_fill(~MASK, float("-inf")).softmax(-1)


@pytest.mark.parametrize("name", ["uniform", "uniform_longer"])
def test_equal_weights_are_one_over_the_number_of_real_characters(name):
    expected = torch.tensor([[1 / 3] * 3, [0.5, 0.5, 0.0]])
    assert torch.allclose(weights_of(name, torch.randn(2, dates.HIDDEN)), expected)


@pytest.mark.parametrize("name, same", [("without_tanh", True), ("additive", False)])
def test_the_query_has_no_effect_on_the_weights_without_the_tanh_only(name, same):
    one, other = torch.zeros(2, dates.HIDDEN), torch.ones(2, dates.HIDDEN)
    assert torch.allclose(weights_of(name, one), weights_of(name, other), atol=1e-6) == same


def test_the_dates_have_the_five_forms_of_the_chapter_and_no_weekdays():
    task = dates.task()
    assert {len("".join(example.source).replace(",", "").split()) for example in task.test} == {1, 3}
    assert len(task.test) == 1000
    assert not {"".join(e.target) for e in task.test} & {"".join(e.target) for e in task.train}
