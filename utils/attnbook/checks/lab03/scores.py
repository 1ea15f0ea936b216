"""Lab 3: scores, queries, keys, values. A zoo behind one interface."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def pairs(draw):
    batch, queries, keys, dim = draw.sizes(4)
    if draw.compact:
        yield draw.normal(1, 2, 2), draw.normal(1, 2, 2)
    yield draw.normal(batch, queries, dim), draw.normal(batch, keys, dim)
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3)  # square: mix-ups of axes give values here, no error
    yield draw.normal(1, 2, 3), draw.normal(1, 4, 3)  # an axis of length 1 stays an axis
    yield draw.normal(2, 1, 3), draw.normal(2, 4, 3)


def dot_score(query, key):
    return query @ key.mT  # (B, Tq, D) @ (B, D, Tk) -> (B, Tq, Tk)


DOT_SCORE = Exercise(
    dot_score,
    cases=pairs,
    tolerance=1e-9,
    properties=[
        Property(
            "each score is a dot product",
            "The last query's scores must be its dot products with the keys, and nothing else.",
            lambda result, query, key: torch.allclose(result[:, -1], (key * query[:, -1:]).sum(-1)),
        )
    ],
)

wrong = DOT_SCORE.mistakes
wrong("turned with reshape", {"key.mT": "key.reshape(len(key), key.shape[2], -1)"}).says("""
    You made (B, D, Tk) out of key with view or reshape. That moves no numbers, it only cuts them anew. Use
    transpose(1, 2) or .mT.""")
wrong("paired off, not all pairs", "return (query * key).sum(-1)").says("""
    You multiplied query i with key i only. Every query meets every key: that is a table (B, Tq, Tk).""")
wrong("scaled already", {"key.mT": "key.mT / key.shape[-1] ** 0.5"}).says("""
    You divided by √D. That is the *scaled* dot score, and comes later in this lab; here the plain product is asked
    for.""")


def general_score(query, key, W):
    return query @ W @ key.mT  # (B, Tq, Dq) @ (Dq, Dk) @ (B, Dk, Tk) -> (B, Tq, Tk)


def _pairs_and_table(draw):
    batch, queries, keys, query_dim, key_dim = draw.sizes(5)
    if draw.compact:
        yield draw.normal(1, 2, 2), draw.normal(1, 2, 2), draw.normal(2, 2)
    yield draw.normal(batch, queries, query_dim), draw.normal(batch, keys, key_dim), draw.normal(query_dim, key_dim)
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(3, 3)
    yield draw.normal(1, 2, 3), draw.normal(1, 4, 2), draw.normal(3, 2)
    yield draw.normal(2, 1, 3), draw.normal(2, 4, 2), draw.normal(3, 2)


GENERAL_SCORE = Exercise(
    general_score,
    cases=_pairs_and_table,
    tolerance=1e-9,
    properties=[
        Property(
            "the table decides",
            "The score of a pair must be qᵀ W k: row i of W belongs to feature i of the query, column j to "
            "feature j of the key.",
            lambda result, query, key, W: torch.allclose(result[:, -1, -1], ((query[:, -1] @ W) * key[:, -1]).sum(-1)),
        )
    ],
)

wrong = GENERAL_SCORE.mistakes
wrong("table transposed", {"query @ W @ key.mT": "query @ W.mT @ key.mT"}).says("""
    You used Wᵀ. W is (Dq, Dk): its rows belong to the query, its columns to the key.""")
wrong("table left out", {"query @ W @ key.mT": "query @ key.mT"}).says("""
    You did not use W. Then it is the dot score, which needs query and key to speak the same language.""")
wrong("with a tanh", {"query @ W @ key.mT": "(query @ W).tanh() @ key.mT"}).says("""
    You bent the product with a tanh. That is the additive score's habit; the general score is linear in the query and
    in the key.""")

for wrong in (DOT_SCORE.mistakes, GENERAL_SCORE.mistakes):
    wrong("key not transposed", {"key.mT": "key"}).says("""
        You multiplied with the keys as they are. The features must meet, not features and places: turn the last two
        axes of key, (B, D, Tk).""")
    wrong(".T turns the batch too", {"key.mT": "key.permute(2, 1, 0)"}).says("""
        You wrote `key.T`. With three axes `.T` turns all of them round, (D, Tk, B), the batch too. `.mT` turns the
        last two only: (B, D, Tk).""")
