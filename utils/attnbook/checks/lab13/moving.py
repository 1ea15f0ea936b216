"""Lab 13: staying or jumping, and moving the focus by a row."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Property


def interpolate(content, previous, gate):
    return gate * content + (1 - gate) * previous  # (B, N)


def _weights(draw, batch, rows, sharp=1.0):
    return (sharp * draw.normal(batch, rows)).softmax(-1)


def _one_row(draw, batch, rows):
    """All weight on one row of each."""
    return F.one_hot(draw.integers(0, rows, batch), rows).double()


def _two_looks(draw):
    batch, rows = draw.sizes(2)
    for B, N in ((batch, rows), (3, 3), (1, rows), (batch, 1), (2, 30)):
        yield _weights(draw, B, N, 2.0), _weights(draw, B, N, 2.0), draw.uniform(B, 1, low=0.1, high=0.9)
    ends = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    yield _weights(draw, 2, rows), _one_row(draw, 2, rows), ends[draw.order(2)]
    yield _one_row(draw, 2, 4), _weights(draw, 2, 4), draw.uniform(2, 1, low=0.001, high=0.02)
    yield _weights(draw, 2, 4), _weights(draw, 2, 4), draw.uniform(2, 1, low=0.98, high=0.999)


INTERPOLATE = Exercise(
    interpolate,
    cases=_two_looks,
    properties=[
        Property(
            "each row sums to one",
            "A mixture of two looks is a look again: its weights sum to 1. The two shares must be g and 1 − g.",
            lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-6).all(),
        ),
        Property(
            "between the two",
            "Each weight must lie between the two that are mixed.",
            lambda result, content, previous, gate: (
                (result <= torch.maximum(content, previous) + 1e-9)
                & (result >= torch.minimum(content, previous) - 1e-9)
            ).all(),
        ),
    ],
)

wrong = INTERPOLATE.mistakes
wrong("gate the wrong way round", "return torch.lerp(content, previous, gate)").says("""
    Your gate works the wrong way round. g = 1 means go by content, g = 0 stay: g · content + (1 − g) · previous.""")
wrong("previous in full", {"(1 - gate) * previous": "previous"}).says("""
    You added the old weights in full. Their share is 1 − g; otherwise the sum is 1 + g.""")
wrong("one or the other", "return torch.where(gate > 0.5, content, previous)").says("""
    You chose one of the two. A choice has no gradient, so no gate could be learnt: mix them, by g and 1 − g.""")
wrong("gate brought into range again", "return torch.lerp(previous, content, gate.sigmoid())").says("""
    You sent the gate through a sigmoid, and that keeps it near the middle. It comes from 0 to 1: use it as it is.""")
wrong("the past cut off", {"* previous": "* previous.detach()"}).says("""
    Your weights are right, but the old ones were cut off (detach, no_grad): no step learns where the next begins.""")


def shift_weights(weights, shift):
    back, stay, forth = shift.split(1, dim=-1)  # (B, 1) each
    return back * weights.roll(-1, dims=-1) + stay * weights + forth * weights.roll(1, dims=-1)  # (B, N)


def _weights_and_shifts(draw):
    batch, rows = draw.sizes(2, low=3)
    for B, N in ((batch, rows), (3, 3), (1, rows), (batch, 30)):
        yield _weights(draw, B, N, 2.0), _weights(draw, B, 3)
    yield _one_row(draw, 3, rows), torch.eye(3, dtype=torch.float64)[draw.order(3)]  # each move once
    yield torch.eye(4, dtype=torch.float64)[[0, 3]], _weights(draw, 2, 3)  # both ends
    yield _weights(draw, 2, 2), _weights(draw, 2, 3)  # two rows: −1 and +1 lead to the same
    yield _weights(draw, batch, 1), _weights(draw, batch, 3)  # one row: nowhere to go
    yield _weights(draw, 2, 4, 9.0), _weights(draw, 2, 3, 9.0)
    if draw.number == 1:
        yield _weights(draw, 2, 130, 2.0), _weights(draw, 2, 3)  # longer than the lab's memory
        for N in (5, 16, 64):
            yield _one_row(draw, 3, N).float(), _weights(draw, 3, 3).float()


def _marked_below_zero(result, *args):
    """A negative weight is wrong even if it is as small as a rounding error: its power is NaN."""
    return result.masked_fill(result < 0, -1.0) if isinstance(result, torch.Tensor) else result


SHIFT_WEIGHTS = Exercise(
    shift_weights,
    cases=_weights_and_shifts,
    canonical=_marked_below_zero,
    properties=[
        Property(
            "no weight below 0",
            "Some of your weights are below 0, if only by a rounding error (as those of an FFT are). `sharpen` raises "
            "them to a power, and that is NaN. Sums of products can't fall below 0.",
            lambda result, *args: (result >= 0).all(),
        ),
        Property(
            "each row sums to one",
            "Moving a focus loses none of it: the weights must sum to 1 as before.",
            lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-6).all(),
        ),
        Property(
            "no move leaves it alone",
            "With a shift of (0, 1, 0) the focus must stay where it is.",
            lambda result, weights, shift: torch.allclose(
                result[shift[:, 1] == 1], weights[shift[:, 1] == 1], atol=1e-9
            ),
        ),
        Property(
            "a whole step forth",
            "With a shift of (0, 0, 1) the focus must move to the next row, from the last to row 0.",
            lambda result, weights, shift: torch.allclose(
                result[shift[:, 2] == 1], weights[shift[:, 2] == 1].roll(1, dims=-1), atol=1e-9
            ),
        ),
    ],
)

_BACK, _FORTH = "weights.roll(-1, dims=-1)", "weights.roll(1, dims=-1)"
_LOST_AT_0, _LOST_AT_N = "F.pad(weights[:, 1:], (0, 1))", "F.pad(weights[:, :-1], (1, 0))"

wrong = SHIFT_WEIGHTS.mistakes
wrong("shift in the wrong direction", {"back, stay, forth": "forth, stay, back"}).says("""
    Your focus moves the wrong way. shift is (−1, 0, +1), and +1 leads to the *next* row: what stood at row i comes to
    row i + 1, and that is roll(+1). (conv1d turns its kernel round, and gives this too.)""")
wrong("falls off the end", {_BACK: _LOST_AT_0, _FORTH: _LOST_AT_N}).says("""
    The rows form a circle: after the last comes row 0, before row 0 the last. What you moved past an end was lost, and
    the weights no longer sum to 1. roll brings it back in.""")
wrong("falls off the end, and the wrong way", {_BACK: _LOST_AT_N, _FORTH: _LOST_AT_0}).says("""
    Yours loses what passes an end, and moves the wrong way besides. conv1d with zero padding does both: it turns the
    kernel round. The rows form a circle, and +1 leads to the next row: roll(+1).""")
wrong(
    "lost at the end, and normalised",
    {
        f"return back * {_BACK}": f"moved = back * {_LOST_AT_0}",
        _FORTH: f"{_LOST_AT_N}\n    return moved / moved.sum(1)[:, None]",
    },
).says("""
    Yours loses what passes an end, and dividing by the sum gives it to wrong rows. The rows form a circle: roll.""")
wrong("rolled over the batch", {_BACK: "weights.roll(-1, dims=0)", _FORTH: "weights.roll(1, dims=0)"}).says("""
    You rolled along the sequences of the batch. The rows of the memory are the last axis: dims=-1.""")
wrong("rolled without an axis", {_BACK: "weights.roll(-1)", _FORTH: "weights.roll(1)"}).says("""
    You called roll without dims. One sequence's last weight then gets into the next sequence: dims=-1.""")
wrong("the likeliest move only", {"shift.split": "F.one_hot(shift.argmax(-1), 3).to(shift.dtype).split"}).says("""
    You made only the likeliest move. All three happen, each with its share; a choice would have no gradient.""")
wrong(
    "moves done one after the other",
    "back, stay, forth = shift.split(1, dim=-1)\n"
    "weights = back * weights.roll(-1, dims=-1) + (1 - back) * weights\n"
    "return forth * weights.roll(1, dims=-1) + (1 - forth) * weights",
).says("""
    You moved back first, and then the result forth. All three moves start from the weights as they came in.""")
