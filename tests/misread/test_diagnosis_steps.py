"""A wrong answer that is the right computation with one step changed: the step is named."""

import pytest
import torch

from attnlabs import Exercise, Mistake
from misread.judge import judge

torch.set_num_threads(1)


def step(x, table, bias):
    hidden = (x @ table + table.amax(0) + bias / (2 + bias.square())).sigmoid()
    return hidden / hidden.sum(-1, keepdim=True).clamp(min=3.0) - x.masked_fill(x > 0, 7.0).roll(1, -1)


STEP = Exercise(step, lambda draw: [(draw.normal(3, 4, 5), draw.normal(5, 5), draw.normal(5))], [])


@pytest.mark.parametrize(
    "old, new, about, word",
    [
        (".sigmoid()", ".abs()", ("sigmoid", "abs"), "replaced"),
        (".sum(-1", ".mean(-1", ("sum", "mean"), "replaced"),
        ("amax(0)", "amax(1)", ("amax", "1", "0"), "along"),
        ("hidden / ", "hidden * ", ("/", "*"), "replaced"),
        (" > 0", " < 0", (">", "<"), "replaced"),
        (".roll(1", ".roll(2", ("roll", "2"), "moves"),
        ("(2 +", "(3 +", ("2", "+", "3"), "number"),
        ("2 + bias.square()", "bias.square()", ("2", "+"), "left out"),  # to torch, 2 is the second part
        ("x @ table", "x.sum(-1, keepdim=True) * table.sum(0)", ("@",), "sums"),
        ("x @ table", "(x @ table).tanh()", ("tanh",), "product"),
        (".clamp(min=3.0)", "", ("clamp",), "left out"),
    ],
)
def test_one_step_of_the_right_computation_changed_is_found(old, new, about, word):
    verdict = judge(STEP, STEP.function(Mistake(f"{old} → {new}", "", {old: new})))
    assert (verdict.kind, verdict.about) == ("one step changed", about), verdict.message
    assert word in " ".join(verdict.message.split())


def capped(x, mask):
    return ((x * mask).sum(-1).clamp(-1.0, 1.0) + 3) ** 2


CAPPED = Exercise(capped, lambda draw: [(2 * draw.normal(6, 5), draw.mask(6, 5, empty_rows=False))], [])


@pytest.mark.parametrize(
    "answer, order",
    [
        (lambda x, mask: (x.clamp(-1.0, 1.0) * mask).sum(-1).add(3) ** 2, ("clamp", "sum")),
        (lambda x, mask: (x * mask).sum(-1).clamp(-1.0, 1.0) ** 2 + 3, ("pow", "+")),
        (lambda x, mask: ((x * mask).sum(-1) + 3).clamp(-1.0, 1.0) ** 2, ("+", "clamp")),
    ],
)
def test_a_limit_on_each_number_instead_of_their_sum_is_an_order(answer, order):
    verdict = judge(CAPPED, answer)
    assert (verdict.kind, verdict.about) == ("two steps exchanged", order), verdict.message
    assert "before" in verdict.message


def looped(x, mask):
    for shift in (1, 2, 3):
        x = x + x.roll(shift, -1).clamp(-1.0, 1.0)
    return ((x - x.mean(-1, keepdim=True)) * mask).sum(-1) - x.argmax(-1)


LOOPED = Exercise(looped, lambda draw: [(draw.normal(4, 5), draw.mask(4, 5, empty_rows=False))], [], gradients=False)


@pytest.mark.parametrize(
    "old, new, about, words",
    [
        (".sum(-1)", ".sum(-1) / mask.sum(-1)", ("sum", "mask"), ["divided", "True", "row"]),
        ("(x - x.mean(-1, keepdim=True))", "(x - x.mean(-1, keepdim=True)).abs()", ("abs", "-"), ["follows"]),
        ("x.argmax(-1)", "(x.argmax(-1) + 1).clamp(max=4)", ("argmax",), ["position", "large"]),
        ("clamp(-1.0, 1.0)", "clamp(max=1.0)", ("clamp",), ["lower", "left out"]),
        ("(1, 2, 3)", "(1, 2)", ("+",), ["second", "left out", "last time"]),
    ],
)
def test_a_divisor_a_limit_and_a_single_time_in_a_loop_are_steps_too(old, new, about, words):
    verdict = judge(LOOPED, LOOPED.function(Mistake(f"{old} → {new}", "", {old: new})))
    assert (verdict.kind, verdict.about) == ("one step changed", about), verdict.message
    said = " ".join(verdict.message.split())
    assert all(word in said for word in words)
