"""Lab 3, second part: the concat score."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..families.additive_scores import BENT_OR_SUMMED_WRONGLY


def concat_score(query, key, W, v):
    queries, keys = query.shape[1], key.shape[1]
    left = query[:, :, None].expand(-1, -1, keys, -1)  # (B, Tq, Tk, Dq)
    right = key[:, None].expand(-1, queries, -1, -1)  # (B, Tq, Tk, Dk)
    pairs = torch.cat([left, right], dim=-1)  # (B, Tq, Tk, Dq + Dk)
    return (pairs @ W.mT).tanh() @ v  # (B, Tq, Tk)


def _pairs_and_layer(draw):
    batch, queries, keys, query_dim, key_dim, hidden = draw.sizes(6)
    if draw.compact:
        for places in (1, 2):
            yield draw.normal(1, places, 1), draw.normal(1, 2, 2), draw.normal(2, 3), draw.normal(2)
            yield draw.normal(1, places, 2), draw.normal(1, 2, 2), draw.normal(4, 4), draw.normal(4)
    yield (
        draw.normal(batch, queries, query_dim),
        draw.normal(batch, keys, key_dim),
        draw.normal(hidden, query_dim + key_dim),
        draw.normal(hidden),
    )
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(6, 6), draw.normal(6)
    yield draw.normal(1, 2, 3), draw.normal(1, 4, 2), draw.normal(4, 5), draw.normal(4)
    yield draw.normal(2, 1, 3), draw.normal(2, 4, 2), draw.normal(4, 5), draw.normal(4)


CONCAT_SCORE = Exercise(
    concat_score,
    cases=_pairs_and_layer,
    tolerance=1e-9,
    properties=[
        Property(
            "bounded by v",
            "tanh lies between −1 and 1, so no score is larger than the sum of |v|.",
            lambda result, query, key, W, v: (result.abs() <= v.abs().sum() + 1e-9).all(),
        )
    ],
)

wrong = CONCAT_SCORE.mistakes
wrong("key in front", {"[left, right]": "[right, left]"}).says("""
    You laid the key in front of the query. The first Dq columns of W belong to the query.""")
wrong("tanh forgotten", {"(pairs @ W.mT).tanh()": "(pairs @ W.mT)"}).says("""
    There is no tanh in your score. Without it the query adds the same number to every key, which cancels in the
    softmax: the query would have no say.""")
wrong("tanh after v", {"(pairs @ W.mT).tanh() @ v": "(pairs @ W.mT @ v).tanh()"}).says("""
    You took the tanh of the finished score. It belongs between W and v.""")
wrong("W not transposed", {"pairs @ W.mT": "pairs @ W"}).says("""
    You wrote `pairs @ W`. W is (A, Dq + Dk): for row vectors that is `pairs @ W.T`.""")
wrong += BENT_OR_SUMMED_WRONGLY
wrong(
    "W cut in the middle",
    "half = W.shape[1] // 2\n"
    "return ((query @ W[:, :half].mT)[:, :, None] + (key @ W[:, half:].mT)[:, None]).tanh() @ v",
).says("""
    You cut W in two halves. Query and key may have different numbers of features: the first Dq columns belong to the
    query, Dq = query.shape[-1], the rest to the key.""")
wrong(
    "W cut with chunk",
    "left, right = W.chunk(2, dim=1)\nreturn ((query @ left.mT)[:, :, None] + (key @ right.mT)[:, None]).tanh() @ v",
).says("""
    You cut W with chunk, into two parts as equal as can be. The cut comes after the first Dq columns, Dq =
    query.shape[-1]: query and key may have different numbers of features.""")
wrong("v forgotten", {" @ v": ".sum(-1)"}).says("""
    You summed the hidden features instead of weighting them with v.""")
wrong(
    "paired off, not all pairs",
    "pairs = torch.cat([query, key], dim=-1)\n"
    "return ((pairs @ W.mT).tanh() @ v)[:, :, None].expand(-1, -1, key.shape[1])",
).says("""
    You joined query i with key i only. Every query meets every key: expand both to (B, Tq, Tk, ·) first.""")
wrong(
    "tanh of each part",
    "q = (query @ W[:, : query.shape[-1]].mT).tanh() @ v\n"
    "k = (key @ W[:, query.shape[-1] :].mT).tanh() @ v\nreturn q[:, :, None] + k[:, None]",
).says("""
    You took the tanh of the query's part and of the key's part and added afterwards. Then the query adds one number
    to all keys and cancels in the softmax. Add first, then tanh.""")
wrong("result transposed", {"return (pairs @ W.mT).tanh() @ v": "return ((pairs @ W.mT).tanh() @ v).mT"}).says("""
    Your result is (B, Tk, Tq). A row belongs to a query, a column to a key.""")
wrong(
    "weights, not scores", {"return (pairs @ W.mT).tanh() @ v": "return ((pairs @ W.mT).tanh() @ v).softmax(-1)"}
).says("""
    You applied the softmax already. Scores come first; weights come afterwards, with the mask.""")
