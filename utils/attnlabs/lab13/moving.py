"""Lab 13: staying or jumping, and moving the focus by a row."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise

from ..families.attention_properties import along_the_sum, lies_between


def interpolate(content, previous, gate):
    """Mix two sets of weights (gate 1: content, gate 0: previous): (B, N), (B, N), (B, 1) -> (B, N)."""
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
    canonical_gradients=along_the_sum(0, 1),
    about=About(points=1, minutes=6, difficulty=1, read_again="Step 2: interpolation"),
)

must = INTERPOLATE.properties
must("each row sums to one", lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-6).all()).says("""
    A mixture of two sets of weights must sum to 1 again, so the two proportions must sum to 1 as well.""")
must("between the two", lambda result, content, previous, gate: lies_between(result, content, previous)).says("""
    Each weight of a mixture must lie between the two weights that are mixed.""")

wrong = INTERPOLATE.mistakes
wrong("previous in full", {"(1 - gate) * previous": "previous"}).says("""
    You added the previous weights in full, so that each row sums to 1 plus the gate. Give the previous weights only
    the proportion that the content leaves.""")
wrong(
    "previous in full, and normalised",
    "mixed = gate * content + previous\nreturn mixed / mixed.sum(dim=-1, keepdim=True)",
).says("""
    You added the previous weights in full, and your division by the sum hides it: a gate of 1 gives half of each. Give
    the previous weights only the proportion that the content leaves, and no division is needed.""")
wrong(
    "powers multiplied", "mixed = content**gate * previous ** (1 - gate)\nreturn mixed / mixed.sum(-1, keepdim=True)"
).says("""
    You multiplied powers of the two and divided by the sum. A row that has no weight in one of them then never gets
    any. Interpolating is adding: the gate's proportion of one, and what remains of the other.""")
wrong("one or the other", "return torch.where(gate > 0.5, content, previous)").says("""
    You chose one of the two sets of weights. A choice has no gradient, so the machine could never learn its gate. Mix
    the two in the proportion that the gate gives.""")
wrong("the past cut off", {"* previous": "* previous.detach()"}).says("""
    Your weights are right, but `detach` or `no_grad` cuts the previous weights off from the gradient. Then no step
    can learn where the next one should start.""")
wrong("gate without its last axis", {"gate * content + (1 - gate)": "gate[:, 0] * content + (1 - gate[:, 0])"}).says("""
    You multiplied weights (B, N) by a gate of shape (B,). PyTorch aligns shapes from the right, so the gate runs along
    the rows of the memory. Keep the gate in its shape (B, 1), so that each sequence has one gate for all its rows.""")


def circular_shift(weights, shift):
    """Move weights around the circle of rows: (B, N), probabilities of -1, 0, +1 (B, 3) -> (B, N)."""
    back, stay, forward = shift.split(1, dim=-1)  # (B, 1) each
    return back * weights.roll(-1, dims=-1) + stay * weights + forward * weights.roll(1, dims=-1)  # (B, N)


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


def _wrong_at_the_ends_only(result, weights, shift):
    """Told only where rows between the ends could be wrong, too: of several memories, each moved to and from."""
    right = circular_shift(weights, shift)
    if min(right.shape) < 2 or right.shape[1] < 4 or weights.min() < 1e-4 or shift.min() < 1e-3:
        return False
    return torch.allclose(result[:, 1:-1], right[:, 1:-1]) and not torch.allclose(result, right)


CIRCULAR_SHIFT = Exercise(
    circular_shift,
    cases=_weights_and_shifts,
    canonical=_marked_below_zero,
    canonical_gradients=along_the_sum(0, 1),
    about=About(points=3, minutes=17, difficulty=3, read_again="Step 3: shift"),
)

must = CIRCULAR_SHIFT.properties
must("no weight below 0", lambda result, *args: (result >= 0).all()).says("""
    Some of your weights are below 0, perhaps only by a rounding error (the FFT makes such errors). `sharpen` raises the
    weights to a power, and a power of a negative number is NaN. Sums of products of the weights and probabilities
    cannot fall below 0.""")
must("a circle", lambda result, *args: not _wrong_at_the_ends_only(result, *args)).says("""
    The rows form a circle: row 0 follows the last row, so that what moves past one end of the tape arrives at the
    other. `roll` does this. Between the ends your result is right.""")
must("each row sums to one", lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-6).all()).says("""
    A shift only moves weights from row to row, so they must sum to 1 as before. (In a memory of one row or two, several
    moves lead to the *same* row, where they are added. If only such memories are wrong, look for an assignment, which
    keeps only the last one.)""")
must(
    "no move leaves it alone",
    lambda result, weights, shift: torch.allclose(result[shift[:, 1] == 1], weights[shift[:, 1] == 1], atol=1e-9),
).says("""
    With a shift of (0, 1, 0) the weights must stay as they are.""")
must(
    "a whole step forward",
    lambda result, weights, shift: torch.allclose(
        result[shift[:, 2] == 1], weights[shift[:, 2] == 1].roll(1, dims=-1), atol=1e-9
    ),
).says("""
    With a shift of (0, 0, 1) each weight must move to the next row, and the weight of the last row to row 0.""")

_BACK, _FORWARD = "weights.roll(-1, dims=-1)", "weights.roll(1, dims=-1)"
_LOST_AT_0, _LOST_AT_N = "F.pad(weights[:, 1:], (0, 1))", "F.pad(weights[:, :-1], (1, 0))"

wrong = CIRCULAR_SHIFT.mistakes
wrong("probabilities without their axis", {"shift.split(1, dim=-1)": "shift.unbind(dim=-1)"}).says("""
    You multiplied weights (B, N) by a probability of shape (B,), as `shift[:, 0]` is. PyTorch aligns shapes from the
    right, so the probability runs along the rows of the memory. Keep the axis with `shift[:, 0:1]`, which has shape
    (B, 1).""")
wrong("shift in the wrong direction", {"back, stay, forward": "forward, stay, back"}).says("""
    Your weights move in the wrong direction. The three probabilities belong to −1, 0 and +1, and +1 moves the weight
    of row i to row i + 1, which is roll(+1). (A conv1d gives this result, too, because it does not reverse its
    kernel.)""")
wrong("falls off the end", {_BACK: _LOST_AT_0, _FORWARD: _LOST_AT_N}).says("""
    You lost the weight that moves past an end of the memory, so that a row of weights no longer sums to 1. The rows
    form a circle: row 0 follows the last row. `roll` brings back at one end what leaves at the other.""")
wrong("falls off the end, and the wrong way", {_BACK: _LOST_AT_N, _FORWARD: _LOST_AT_0}).says("""
    You lost the weight that moves past an end of the memory, and the other weights move in the wrong direction. A
    conv1d with zero padding does both. The rows form a circle, and +1 moves a weight to the next row: roll(+1).""")
wrong(
    "lost at the end, and normalised",
    {
        f"return back * {_BACK}": f"moved = back * {_LOST_AT_0}",
        _FORWARD: f"{_LOST_AT_N}\n    return moved / moved.sum(1)[:, None]",
    },
).says("""
    You lost the weight that moves past an end of the memory, and your division by the sum gives it to other rows. The
    rows form a circle: use `roll`, and no division is needed.""")
wrong("rolled over the batch", {_BACK: "weights.roll(-1, dims=0)", _FORWARD: "weights.roll(1, dims=0)"}).says("""
    You rolled along the axis of the batch, so that weights move from one sequence to another. The rows of the memory
    are the last axis: dims=-1.""")
wrong("rolled without an axis", {_BACK: "weights.roll(-1)", _FORWARD: "weights.roll(1)"}).says("""
    You called `roll` without `dims`, which moves the last weight of one sequence into the next sequence. Roll along
    the rows of the memory only: dims=-1.""")
wrong("the likeliest move only", {"shift.split": "F.one_hot(shift.argmax(-1), 3).to(shift.dtype).split"}).says("""
    You made only the most probable move. All three moves contribute in proportion to their probabilities, because a
    choice between them would have no gradient.""")
wrong(
    "moves done one after the other",
    "back, stay, forward = shift.split(1, dim=-1)\n"
    "weights = back * weights.roll(-1, dims=-1) + (1 - back) * weights\n"
    "return forward * weights.roll(1, dims=-1) + (1 - forward) * weights",
).says("""
    You moved the weights back first, and then moved the result forward. All three moves must start from the weights
    as they came in.""")
