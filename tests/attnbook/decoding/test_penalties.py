"""The two penalties of a search, against the formulae of the paper written with loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.decoding.penalties import coverage_penalty, length_penalty


@given(st.integers(1, 200), st.floats(0, 3))
def test_the_length_penalty_is_the_papers_formula(length, alpha):
    got = length_penalty(torch.tensor(length, dtype=torch.float64), alpha)
    assert got.item() == pytest.approx((5 + length) ** alpha / 6**alpha)


@given(st.lists(st.lists(st.floats(0.001, 1), min_size=3, max_size=3), min_size=1, max_size=5), st.floats(0, 2))
def test_the_coverage_penalty_is_the_papers_formula(rows, beta):
    """Rows of weights, one per target word; columns are source words."""
    wanted = beta * sum(math.log(min(sum(column), 1.0)) for column in zip(*rows, strict=True))
    got = coverage_penalty(torch.tensor(rows, dtype=torch.float64).sum(dim=0), beta)
    assert got.item() == pytest.approx(wanted)


def test_more_attention_than_one_earns_nothing(draw, close):
    coverage = draw(2, 5).abs() + 1
    close(coverage_penalty(coverage, 0.5), torch.zeros_like(coverage[:, 0]))


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4)])
def test_source_words_are_the_last_axis(shape, draw, device, dtype):
    got = coverage_penalty(draw(*shape).abs(), 0.2)
    assert got.shape == shape[:-1]
    assert (got.device, got.dtype) == (torch.empty(0, device=device).device, dtype)


def test_a_word_without_any_weight_costs_much_but_not_infinitely_much(dtype):
    one, two = torch.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=dtype)
    assert coverage_penalty(one, 0.2).isfinite()
    assert coverage_penalty(two, 0.2) < coverage_penalty(one, 0.2) < -15
    assert coverage_penalty(one, 0.0) == 0


def test_no_source_words_cost_nothing():
    assert torch.equal(coverage_penalty(torch.zeros(2, 3, 0), 0.2), torch.zeros(2, 3))
