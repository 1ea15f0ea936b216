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
        ("x @ table", "(x @ table).tanh()", "`tanh` follows a matrix product"),
        (".clamp(min=3.0)", "", "`clamp` is left out"),
    ],
)
def test_one_step_of_the_right_computation_changed_is_found(old, new, words):
    verdict = judge(STEP, STEP.function(Mistake(words, "", {old: new})))
    assert verdict.kind == "one step changed", verdict.message
    assert words in " ".join(verdict.message.split())
