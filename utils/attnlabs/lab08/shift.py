"""Lab 8: a shift by some positions is a rotation."""

import torch

from misread.exercise import About, Exercise

from .positions import WRONG_ANGLES, in_double


def relative_shift(dim, offset):
    """The matrix M with p(t) @ M = p(t + offset) for every position t: -> (D, D)."""
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
    yield 8, draw.integer(1, 9) + 0.5  # half a position
    if draw.number == 1:
        yield 64, draw.integer(2, 6)  # many pairs, the last of them hardly turn
        yield 8, 100
        yield 8, -100


def _position(t, dim):
    pairs = torch.arange(0, dim, 2, dtype=torch.float64)
    angle = t / 10000 ** (pairs / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten()  # (D,)


def _later_are_faster(matrix, dim, offset):
    """Whether, at a small offset, the first block is right and the sine of a later one is too large."""
    sines, wanted = matrix[1::2, ::2].diagonal().abs(), _position(offset, dim)[::2].abs()
    first_is_right = torch.allclose(matrix[:2, 0], _position(offset, 2).flip(0), atol=1e-5)
    return 0 < abs(offset) < 1.5 and first_is_right and bool((sines[1:] > wanted[1:] + 1e-3).any())


def _own_angles(result, dim, offset):
    """Whether each block has its cosines on the diagonal and its sines beside it, whatever their signs."""
    wanted, pairs = _position(offset, dim).reshape(-1, 2).abs(), range(0, dim, 2)
    blocks = torch.stack([result[i : i + 2, i : i + 2].double().abs() for i in pairs])  # (D/2, 2, 2)
    sine, cosine = wanted[:, :1], wanted[:, 1:]  # (D/2, 1)
    expected = torch.stack([cosine, sine, sine, cosine], dim=1).reshape(-1, 2, 2)
    return torch.allclose(blocks, expected, atol=1e-5)


def _moves(position):
    """A property: the matrix takes this one position to where it belongs."""
    return lambda result, dim, offset: torch.allclose(
        _position(position, dim) @ result.double(), _position(position + offset, dim), atol=1e-5
    )


RELATIVE_SHIFT = Exercise(
    relative_shift,
    cases=_shifts,
    tolerance=1e-5,
    canonical=in_double,
    about=About(points=4, minutes=20, difficulty=4, read_again="A shift is a rotation"),
)

must = RELATIVE_SHIFT.properties
must(
    "later pairs turn slower", lambda result, dim, offset: not _later_are_faster(result.double(), dim, offset)
).says("""
    The first block is right, but a later one turns too far. Each pair turns *more slowly* than the one before it, so
    divide by 10000^(2i/D), or put a minus into the exponent.""")
must(
    "pairs stay apart",
    lambda result, dim, offset: not result[torch.block_diag(*[torch.ones(2, 2)] * (dim // 2)) == 0].any(),
).says("""
    Your matrix carries numbers from one pair of features to another. A shift of the position turns each pair (2i,
    2i + 1) in itself, so that all numbers outside of the blocks of 2 × 2 along the diagonal are 0.""")
must("each block has its own angle", _own_angles).says("""
    Block i must hold the cosine of offset / 10000^(2i/D) twice, on its diagonal, and its sine twice, beside the
    diagonal. Angles are in radians. In your matrix some block holds other numbers.""")
must("position 0 goes to position offset", _moves(0)).says("""
    Position 0, which is the row 0, 1, 0, 1, …, times your matrix must be the position with the number `offset`. With
    your matrix it is another row.""")
must("position 7 goes to position 7 + offset", _moves(7)).says("""
    The same matrix must move *every* position by `offset`. Position 7 times your matrix is not position 7 + offset.""")
must(
    "a rotation keeps lengths",
    lambda result, *args: torch.allclose(result @ result.T, torch.eye(len(result)).to(result), atol=1e-5),
).says("""
    A rotation changes no lengths and no angles, so that M times its transpose must be the identity. With your matrix it
    isn't.""")

wrong = RELATIVE_SHIFT.mistakes
wrong += WRONG_ANGLES
_BLOCK = "[cosine, -sine, sine, cosine]"
wrong("turned the other way", {_BLOCK: "[cosine, sine, -sine, cosine]"}).says("""
    Your matrix moves a position *back* by `offset` when it is used as p @ M, because it is the transpose of the
    one that is wanted, made for M @ p. Here positions are rows, so the minus stands in the first row of each
    block.""")
wrong("no minus", {_BLOCK: "[cosine, sine, sine, cosine]"}).says("""
    Both sines in your blocks have the same sign, so that only some positions arrive where they should. The new cosine
    is cos a cos b − sin a sin b, and its minus belongs to the sine in the first row of each block.""")
wrong("two minuses", {_BLOCK: "[cosine, -sine, -sine, cosine]"}).says("""
    Both sines in your blocks have a minus. The new sine is sin a cos b + cos a sin b, without a minus, and the first
    column of the block makes it. Only the sine in the first row has a minus.""")
wrong("always 2 × 2", {"*blocks": "blocks[0]"}).says("""
    Your matrix is a single block of 2 × 2, as in the example. There are D/2 pairs, each with a block of its own on the
    diagonal, so that the matrix is (D, D).""")
wrong("the last pair forgotten", {"*blocks": "*blocks[:-1], torch.eye(2)"}).says("""
    Your last pair of features doesn't turn. There are D/2 pairs, from 0 to D/2 − 1, and each of them turns.""")
wrong("the distance, not the offset", {"offset / 10000": "abs(offset) / 10000"}).says("""
    You turned by the absolute value of `offset`. Its sign says in which direction a position moves: a negative offset
    turns each pair back.""")
_HALVES = "torch.diag_embed(blocks.permute(1, 2, 0)).transpose(1, 2).reshape(dim, dim)"
wrong("halves, not neighbours", {"torch.block_diag(*blocks)": _HALVES}).says("""
    Your matrix turns feature i together with feature i + D/2. In our positions sine and cosine of an angle are
    *neighbours*, 2i and 2i + 1, so the blocks of 2 × 2 stand along the diagonal.""")
