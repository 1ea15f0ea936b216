"""Stopping early: when nothing gets better, when it is good enough, and with several processes."""

import itertools

import pytest
import torch
from torch import nn

from attnbook.training import ends_early, fit, parallel


@pytest.mark.parametrize(
    "results, patience, ends",
    [
        ([], 1, False),
        ([0.5], 1, False),  # nothing came before it
        ([0.5, 0.5], 1, True),  # as good as before is not better
        ([0.5, 0.6], 1, False),
        ([0.5, 0.4, 0.6], 2, False),
        ([0.5, 0.4, 0.45], 2, True),  # better than the one before, not than the best
        ([0.5, 0.4, 0.45], None, False),
    ],
)
def test_a_training_is_stale_after_so_many_validations_without_a_new_best(results, patience, ends):
    assert ends_early(results, patience) is ends


@pytest.mark.parametrize(
    "results, ends",
    [
        ([], False),
        ([3.0], False),
        ([3.0, 1.0], False),
        ([1.0, 2.0], False),
        ([2.0, 2.5], True),
        ([3.0, 1.0, 9.0], False),
    ],
)
def test_two_results_in_a_row_must_be_good_enough(results, ends):
    assert ends_early(results, enough=2.0) is ends


def test_either_reason_ends_a_training():
    assert ends_early([1.0, 1.0], patience=1, enough=5.0)
    assert ends_early([5.0, 6.0], patience=1, enough=5.0)
    assert not ends_early([1.0, 2.0], patience=1, enough=5.0)


def quick(steps: int, **options):
    """Train one weight, and validate at each second step."""
    model = nn.Linear(1, 1, bias=False)
    settings = {"loss": lambda model, batch: model.weight.square().sum(), "validate_every": 2, "progress": False}
    return fit(model, lambda step: torch.ones(1), steps, **settings | options)


def test_a_training_stops_when_two_validations_in_a_row_are_good_enough():
    results = iter([0.0, 3.0, 1.0, 2.0, 2.5, 9.0])
    history = quick(20, validate=lambda model: next(results), enough=2.0)
    assert history.results() == [0.0, 3.0, 1.0, 2.0, 2.5]
    assert history.steps == 10


def test_enough_without_validations_is_refused():
    with pytest.raises(ValueError, match=r"enough is compared with validations and needs validate, got 1\.0"):
        quick(2, enough=1.0)


def test_the_rates_are_those_of_the_whole_length_up_to_the_end():
    def rates(**options):
        asked: list[int] = []
        quick(12, validate=lambda model: 0.0, schedule=lambda step: asked.append(step) or 0.1, **options)
        return asked

    assert rates(patience=1) == rates()[:4]


def test_the_first_processs_result_counts_in_each(monkeypatch):
    mine = itertools.count(1.0)  # gets better and better
    first = iter([5.0, 4.0, 3.0])  # does not
    monkeypatch.setattr(parallel, "from_first", lambda value: next(first))
    history = quick(20, validate=lambda model: next(mine), patience=2)
    assert history.results() == [5.0, 4.0, 3.0]
    assert history.steps == 6
