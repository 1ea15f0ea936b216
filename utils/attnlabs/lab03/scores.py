"""Lab 3: scores, queries, keys, values. A zoo behind one interface."""

import torch

from misread.exercise import About, Exercise


def pairs(draw):
    batch, queries, keys, dim = draw.sizes(4)
    if draw.compact:
        yield draw.normal(1, 2, 2), draw.normal(1, 2, 2)
    yield draw.normal(batch, queries, dim), draw.normal(batch, keys, dim)
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3)  # square: mix-ups of axes give values here, no error
    yield draw.normal(1, 2, 3), draw.normal(1, 4, 3)  # an axis of length 1 stays an axis
    yield draw.normal(2, 1, 3), draw.normal(2, 4, 3)


def dot_score(query, key):
    """All dot products: query (B, Tq, D), key (B, Tk, D) -> (B, Tq, Tk)."""
    return query @ key.mT  # (B, Tq, D) @ (B, D, Tk) -> (B, Tq, Tk)


DOT_SCORE = Exercise(
    dot_score,
    cases=pairs,
    about=About(points=1, minutes=7, difficulty=1, read_again="Six ways to compare a query with a key"),
)

must = DOT_SCORE.properties
must(
    "each score is a dot product",
    lambda result, query, key: torch.allclose(result[:, -1], (key * query[:, -1:]).sum(-1)),
).says("""
    The scores of the last query must be its dot products with the keys, and nothing else.""")

wrong = DOT_SCORE.mistakes
wrong("turned with reshape", {"key.mT": "key.reshape(len(key), key.shape[2], -1)"}).says("""
    You made (B, D, Tk) out of the keys with `view` or `reshape`, which keeps the order of the numbers and only
    divides them into rows anew. Use `key.transpose(1, 2)` or `key.mT`, which exchange the axes.""")
wrong("paired off, not all pairs", "return (query * key).sum(-1)").says("""
    You multiplied query i only with key i. Every query must be compared with every key, which gives a matrix (Tq, Tk)
    for each sentence.""")
wrong("scaled already", {"key.mT": "key.mT / key.shape[-1] ** 0.5"}).says("""
    You divided by √D, which is the *scaled* dot product of Exercise 6. Here the plain dot product is wanted.""")


def general_score(query, key, W):
    """qᵀ W k for all pairs: (B, Tq, Dq), (B, Tk, Dk), (Dq, Dk) -> (B, Tq, Tk)."""
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
    about=About(points=1, minutes=10, difficulty=2, read_again="Six ways to compare a query with a key"),
)

must = GENERAL_SCORE.properties
must(
    "qᵀ W k for each pair",
    lambda result, query, key, W: torch.allclose(result[:, -1, -1], ((query[:, -1] @ W) * key[:, -1]).sum(-1)),
).says("""
    The score of a pair must be qᵀ W k, where row i of W belongs to feature i of the query, and column j to feature j of
    the key.""")

wrong = GENERAL_SCORE.mistakes
wrong("keys reshaped, not transposed", {"key.mT": "key.reshape(len(key), key.shape[2], key.shape[1])"}).says("""
    You brought the keys into the shape (B, Dk, Tk) with `reshape` or `view`, which keeps the order of the numbers, so
    features of several keys are mixed. Exchange the two axes: `key.mT`.""")
FEWER = "n = min(W.shape)\nreturn query[..., :n] @ {} @ key[..., :n].mT"
wrong("features left over are dropped", FEWER.format("W[:n, :n]")).says("""
    You cut queries, keys and W to the same number of features, so the others have no influence. W exists for this case:
    it may be (Dq, Dk) with two different numbers, and every entry counts.""")
wrong("only the diagonal of W", FEWER.format("W[:n, :n].diagonal().diag()")).says("""
    You used only the diagonal of W, so feature i of the query meets only feature i of the key. In qᵀ W k every feature
    of the query meets every feature of the key.""")
wrong("table transposed", {"query @ W @ key.mT": "query @ W.mT @ key.mT"}).says("""
    You multiplied by the transpose of W. W has the shape (Dq, Dk): its rows belong to the features of the query, and
    its columns to those of the key.""")
wrong("table left out", {"query @ W @ key.mT": "query @ key.mT"}).says("""
    You did not use W. Without it, this is the dot score, which needs the same features in query and key.""")
wrong("paired off, not all pairs", "return (query @ W * key).sum(-1)").says("""
    You multiplied q W of query i only with key i. Every query must be compared with every key, which gives a matrix
    (Tq, Tk) for each sentence: `query @ W @ key.mT`.""")
wrong("with a tanh", {"query @ W @ key.mT": "(query @ W).tanh() @ key.mT"}).says("""
    You applied a tanh to the product. The general score has none: it is linear in the query and linear in the key.""")

for wrong in (DOT_SCORE.mistakes, GENERAL_SCORE.mistakes):
    wrong("key not transposed", {"key.mT": "key"}).says("""
    You multiplied by the keys as they are. A score is a sum over the features, so the features must be the last but
    one axis of the second factor: use `key.mT`, (B, D, Tk).""")
    wrong(".T turns the batch too", {"key.mT": "key.permute(2, 1, 0)"}).says("""
    You wrote `key.T`. For a tensor with three axes, `.T` reverses all of them, also the batch: (D, Tk, B). `key.mT`
    exchanges only the last two: (B, D, Tk).""")
