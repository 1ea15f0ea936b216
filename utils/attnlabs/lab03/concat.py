"""Lab 3, second part: the concat score."""

import torch

from misread.exercise import About, Exercise

from ..families.additive_scores import BENT_OR_SUMMED_WRONGLY, TANH_OF_EACH_PART


def concat_score(query, key, W, v):
    """v . tanh(W [q; k]) for all pairs: (B, Tq, Dq), (B, Tk, Dk), (A, Dq + Dk), (A,) -> (B, Tq, Tk)."""
    queries, keys = query.shape[1], key.shape[1]
    left = query[:, :, None].expand(-1, -1, keys, -1)  # (B, Tq, Tk, Dq)
    right = key[:, None].expand(-1, queries, -1, -1)  # (B, Tq, Tk, Dk)
    pairs = torch.cat([left, right], dim=-1) @ W.mT  # (B, Tq, Tk, Dq + Dk) -> (B, Tq, Tk, A)
    return pairs.tanh() @ v  # (B, Tq, Tk)


def _pairs_and_layer(draw):
    batch, queries, keys, query_dim, key_dim, hidden = draw.sizes(6)
    if draw.compact:
        for places in (1, 2):
            yield draw.normal(1, places, 1), draw.normal(1, 2, 2), draw.normal(2, 3), draw.normal(2)
            yield draw.normal(1, places, 2), draw.normal(1, 2, 2), draw.normal(4, 4), draw.normal(4)
    query, key = draw.normal(batch, queries, query_dim), draw.normal(batch, keys, key_dim)
    yield query, key, draw.normal(hidden, query_dim + key_dim), draw.normal(hidden)
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(6, 6), draw.normal(6)
    yield draw.normal(1, 2, 3), draw.normal(1, 4, 2), draw.normal(4, 5), draw.normal(4)
    yield draw.normal(2, 1, 3), draw.normal(2, 4, 2), draw.normal(4, 5), draw.normal(4)
    yield draw.normal(1, 3, 2), draw.normal(1, 2, 3), draw.normal(4, 5), draw.normal(4)  # half of 5 is 2, as it should


CONCAT_SCORE = Exercise(
    concat_score,
    cases=_pairs_and_layer,
    about=About(points=2, minutes=18, difficulty=2, read_again="Six ways to compare a query with a key"),
)

must = CONCAT_SCORE.properties
must("bounded by v", lambda result, query, key, W, v: (result.abs() <= v.abs().sum() + 1e-9).all()).says("""
    The values of tanh lie between −1 and 1, so no score can be larger than the sum of |v|.""")

wrong = CONCAT_SCORE.mistakes
TILED = "query.repeat(1, keys, 1).view(len(query), queries, keys, -1)"
wrong("queries tiled", {"query[:, :, None].expand(-1, -1, keys, -1)": TILED}).says("""
    You repeated the whole list of queries, q₀ q₁ …, q₀ q₁ …, and then cut it into (Tq, Tk), so a row holds several
    queries. Row i must hold query i only: insert an axis and expand it, or use `repeat_interleave`.""")
ONE_BY_ONE = "key.repeat_interleave(queries, 1).view(len(key), queries, keys, -1)"
wrong("keys repeated one by one", {"key[:, None].expand(-1, queries, -1, -1)": ONE_BY_ONE}).says("""
    You repeated each key by itself, k₀ k₀ …, k₁ k₁ …, and then cut the list into (Tq, Tk), so column j holds several
    keys. Column j must hold key j only: insert an axis and expand it, or repeat the whole list of keys.""")
wrong("key before query", {"[left, right]": "[right, left]"}).says("""
    You put the key in front of the query, or gave it the first columns of W. In [q; k] the query comes first, so the
    first Dq columns of W belong to the query.""")
wrong += BENT_OR_SUMMED_WRONGLY
wrong(
    "tanh of each part",
    "q, k = query @ W[:, : query.shape[-1]].mT, key @ W[:, query.shape[-1] :].mT\n"
    "return (q.tanh() @ v)[:, :, None] + (k.tanh() @ v)[:, None]",
).says(TANH_OF_EACH_PART)
wrong("W not transposed", {"W.mT": "W"}).says("""
    You wrote `pairs @ W`. W has the shape (A, Dq + Dk), and for row vectors the product is `pairs @ W.T`.""")
wrong(
    "W cut in the middle",
    "half = W.shape[1] // 2\n"
    "return ((query @ W[:, :half].mT)[:, :, None] + (key @ W[:, half:].mT)[:, None]).tanh() @ v",
).says("""
    You cut W into two halves. Query and key may have different numbers of features: the first `Dq = query.shape[-1]`
    columns belong to the query, and the others to the key.""")
wrong(
    "W cut after Dk columns",
    "Dk = key.shape[-1]\nreturn ((query @ W[:, :Dk].mT)[:, :, None] + (key @ W[:, Dk:].mT)[:, None]).tanh() @ v",
).says("""
    You cut W after as many columns as the *key* has features. The query comes first in [q; k], so cut after
    `Dq = query.shape[-1]` columns.""")
wrong(
    "paired off, not all pairs",
    "pairs = torch.cat([query, key], -1) @ W.mT\nreturn (pairs.tanh() @ v)[:, :, None].expand(-1, -1, key.shape[1])",
).says("""
    You joined query i only with key i. Every query must be joined with every key, so expand both to (B, Tq, Tk, ·)
    first.""")
