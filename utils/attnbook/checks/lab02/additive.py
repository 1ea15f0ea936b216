"""Lab 2, second part: the additive score, and the weighted sum of the values."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..families.additive_scores import BENT_OR_SUMMED_WRONGLY, TANH_OF_EACH_PART


def additive_score(query, key, W_q, W_k, v):
    pairs = (query @ W_q.mT)[:, :, None] + (key @ W_k.mT)[:, None]  # (B, Tq, 1, A) + (B, 1, Tk, A)
    return pairs.tanh() @ v  # (B, Tq, Tk)


def _query_and_keys(draw):
    batch, queries, keys, query_dim, key_dim, hidden = draw.sizes(6)
    if draw.compact:  # two queries, two keys, and one query
        for places in (1, 2):
            vectors = draw.normal(1, places, 2), draw.normal(1, 2, 2)
            yield *vectors, draw.normal(2, 2), draw.normal(2, 2), draw.normal(2)
    sizes = [(batch, queries, keys, query_dim, key_dim, hidden), (3, 3, 3, 3, 3, 3)]
    if draw.number == 1:  # one sentence, one query
        sizes.append((1, 1, keys + 9, query_dim, key_dim, hidden))
    for b, q, k, dim, other, a in sizes:
        yield (
            draw.normal(b, q, dim),
            draw.normal(b, k, other),
            draw.normal(a, dim),
            draw.normal(a, other),
            draw.normal(a),
        )


ADDITIVE_SCORE = Exercise(
    additive_score,
    cases=_query_and_keys,
    tolerance=1e-9,
    properties=[
        Property(
            "bounded by v",
            "tanh lies between −1 and 1, so no score is larger than the sum of |v|.",
            lambda result, query, key, W_q, W_k, v: (result.abs() <= v.abs().sum() + 1e-9).all(),
        ),
        Property(
            "v · tanh(sum) for each pair",
            "The score of query i and key j must be v · tanh(W_q q_i + W_k k_j): one tanh around the sum, then the "
            "dot product with v.",
            lambda result, query, key, W_q, W_k, v: torch.allclose(
                result[:, -1:, -1:], additive_score(query[:, -1:], key[:, -1:], W_q, W_k, v)
            ),
        ),
    ],
)

wrong = ADDITIVE_SCORE.mistakes
wrong += BENT_OR_SUMMED_WRONGLY
EACH_PART = {"W_q.mT)": "W_q.mT).tanh()", "W_k.mT)": "W_k.mT).tanh()", "pairs.tanh()": "pairs"}
wrong("tanh of each part", EACH_PART).says(TANH_OF_EACH_PART)
wrong("an axis of one lost", {"pairs.tanh() @ v": "(pairs.tanh() @ v).squeeze()"}).says("""
    You squeezed the scores, which takes away every axis of size 1: a batch of one, a single query. They stay (B, Tq,
    Tk); name the axis you mean, or use @ v.""")
wrong("W not transposed", {"W_q.mT": "W_q", "W_k.mT": "W_k"}).says("""
    You wrote `query @ W_q`. W_q is (A, Dq): it takes a query with Dq features to A. For row vectors that is `query @
    W_q.T`.""")
wrong(
    "paired off, not all pairs",
    "pairs = query @ W_q.mT + key @ W_k.mT\nreturn (pairs.tanh() @ v)[:, :, None].expand(-1, -1, key.shape[1])",
).says("""
    You added query i and key i, place by place. Each query must meet *every* key: give the queries a key axis and the
    keys a query axis (None), and let them broadcast.""")


def weight_sum(weights, value):
    return weights @ value  # (B, Tq, Dv)


def _weights_and_values(draw):
    batch, queries, keys, dim = draw.sizes(4)
    yield draw.normal(batch, queries, keys).softmax(-1), draw.normal(batch, keys, dim)
    yield draw.normal(2, 3, 3).softmax(-1), draw.normal(2, 3, 3)
    yield (3 * draw.normal(2, 3, 3)).softmax(-1) * torch.tensor([[1.0], [1.0], [0.0]]), draw.normal(2, 3, 3)
    if draw.number == 1:  # one sentence, one query
        yield draw.normal(1, 1, keys + 9).softmax(-1), draw.normal(1, keys + 9, dim)


WEIGHT_SUM = Exercise(
    weight_sum,
    cases=_weights_and_values,
    tolerance=1e-9,
    properties=[
        Property(
            "within the values",
            "A weighted sum with weights that sum to 1 lies between the smallest and the largest value.",
            lambda result, weights, value: (result.abs() <= value.abs().amax(1, keepdim=True) + 1e-9).all(),
        )
    ],
)

wrong = WEIGHT_SUM.mistakes
wrong("weights transposed", {"weights @": "weights.mT @"}).says("""
    You summed over the queries. Each query sums over its own row of weights, so the keys must meet: (B, Tq, Tk) @ (B,
    Tk, Dv).""")
wrong("place by place", "return weights * value").says("""
    You multiplied weights and values place by place. Each output is a *sum* over all keys: a matrix product.""")
wrong("mean of the values", "return value.mean(1, keepdim=True).expand(-1, weights.shape[1], -1)").says("""
    You averaged the values and let the weights out. Then every query gets the same: the fixed vector again.""")
wrong("only the best", "best = weights.argmax(-1)\nreturn torch.stack([v[b] for v, b in zip(value, best)])").says("""
    You took the value with the largest weight alone. That is hard attention; no gradient reaches the weights. Take
    all of them, weighted.""")
wrong("softmax once more", {"weights @": "weights.softmax(-1) @"}).says("""
    You took a softmax of the weights. They are normalised already; a second softmax makes them nearly equal.""")
