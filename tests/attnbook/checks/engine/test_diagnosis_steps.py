"""A wrong answer that is the right computation with one step changed: the step is named."""

import pytest
import torch

from attnbook.checks import Exercise, Mistake
from attnbook.checks.engine.judge import judge

torch.set_num_threads(1)


def step(x, table, bias):
    hidden = (x @ table + table.amax(0) + bias / (2 + bias.square())).sigmoid()
    return hidden / hidden.sum(-1, keepdim=True).clamp(min=3.0) - x.masked_fill(x > 0, 7.0).roll(1, -1)


STEP = Exercise(step, lambda draw: [(draw.normal(3, 4, 5), draw.normal(5, 5), draw.normal(5))], [])


@pytest.mark.parametrize(
    "old, new, words",
    [
        (".sigmoid()", ".abs()", "`sigmoid` is replaced by `abs`"),
        (".sum(-1", ".mean(-1", "`sum` is replaced by `mean`"),
        ("amax(0)", "amax(1)", "`amax` goes along axis 1, not axis 0"),
        ("hidden / ", "hidden * ", "`/` is replaced by `*`"),
        (" > 0", " < 0", "`>` is replaced by `<"),
        (".roll(1", ".roll(2", "`roll` moves by 2"),
        ("(2 +", "(3 +", "the number 2 beside a `+` is 3"),
        ("x @ table", "x.sum(-1, keepdim=True) * table.sum(0)", "two sums are multiplied"),
        ("x @ table", "(x @ table).tanh()", "`tanh` follows a matrix product"),
        (".clamp(min=3.0)", "", "`clamp` is left out"),
    ],
)
def test_one_step_of_the_right_computation_changed_is_found(old, new, words):
    verdict = judge(STEP, STEP.function(Mistake(words, "", {old: new})))
    assert verdict.kind == "one step changed", verdict.message
    assert words in " ".join(verdict.message.split())


def capped(x, mask):
    return ((x * mask).sum(-1).clamp(-1.0, 1.0) + 3) ** 2


CAPPED = Exercise(capped, lambda draw: [(2 * draw.normal(6, 5), draw.mask(6, 5, empty_rows=False))], [])


@pytest.mark.parametrize(
    "answer, words",
    [
        (lambda x, mask: (x.clamp(-1.0, 1.0) * mask).sum(-1).add(3) ** 2, "`clamp` before `sum`"),
        (lambda x, mask: (x * mask).sum(-1).clamp(-1.0, 1.0) ** 2 + 3, "`pow` before `+`"),
        (lambda x, mask: ((x * mask).sum(-1) + 3).clamp(-1.0, 1.0) ** 2, "`+` before `clamp`"),
    ],
)
def test_a_limit_on_each_number_instead_of_their_sum_is_an_order(answer, words):
    verdict = judge(CAPPED, answer)
    assert verdict.kind == "two steps exchanged", verdict.message
    assert words in " ".join(verdict.message.split())


def looped(x, mask):
    for shift in (1, 2, 3):
        x = x + x.roll(shift, -1).clamp(-1.0, 1.0)
    return ((x - x.mean(-1, keepdim=True)) * mask).sum(-1) - x.argmax(-1)


LOOPED = Exercise(looped, lambda draw: [(draw.normal(4, 5), draw.mask(4, 5, empty_rows=False))], [], gradients=False)


@pytest.mark.parametrize(
    "old, new, words",
    [
        (".sum(-1)", ".sum(-1) / mask.sum(-1)", "`sum` is divided by the number of True in each row of `mask`"),
        ("(x - x.mean(-1, keepdim=True))", "(x - x.mean(-1, keepdim=True)).abs()", "`abs` follows a `-`"),
        ("x.argmax(-1)", "(x.argmax(-1) + 1).clamp(max=4)", "the position that `argmax` finds is one too large"),
        ("clamp(-1.0, 1.0)", "clamp(max=1.0)", "the lower limit of `clamp` is left out"),
        ("(1, 2, 3)", "(1, 2)", "the second part of a `+` is left out, the last time only"),
    ],
)
def test_a_divisor_a_limit_and_a_single_time_in_a_loop_are_steps_too(old, new, words):
    verdict = judge(LOOPED, LOOPED.function(Mistake(words, "", {old: new})))
    assert verdict.kind == "one step changed", verdict.message
    assert words in " ".join(verdict.message.split())
