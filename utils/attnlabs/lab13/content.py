"""Lab 13: a neural Turing machine. First, finding a row of the memory by what stands in it."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise


def content_weights(key, beta, memory):
    """Softmax of beta times the cosine with each row: (B, M), (B, 1), (B, N, M) -> (B, N)."""
    key = F.normalize(key, dim=-1)  # (B, M); zeros stay zeros
    memory = F.normalize(memory, dim=-1)  # (B, N, M)
    cosine = (memory @ key[:, :, None])[:, :, 0]  # (B, N)
    return (beta * cosine).softmax(dim=-1)  # (B, N)


def _keys_and_memories(draw):
    batch, rows, width = draw.sizes(3)
    for B, N, M in ((batch, rows, width), (3, 3, 3), (1, rows + 1, width), (batch, 1, width)):
        memory = draw.normal(B, N, M) * draw.uniform(B, N, 1, low=0.2, high=4.0)
        memory[0, -1] = 0.0  # a row that nobody has written yet
        yield 2 * draw.normal(B, M), draw.uniform(B, 1, low=0.3, high=4.0), memory
    key = draw.normal(3, 4)
    key[1] = 0.0
    yield key, draw.uniform(3, 1, low=0.5, high=3.0), draw.normal(3, 5, 4)
    key = draw.normal(2, 3)
    yield key, draw.uniform(2, 1, low=1.0, high=5.0), _short(draw, 2, 4, 3)  # short rows have a direction too
    yield _short(draw, 2, 3), draw.uniform(2, 1, low=1.0, high=5.0), draw.normal(2, 4, 3)
    yield key, draw.uniform(2, 1, low=1000.0, high=5000.0), draw.normal(2, 4, 3)  # exp of these is infinite
    yield key, torch.zeros(2, 1, dtype=torch.float64), draw.normal(2, 4, 3)  # β = 0: all rows alike
    yield 30 * key, draw.uniform(2, 1, low=0.5, high=20.0), 30 * draw.normal(2, 4, 3)
    yield from _zeros_among_the_features(draw)
    if draw.number == 1:
        start = torch.full((2, 6, 3), 1e-6, dtype=torch.float64)  # as the lab's machine begins
        yield key, draw.uniform(2, 1, low=5.0, high=9.0), start
        yield key, draw.uniform(2, 1, low=5.0, high=9.0), torch.zeros_like(start)
        yield draw.normal(2, 20), draw.uniform(2, 1, low=5.0, high=20.0), draw.normal(2, 60, 20)  # a long tape
        near = draw.normal(2, 1, 3) + 0.03 * draw.normal(2, 4, 3)  # rows that only a large β can tell apart
        yield near[:, 0] + 0.03 * key, draw.uniform(2, 1, low=1000.0, high=3000.0), near
        memory = draw.normal(3, 5, 4).float()
        memory[:, 1] = 0.0
        yield draw.normal(3, 4).float(), draw.uniform(3, 1, low=0.5, high=4.0).float(), memory
        memory = torch.cat([draw.normal(2, 2, 3), _short(draw, 2, 3, 3)], 1)
        yield key.float(), draw.uniform(2, 1, low=10.0, high=20.0).float(), memory.float()


def _short(draw, *shape):
    """Vectors about as long as the rows with which the lab's machine begins; 1e-12 more is nothing beside them."""
    return F.normalize(draw.normal(*shape), dim=-1) * draw.uniform(*shape[:-1], 1, low=5e-7, high=9e-7)


def _zeros_among_the_features(draw):
    """A row of zeros is told neither by one feature, nor by their sum."""
    beta, long = draw.uniform(1, 1, low=2.0, high=6.0), 0.5 * draw.integers(1, 9, 5, 1).double()
    for key, rows in (
        ([3, 0], [[1, 0], [0, 5], [0, 0], [-2, 0]]),  # the notebook's example by hand
        ([0, 1, 0], [[1, 0, 0], [0, 1, 0], [0, 3, 4], [0, 0, 0]]),
        ([2, -2, 0], [[1, -1, 0], [1, 1, 0], [0, 0, 0], [0, 3, -3], [-1, 2, -1]]),
    ):
        key, rows = (torch.tensor(numbers, dtype=torch.float64) for numbers in (key, rows))
        yield key[None], beta, (rows * long[: len(rows)])[None]


def _away_from_zero(gradients, key, beta, memory):
    """At a vector of zeros a cosine has no slope: what each guard gives there is as right as another's."""
    lengths = torch.cat([memory.norm(dim=-1), key.norm(dim=-1, keepdim=True)], 1)
    short = ((lengths > 0) & (lengths < 1e-3)).any()  # slopes of a million, and a guard of 1e-12 shows in them
    if short or key.dtype == torch.float32:  # too few digits to compare; NaN is seen even so
        return [None, None, None]
    none = [(vectors == 0).all(-1, keepdim=True) for vectors in (key, memory)]
    return [gradients[0].masked_fill(none[0], 0.0), gradients[1], gradients[2].masked_fill(none[1], 0.0)]


CONTENT_WEIGHTS = Exercise(
    content_weights,
    cases=_keys_and_memories,
    canonical_gradients=_away_from_zero,
    tolerance=1e-5,
    about=About(points=3, minutes=16, difficulty=3, read_again="Step 1: content"),
)

must = CONTENT_WEIGHTS.properties
must("each row sums to one", lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-5).all()).says("""
    The weights of a head are a softmax over the N rows of its memory, which are the last axis, so they must sum to 1
    there.""")
must(
    "β = 0 spreads evenly",
    lambda result, key, beta, memory: (beta > 0).any() or ((result - 1 / result.shape[1]).abs() < 1e-6).all(),
).says("""
    With β = 0 all scores are 0, so every row must get the same weight, 1/N. Use β as it comes.""")
must(
    "an empty row has the cosine 0",
    lambda result, *args: (result > 0)[(args[2] == 0).all(-1) & (content_weights(*args) > 1e-4)].all(),
).says("""
    A row of zeros gets no weight at all in your result. Its cosine with any key is 0, and 0 is a score like others: it
    is more than that of a row which points away from the key. No row of the memory is closed.""")
must(
    "only the direction counts",
    lambda result, *args: (
        torch.allclose(result, content_weights(*args), rtol=1e-5, atol=1e-5)
        or not torch.equal(result.argsort(-1), content_weights(*args).argsort(-1))
    ),
).says("""
    The order of your weights is right, but their sizes are not. The score may depend only on the *direction* of the key
    and of the row, however short the row is, and on β. (If you add a small number so that nothing is divided by zero,
    it must be far smaller than the shortest row: 1e-12 is small enough.)""")
must(
    "the best row gets the most",
    lambda result, *args: (
        result.amax(-1) <= result.gather(1, content_weights(*args).argmax(-1, keepdim=True))[:, 0] + 1e-6
    ).all(),
).says("""
    The row whose direction is nearest to that of the key must get the largest weight.""")

_KEY, _MEMORY = "F.normalize(key, dim=-1)", "F.normalize(memory, dim=-1)"

wrong = CONTENT_WEIGHTS.mistakes
wrong(
    "no guard against zeros",
    {_KEY: "key / key.norm(dim=-1, keepdim=True)", _MEMORY: "memory / memory.norm(dim=-1, keepdim=True)"},
).says("""
    You divided a vector of zeros by its length, and 0 / 0 is NaN. A row to which nothing has been written is such a
    vector, and its cosine should be 0. Keep the length above a tiny number with `clamp_min`, or use `F.normalize`,
    which does so.""")
wrong("dot product in place of cosine", "return (beta * (memory @ key[:, :, None])[:, :, 0]).softmax(dim=-1)").says("""
    You used the plain dot product, so that a long row gets a higher score than a short row with the same direction.
    The cosine divides the dot product by the lengths of the key and of the row.""")
wrong("only the key normalised", {_MEMORY: "memory"}).says("""
    You divided by the length of the key, but not by the lengths of the rows. A long row still gets a higher score
    than a short row with the same direction.""")
wrong("only the memory normalised", {_KEY: "key"}).says("""
    You did not divide by the length of the key, so that a long key has the same effect as a larger β. Only β should
    decide how sharp the weights are.""")
wrong("β after the softmax", {"(beta * cosine).softmax(dim=-1)": "beta * cosine.softmax(dim=-1)"}).says("""
    You multiplied the weights by β after the softmax, so that each row sums to β and not to 1. Multiply the cosines by
    β before the softmax.""")
wrong(
    "exp of large numbers",
    "scores = beta * F.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-12)\n"
    "return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
).says("""
    You computed exp(β · cosine) / sum, which is correct on paper. For a large β, however, exp is infinite, and ∞ / ∞
    is NaN. The softmax of torch subtracts the largest score first, so that nothing overflows.""")
wrong("β left out", {"beta * cosine": "cosine"}).says("""
    You did not use β, so that the weights can never be sharp: a cosine lies between −1 and 1. Multiply the cosines by
    β before the softmax.""")
wrong("β before the normalisation", {_KEY: "F.normalize(beta * key, dim=-1)", "beta * cosine": "cosine"}).says("""
    You multiplied the key by β before it was normalised, which takes β away again. β multiplies the cosine, after
    the normalisation.""")
wrong(
    "length without its square root",
    {
        _KEY: "key / key.square().sum(-1, keepdim=True).clamp_min(1e-24)",
        _MEMORY: "memory / memory.square().sum(-1, keepdim=True).clamp_min(1e-24)",
    },
).says("""
    You divided by the *squares* of the lengths, so that a long row gets a lower score than a short row with the same
    direction. The length of a vector is the square root of the sum of its squares.""")
wrong("absolute cosines", {"beta * cosine": "beta * cosine.abs()"}).says("""
    You used absolute values of the cosines. A row that points in the opposite direction of the key is the least
    similar one, so it must get the smallest weight.""")
wrong(
    "key without an axis for the rows",
    "return (beta * F.cosine_similarity(memory, key, dim=-1, eps=1e-12)).softmax(dim=-1)",
).says("""
    You compared the key (B, M) with the memory (B, N, M) as it is. PyTorch aligns shapes from the right, so the key of
    sequence n meets row n of every memory, or the shapes do not fit. Give the key an axis for the rows,
    key[:, None].""")
wrong("cosines squeezed", {"(memory @ key[:, :, None])[:, :, 0]": "(memory @ key[:, :, None]).squeeze()"}).says("""
    You squeezed the cosines (B, N, 1), which removes every axis of size 1. In a memory of one row this is the axis of
    the rows, too, and then PyTorch multiplies each β by the cosine of every sequence. Remove the last axis only, with
    `[:, :, 0]` or `squeeze(-1)`.""")
wrong("β without its last axis", {"beta * cosine": "beta[:, 0] * cosine"}).says("""
    You multiplied the cosines (B, N) by a β of shape (B,). PyTorch aligns shapes from the right, so β runs along the
    rows of the memory. Keep β in its shape (B, 1), so that each sequence has one β for all its rows.""")
