"""Learning rates: up, along, down; and the Transformer paper's, up and down."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnbook.training import warmup_rate, warmup_then_cosine


@pytest.mark.parametrize(
    "step, factor",
    [
        (0, 0.1),  # the first of ten steps up
        (4, 0.5),
        (9, 1.0),
        (10, 1.0),
        (99, 1.0),  # constant until half of the training is over
        (100, 1.0),
        (150, 0.5),  # half way down
        (199, 0.5 * (1 + math.cos(math.pi * 0.99))),
    ],
)
def test_factors_of_a_training_of_200_steps(step, factor):
    assert warmup_then_cosine(step, steps=200, warmup=10) == pytest.approx(factor)


def test_a_training_without_warmup_begins_at_full_rate():
    assert warmup_then_cosine(0, steps=10, warmup=0) == 1


def test_the_fall_may_begin_at_once_or_never():
    falling = [warmup_then_cosine(step, 10, warmup=0, constant=0.0) for step in range(10)]
    assert falling == pytest.approx([0.5 * (1 + math.cos(math.pi * step / 10)) for step in range(10)])
    assert {warmup_then_cosine(step, 10, warmup=0, constant=1.0) for step in range(10)} == {1.0}


def test_a_warmup_longer_than_the_training_is_cut_short():
    assert [warmup_then_cosine(step, 3, warmup=10) for step in range(3)] == pytest.approx([0.1, 0.2, 0.3])


@given(st.integers(1, 60), st.integers(0, 80), st.floats(0, 1))
def test_factors_lie_between_zero_and_one_and_never_rise_after_the_warmup(steps, warmup, constant):
    factors = [warmup_then_cosine(step, steps, warmup, constant) for step in range(steps)]
    assert all(0 < factor <= 1 for factor in factors)
    assert factors[:warmup] == sorted(factors[:warmup])
    assert factors[warmup:] == sorted(factors[warmup:], reverse=True)


@pytest.mark.parametrize("step, steps", [(-1, 10), (10, 10), (0, 0), (0, -5)])
def test_a_step_outside_the_training_is_refused(step, steps):
    message = rf"step must lie in 0\.\.{steps - 1} \(steps = {steps}\), got {step}"
    with pytest.raises(ValueError, match=message):
        warmup_then_cosine(step, steps)


# ---- the Transformer paper's rate


@given(st.integers(0, 100_000), st.integers(1, 2048), st.integers(1, 10_000))
def test_the_rate_of_the_paper_is_its_formula(step, d_model, warmup):
    count = step + 1
    rising, falling = count / warmup / math.sqrt(d_model * warmup), 1 / math.sqrt(d_model * count)
    assert warmup_rate(step, d_model, warmup) == pytest.approx(rising if count < warmup else falling, rel=1e-12)


@pytest.mark.parametrize("d_model, warmup", [(512, 4000), (64, 1), (7, 30)])
def test_the_rate_of_the_paper_is_highest_at_the_end_of_the_warmup(d_model, warmup):
    rates = [warmup_rate(step, d_model, warmup) for step in range(3 * warmup)]
    assert rates.index(max(rates)) == warmup - 1
    assert max(rates) == pytest.approx(1 / math.sqrt(d_model * warmup))
    assert rates[:warmup] == sorted(rates[:warmup])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)


def test_the_base_model_of_the_paper_reaches_seven_ten_thousandths():
    assert warmup_rate(3999, 512) == pytest.approx(6.99e-4, rel=1e-3)
    assert warmup_rate(0, 512) == pytest.approx(6.99e-4 / 4000, rel=1e-3)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((-1, 512, 4000), "step is -1; the first step is 0"),
        ((0, 0, 4000), "d_model and warmup must be at least 1, got d_model = 0, warmup = 4000"),
        ((0, 512, 0), "d_model and warmup must be at least 1, got d_model = 512, warmup = 0"),
    ],
)
def test_a_rate_that_has_no_meaning_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        warmup_rate(*arguments)
