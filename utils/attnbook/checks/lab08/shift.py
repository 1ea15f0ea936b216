"""Lab 8: moving on by some places is a rotation."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .positions import in_double, sinusoidal_positions  # noqa: F401 (wrong answers use them)


def relative_shift(dim, offset):
    pairs = torch.arange(0, dim, 2, dtype=torch.float64)  # (D/2,): 0, 2, 4, …
    turn = offset / 10000 ** (pairs / dim)  # (D/2,), radians
    sine, cosine = turn.sin(), turn.cos()
    # (sin a, cos a) @ [[cos b, −sin b], [sin b, cos b]] = (sin(a + b), cos(a + b))
    blocks = torch.stack([cosine, -sine, sine, cosine], dim=-1).reshape(-1, 2, 2)  # (D/2, 2, 2)
    return torch.block_diag(*blocks)  # (D, D)


def _shifts(draw):
    yield 2, 1
    yield 4, draw.integer(2, 5)
    yield 4, -draw.integer(1, 5)  # backwards
    yield 6, 0  # stay
    yield 6, 1  # later pairs turn less, to be seen at once
    yield 2 * draw.sizes(1, low=4)[0], draw.integer(5, 30)
    yield 8, draw.integer(1, 9) + 0.5  # half a place: why not
    if draw.number == 1:
        yield 64, draw.integer(2, 6)  # many pairs, the last of them hardly turn
        yield 8, 100
        yield 8, -100


OVERLAPPING = """
matrix = torch.zeros(dim, dim, dtype=torch.float64)
for i in range(dim // 2):
    b = offset / 10000 ** (2 * i / dim)
    matrix[i, i] = matrix[i + 1, i + 1] = math.cos(b)
    matrix[i, i + 1], matrix[i + 1, i] = -math.sin(b), math.sin(b)
return matrix
"""


def _place(t, dim):
    pairs = torch.arange(0, dim, 2, dtype=torch.float64)
    angle = t / 10000 ** (pairs / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten()  # (D,)


def _later_are_faster(matrix, dim, offset):
    """Whether, at a small offset, the first block is right and the sine of a later one is too large."""
    sines, wanted = matrix[1::2, ::2].diagonal().abs(), _place(offset, dim)[::2].abs()
    first_is_right = torch.allclose(matrix[:2, 0], _place(offset, 2).flip(0), atol=1e-5)
    return 0 < abs(offset) < 1.5 and first_is_right and bool((sines[1:] > wanted[1:] + 1e-3).any())


RELATIVE_SHIFT = Exercise(
    relative_shift,
    cases=_shifts,
    tolerance=1e-5,
    canonical=in_double,
    properties=[
        Property(
            "later pairs turn slower",
            "The first block is right, but a later one turns too far. Each pair turns *slower* than the one before "
            "it: divide by 10000^(2i/D), or put a minus into the exponent.",
            lambda result, dim, offset: not _later_are_faster(result.double(), dim, offset),
        ),
        Property(
            "place 0 goes to place offset",
            "Place 0, the row 0, 1, 0, 1, …, times your matrix must give the position of `offset`.",
            lambda result, dim, offset: torch.allclose(
                _place(0, dim) @ result.double(), _place(offset, dim), atol=1e-5
            ),
        ),
        Property(
            "place 7 goes to place 7 + offset",
            "The same matrix must move *every* place by `offset`: it may move place 0 rightly, but place 7 it "
            "does not.",
            lambda result, dim, offset: torch.allclose(
                _place(7, dim) @ result.double(), _place(7 + offset, dim), atol=1e-5
            ),
        ),
        Property(
            "a rotation keeps lengths",
            "A rotation changes no lengths and no angles: M times its transpose must be the identity.",
            lambda result, dim, offset: torch.allclose(
                result.double() @ result.double().T, torch.eye(dim).double(), atol=1e-5
            ),
        ),
    ],
)

wrong = RELATIVE_SHIFT.mistakes
wrong("turned the other way", {"[cosine, -sine, sine, cosine]": "[cosine, sine, -sine, cosine]"}).says("""
    Your matrix goes `offset` places *back* when it is used as p @ M (it is the transpose of what is wanted, made for
    M @ p). Positions are rows here: the minus stands in the first row of each block.""")
wrong("no minus", {"[cosine, -sine, sine, cosine]": "[cosine, sine, sine, cosine]"}).says("""
    All four numbers of your blocks have a plus. sin(a + b) needs a plus, but cos(a + b) = cos a cos b − sin a sin b:
    one minus a block, or it is no rotation.""")
wrong("a mirror, not a rotation", {"[cosine, -sine, sine, cosine]": "[-cosine, sine, sine, cosine]"}).says("""
    The minus stands on the diagonal of your blocks. That is a reflection: place 0 may land rightly, others do not.
    cos b stands twice on the diagonal, with a plus.""")
wrong("a mirror, the other one", {"[cosine, -sine, sine, cosine]": "[cosine, sine, sine, -cosine]"}).says("""
    Your blocks are [[cos, sin], [sin, −cos]]. That is a reflection, not a rotation. cos b stands twice on the
    diagonal with a plus; the minus belongs to one sine.""")
wrong("made for cosine before sine", {"[cosine, -sine, sine, cosine]": "[sine, -cosine, cosine, sine]"}).says("""
    Sine and cosine have changed places in your blocks: sin b stands on the diagonal. Stay where you are, b = 0, must
    give the identity, so the diagonal is cos b.""")
wrong(
    "one angle for all pairs", {"turn = offset / 10000 ** (pairs / dim)": "turn = offset * torch.ones_like(pairs)"}
).says("""
    You turned every pair by the same angle. Each pair has its own speed: pair i turns by offset / 10000^(2i/D).""")
wrong("only one place further", {"offset / 10000": "1 / 10000"}).says("""
    Your matrix moves by one place, whatever the offset is. The angles must be multiplied by `offset`.""")
wrong("whole places only", {"offset / 10000": "int(offset) / 10000"}).says("""
    You cut the offset to a whole number. Angles know no whole places: half a place is half the turn. Use `offset` as
    it comes.""")
wrong("1000 for 10000", {"10000": "1000"}).says("""
    You took 1000. It is 10000, with four zeros, exactly as in sinusoidal_positions.""")
wrong("direction of the offset lost", {"offset / 10000": "abs(offset) / 10000"}).says("""
    You move forwards for negative offsets too. A negative offset turns the other way: keep its sign in the angle.""")
wrong(
    "halves, not neighbours",
    "turn = offset / 10000 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)\n"
    "sine, cosine = turn.sin().diag(), turn.cos().diag()\n"
    "return torch.cat([torch.cat([cosine, -sine], 1), torch.cat([sine, cosine], 1)], 0)",
).says("""
    Your matrix turns feature i together with feature i + D/2. In our positions sine and cosine of an angle are
    *neighbours*, 2i and 2i + 1: blocks of 2 × 2 along the diagonal.""")
wrong("blocks not assembled", {"torch.block_diag(*blocks)": "blocks"}).says("""
    You returned the 2 × 2 blocks, (D/2, 2, 2). Put them along the diagonal of one matrix (D, D), with zeros
    elsewhere: torch.block_diag(*blocks).""")
wrong("the 2 counted twice", {"(pairs / dim)": "(2 * pairs / dim)"}).says("""
    Your angles have the exponent 4i / D: you doubled numbers that go 0, 2, 4, … already, or divided by D/2. It must
    be 2i / D, exactly as in sinusoidal_positions, or the rotation does not fit them.""")
wrong("no parentheses round the exponent", {"(pairs / dim)": "pairs / dim"}).says("""
    You wrote offset / 10000 ** 2i / D without parentheses, which reads (offset / 10000^(2i)) / D. The whole fraction
    2i / D is the exponent: 10000 ** (… / dim).""")
wrong("pairs overlap", OVERLAPPING).says("""
    You wrote the block of pair i at rows i and i + 1, so neighbouring blocks overwrite each other. Pair i begins at
    2i: rows and columns 2i and 2i + 1.""")
wrong("the 2 forgotten", {"(pairs / dim)": "(pairs / 2 / dim)"}).says("""
    Your angles have the exponent i / D. It must be 2i / D, exactly as in sinusoidal_positions.""")
wrong("later pairs turn faster", {"offset / 10000": "offset * 10000"}).says("""
    You multiplied by 10000^(2i/D). Later pairs turn slower: divide, as in sinusoidal_positions.""")
wrong("rows pushed on", "return torch.eye(dim, dtype=torch.float64).roll(int(offset), 0)").says("""
    You shifted rows (or columns) of the identity: that moves *features* about. What moves a position on is turning
    each pair of features by its angle.""")
wrong("rows pushed back", "return torch.eye(dim, dtype=torch.float64).roll(int(offset), 1)").says("""
    You shifted rows (or columns) of the identity: that moves *features* about, and no feature may take another's
    place. Turn each pair of features by its angle instead.""")
wrong("diagonal only", {"[cosine, -sine, sine, cosine]": "[cosine, 0 * sine, 0 * sine, cosine]"}).says("""
    You filled the diagonal alone. A turn mixes the two features of a pair: the sines stand beside the diagonal.""")
wrong("right for place 0 only", {"[cosine, -sine, sine, cosine]": "[0 * sine, 0 * sine, sine, cosine]"}).says("""
    You made a matrix out of two positions, and it is right for place 0 alone. One matrix must do for *every* place:
    build it from the angles, not from a place.""")
wrong(
    "difference, not position",
    {"torch.block_diag(*blocks)": "torch.block_diag(*blocks) - torch.eye(dim, dtype=torch.float64)"},
).says("""
    Your matrix gives what must be *added* to a position (M − identity). Wanted is the matrix that gives the new
    position itself.""")
wrong(
    "rows of positions",
    "places = offset + torch.arange(dim, dtype=torch.float64)[:, None]\n"
    "turned = places / 10000 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)\n"
    "return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)",
).says("""
    You returned sinusoids of places, not a matrix that moves places. Build one block [[cos b, −sin b], [sin b, cos
    b]] for each pair.""")
