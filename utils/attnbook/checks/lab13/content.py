"""Lab 13: a neural Turing machine. First, finding a row of the memory by what stands in it."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Property


def content_weights(key, beta, memory):
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
    properties=[
        Property(
            "each row sums to one",
            "A head has one unit of attention to spread over the N rows of its memory: softmax over the last axis.",
            lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-5).all(),
        ),
        Property(
            "β = 0 spreads evenly",
            "With β = 0 nothing counts, and all rows get the same weight, 1/N. Use β as it comes.",
            lambda result, key, beta, memory: (beta > 0).any() or ((result - 1 / result.shape[1]).abs() < 1e-6).all(),
        ),
        Property(
            "only the direction counts",
            "Your rows come in the right order, but the sizes of their weights are wrong. β alone says how sharply to "
            "look. Of a row only the direction may count, however short it is: as a guard against zeros 1e-12 will do.",
            lambda result, *args: (
                torch.allclose(result, content_weights(*args), rtol=1e-5, atol=1e-5)
                or not torch.equal(result.argsort(-1), content_weights(*args).argsort(-1))
            ),
        ),
        Property(
            "the best row gets the most",
            "The row whose direction is nearest to the key's must get the largest weight.",
            lambda result, *args: (
                result.amax(-1) <= result.gather(1, content_weights(*args).argmax(-1, keepdim=True))[:, 0] + 1e-6
            ).all(),
        ),
    ],
)

_KEY, _MEMORY = "F.normalize(key, dim=-1)", "F.normalize(memory, dim=-1)"

wrong = CONTENT_WEIGHTS.mistakes
wrong(
    "no guard against zeros",
    {_KEY: "key / key.norm(dim=-1, keepdim=True)", _MEMORY: "memory / memory.norm(dim=-1, keepdim=True)"},
).says("""
    You divided by the length of a vector of zeros: 0 / 0 = NaN. A row that nobody has written yet is such a vector.
    Let its cosine be 0: keep the lengths above a tiny number (clamp_min, or F.normalize).""")
wrong("dot product in place of cosine", "return (beta * (memory @ key[:, :, None])[:, :, 0]).softmax(dim=-1)").says("""
    You took the plain dot product, so a *long* row gains. Divide by the lengths of key and row: a direction counts.""")
wrong("only the key normalised", {_MEMORY: "memory"}).says("""
    You divided by the length of the key, not by those of the rows. A long row still gains by its length.""")
wrong("only the memory normalised", {_KEY: "key"}).says("""
    You did not divide by the length of the key, so a long one works like a larger β. β alone says how sharply.""")
wrong("β after the softmax", {"(beta * cosine).softmax(dim=-1)": "beta * cosine.softmax(dim=-1)"}).says("""
    You multiplied the weights by β, so they sum to β and not to 1. It belongs before the softmax.""")
wrong("divided by β", {"beta * cosine": "cosine / beta"}).says("""
    You divided by β. It is not a temperature: a large β looks sharply, and β = 0 not at all. Multiply.""")
wrong(
    "exp of large numbers",
    "scores = beta * F.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-12)\n"
    "return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
).says("""
    You wrote exp(β · cosine) / sum. Right on paper, but for a large β exp is infinite and ∞ / ∞ = NaN. torch's
    softmax takes off the maximum first.""")
wrong("scaled as in a Transformer", {"beta * cosine": "beta * cosine / memory.shape[-1] ** 0.5"}).says("""
    You divided by √M. That tames dot products, which grow with M. Cosines do not: how sharp it gets is said by β.""")
wrong("absolute cosines", {"beta * cosine": "beta * cosine.abs()"}).says("""
    You took absolute cosines. A row that points the other way is *not* what the key asks for, and gets the least.""")
wrong("lengths over the rows", {_MEMORY: "F.normalize(memory, dim=1)"}).says("""
    You took the memory's lengths along the rows. A row's own length is taken along its features: dim=-1.""")
