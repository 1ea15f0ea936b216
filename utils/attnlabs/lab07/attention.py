"""Lab 7: self-attention. The layer itself."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import closed_get_nothing, rows_sum_to_one
from ..families.dot_product_attention import SCALED_OR_MASKED_WRONGLY


def self_attention(x, W_q, W_k, W_v, mask=None):
    """x (B, T, D), W_q and W_k (D, A), W_v (D, Dv), mask that broadcasts to (B, T, T) ->
    context (B, T, Dv), weights (B, T, T)."""
    q, k, v = x @ W_q, x @ W_k, x @ W_v  # (B, T, A), (B, T, A), (B, T, Dv)
    scores = q @ k.mT / q.shape[-1] ** 0.5  # (B, T, T)
    closed = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask
    weights = scores.masked_fill(closed, float("-inf")).softmax(-1).masked_fill(closed, 0.0)
    return weights @ v, weights  # (B, T, Dv), (B, T, T)


def _far_apart(draw):
    """Large scores; keys are made of −W, so where a word attends to itself alone, what is closed scores far higher."""
    alone = torch.eye(4, dtype=torch.bool)
    some_closed = draw.mask(3, 4, 4) & torch.tensor([True, True, True, False])
    for steep in (900, 1e6):
        W = draw.normal(3, 5)
        for mask in (torch.ones_like(alone).tril(), alone, some_closed):
            yield draw.normal(3, 4, 3), steep * W, -W, draw.normal(3, 2), mask


def _quarters(draw):
    """Single precision. All scores are 0 and 1, 2, 4 words or none are seen: every weight is a round number."""
    x, *tables = (draw.integers(-4, 5, *shape).float() / 4 for shape in ((2, 4, 3), (3, 4), (3, 2)))
    seen = torch.tensor([4, 2, 1, 0])
    return x, torch.zeros(3, 4), *tables, torch.arange(4) < seen[:, None]


def _sentences(draw):
    batch, length, dim, hidden, value_dim = draw.sizes(5, low=3)
    x, mask = draw.normal(batch, length, dim), draw.mask(batch, length, length)
    tables = draw.normal(dim, hidden), draw.normal(dim, hidden), draw.normal(dim, value_dim)
    yield x, *tables, mask
    yield x, *tables, None
    yield draw.normal(2, 3, 2), draw.normal(2, 4), draw.normal(2, 4), draw.normal(2, 5), None
    yield x, *tables, torch.ones(length, length, dtype=torch.bool).tril()  # one mask for all sentences
    yield x, *tables, draw.mask(batch, 1, length)  # padding; the last sentence is nothing else
    yield x[:1], *tables, mask[-1:]  # an axis of length 1 stays an axis; its last row is closed
    square = [draw.normal(3, 3) for _ in range(3)]  # mix-ups of axes give values here, no error
    yield draw.normal(3, 3, 3), *square, draw.mask(3, 3, 3)
    yield draw.normal(3, 3, 3), *square, None
    yield x, *tables, draw.mask(length, length)  # one mask for all sentences, with a closed row
    if draw.number == 0:
        yield from _far_apart(draw)
        yield _quarters(draw)
    if draw.number == 1:
        yield x, *tables, draw.mask(1, length, length)
        yield x[:, :1], *tables, None  # one word
        yield 1000 * x, *tables, None  # large scores: no exp without a care
    if draw.compact:  # to be read: one sentence of two words
        small = draw.normal(1, 2, 3), draw.normal(3, 2), draw.normal(3, 2), draw.normal(3, 1)
        yield *small, None
        for mask in ([[True, False], [True, True]], [[True, False]], [[True, True], [False, False]]):
            yield *small, torch.tensor([mask])


SELF_ATTENTION = Exercise(
    self_attention,
    cases=_sentences,
    returns=("context", "weights"),
    about=About(points=3, minutes=20, difficulty=2, read_again="Three projections"),
)

must = SELF_ATTENTION.properties
must("closed positions get nothing", lambda result, *args: closed_get_nothing(result[1], args[-1])).says("""
    Where the mask is False the weight must be exactly 0. This requires the score −∞ before the softmax, because exp(0)
    would be 1.""")
must("each row sums to one", lambda result, *args: rows_sum_to_one(result[1], args[-1])).says("""
    The weights of a word must sum to 1 over the words that it may attend to, or to 0 if there are none. Scale and mask
    are applied *before* the softmax.""")
must(
    "context is the weighted sum of the values",
    lambda result, x, W_q, W_k, W_v, mask: torch.allclose(result[0], result[1] @ (x @ W_v)),
).says("""
    The context must be weights @ value, where the values are x @ W_v. Yours doesn't follow from your weights in this
    way.""")

wrong = SELF_ATTENTION.mistakes
wrong(
    "masked with the score 0", {'masked_fill(closed, float("-inf")).softmax': "masked_fill(closed, 0.0).softmax"}
).says("""
    You set masked scores to 0 before the softmax. exp(0) is 1, so masked positions take a share of the weight, and the
    rest sums to less than 1. Set these scores to −∞.""")
wrong += SCALED_OR_MASKED_WRONGLY
wrong("scaled by the features of x", {"q.shape[-1]": "x.shape[-1]"}).says("""
    You divided by the root of the number of features of x. The dot product sums over the features of a *query*,
    after its projection, so take the root of query.shape[-1].""")
wrong("scaled by the features of the values", {"q.shape[-1]": "v.shape[-1]"}).says("""
    You divided by the root of the number of features of a *value*. Values take no part in the scores, whose dot
    products sum over the features of a query.""")
wrong("multiplied by the root", {"q @ k.mT / q": "q @ k.mT * q"}).says("""
    You multiplied the scores by the root of the number of features of a query. This number makes dot products large, so
    *divide* by its root.""")
wrong(
    "causal without being asked",
    {"    weights = scores": "    closed = closed | torch.ones_like(scores).triu(1).bool()\n    weights = scores"},
).says("""
    You closed all later words, as a causal mask does. Here only `mask` says which words are closed, and without one
    every word may attend to every word.""")
wrong("matrices transposed", {"x @ W_q, x @ W_k, x @ W_v": "x @ W_q.mT, x @ W_k.mT, x @ W_v.mT"}).says("""
    You multiplied by the transposed matrices, x @ W.T, as nn.Linear does internally. Here the rows of a matrix
    belong to the features of x, so it is used as it is: x @ W_q.""")
wrong("weights turned", {"weights @ v, weights": "weights.mT @ v, weights"}).says("""
    You multiplied the transposed weights by the values. Row i of the weights belongs to word i and makes the
    context of word i: weights @ value.""")
wrong(
    "indexed with the mask", {"    weights = scores": '    scores[closed] = float("-inf")\n    weights = scores'}
).says("""
    You wrote scores[~mask] = …, for which the mask must have exactly the shape of the scores. The mask may be (T,
    T) or (B, 1, T), so it must *broadcast*, as it does in masked_fill.""")
