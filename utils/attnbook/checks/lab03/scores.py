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
wrong("queries and keys swapped", "return key @ query.mT").says("""
    Your result is (B, Tk, Tq). A row belongs to a query, a column to a key: (B, Tq, Tk).""")
wrong("key not transposed", {"key.mT": "key"}).says("""
    You multiplied query and key as they are. The features must meet, not features and places: turn the last two axes
    of key, (B, D, Tk).""")
wrong("turned with reshape", {"key.mT": "key.reshape(len(key), key.shape[2], -1)"}).says("""
    You made (B, D, Tk) out of key with view or reshape. That moves no numbers, it only cuts them anew. Use
    transpose(1, 2) or .mT.""")
wrong("paired off, not all pairs", "return (query * key).sum(-1)").says("""
    You multiplied query i with key i only. Every query meets every key: that is a table (B, Tq, Tk).""")
wrong("scaled already", {"key.mT": "key.mT / key.shape[-1] ** 0.5"}).says("""
    You divided by √D. That is the *scaled* dot score, and comes later in this lab; here the plain product is asked
    for.""")
wrong("mean, not sum", {"key.mT": "key.mT / key.shape[-1]"}).says("""
    You took the mean of the products, feature by feature. A dot product is their sum: nothing is divided by D.""")
wrong(
    "cosine",
    {"query @ key.mT": "torch.nn.functional.normalize(query, dim=-1) @ torch.nn.functional.normalize(key, dim=-1).mT"},
).says("""
    You divided by the lengths of query and key. That is the cosine score, which comes two exercises later; in a dot
    product the lengths count.""")
wrong(".T turns the batch too", {"key.mT": "key.permute(2, 1, 0)"}).says("""
    You wrote `key.T`. With three axes `.T` turns all of them round, (D, Tk, B), the batch too. `.mT` turns the last
    two only: (B, D, Tk).""")
wrong("weights, not scores", {"query @ key.mT": "(query @ key.mT).softmax(-1)"}).says("""
    You applied the softmax already. A score is any real number; weights come afterwards.""")
wrong("batch mixed", {"key.mT": "key[0].mT"}).says("""
    You scored the queries of all sentences against the keys of sentence 0. Sentences never look into each other.""")
wrong("absolute value", {"query @ key.mT": "(query @ key.mT).abs()"}).says("""
    You took the absolute value. A negative score means *not this one*, and that is worth knowing.""")


def general_score(query, key, W):
    return query @ W @ key.mT  # (B, Tq, Dq) @ (Dq, Dk) @ (B, Dk, Tk) -> (B, Tq, Tk)


def _pairs_and_table(draw):
    batch, queries, keys, query_dim, key_dim = draw.sizes(5)
    if draw.compact:
        yield draw.normal(1, 2, 2), draw.normal(1, 2, 2), draw.normal(2, 2)
    yield (draw.normal(batch, queries, query_dim), draw.normal(batch, keys, key_dim), draw.normal(query_dim, key_dim))
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
wrong("result transposed", {"query @ W @ key.mT": "(query @ W @ key.mT).mT"}).says("""
    Your result is (B, Tk, Tq). A row belongs to a query, a column to a key.""")
wrong("key not transposed", {"key.mT": "key"}).says("""
    You multiplied with the keys as they are. The features must meet: turn the last two axes of key.""")
wrong(".T turns the batch too", {"key.mT": "key.permute(2, 1, 0)"}).says("""
    You wrote `key.T`. With three axes `.T` turns all of them round, (Dk, Tk, B), the batch too. `.mT` turns the last
    two only: (B, Dk, Tk).""")
wrong("only the diagonal of W", "d = min(W.shape)\nreturn (query[..., :d] * W.diagonal()) @ key[..., :d].mT").says("""
    You used the diagonal of W alone, so feature i of the query only meets feature i of the key. All of W counts.""")
wrong(
    "W on both sides",
    "return (query @ W) @ (key @ W.mT @ W).mT if W.shape[0] == W.shape[1] else query @ W @ W.mT @ W @ key.mT",
).says("""
    You sent both query and key through W. One table between them is enough: qᵀ W k.""")
wrong("with a tanh", {"query @ W @ key.mT": "(query @ W).tanh() @ key.mT"}).says("""
    You bent the product with a tanh. That is the additive score's habit; the general score is linear in the query and
    in the key.""")
wrong("scaled", {"key.mT": "key.mT / key.shape[-1] ** 0.5"}).says("""
    You divided by √D. The general score has no such factor: W can learn it.""")
