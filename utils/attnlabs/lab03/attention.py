"""Lab 3, third part: attention with a scale and a mask."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import closed_get_nothing, rows_sum_to_one
from ..families.masked_weights import CLOSED_WRONGLY


def scaled_dot_attention(query, key, value, mask=None):
    """(B, Tq, D), (B, Tk, D), (B, Tk, Dv), mask that broadcasts to (B, Tq, Tk) ->
    context (B, Tq, Dv), weights (B, Tq, Tk)."""
    scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, Tq, Tk)
    closed = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask
    weights = scores.masked_fill(closed, -torch.inf).softmax(-1).masked_fill(closed, 0.0)
    return weights @ value, weights  # (B, Tq, Dv), (B, Tq, Tk)


def _attention_inputs(draw):
    batch, queries, keys, dim, value_dim = draw.sizes(5)
    query, key = draw.normal(batch, queries, dim), draw.normal(batch, keys, dim)
    value = draw.normal(batch, keys, value_dim)
    yield query, key, value, draw.mask(batch, queries, keys)
    yield query, key, value, None
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.mask(3, 3, 3)
    yield from _masks_that_broadcast(draw, query, key, value)
    query, key = query.clone(), key.clone()
    key[..., 0], query[..., 0] = 1.0, -20_000 * dim**0.5
    query[:, 0, 0] *= -1  # scores of one row near 20000, of the others near -20000: below any -1e4
    yield query, key, value, None
    yield query, key, value, draw.mask(batch, queries, keys)
    yield _a_closed_score_far_above(draw)


def _a_closed_score_far_above(draw):
    query, key, value = draw.normal(2, 2, 4), draw.normal(2, 3, 4), draw.normal(2, 3, 2)
    query[..., 0], key[..., 0], key[:, 0, 0] = 2000.0, 0.0, 1.0  # key 0 is 1000 above the others, and closed
    return query, key, value, (torch.arange(3) > 0).expand(2, 2, 3)


def _masks_that_broadcast(draw, query, key, value):
    batch, queries, keys = len(query), query.shape[1], key.shape[1]
    yield query, key, value, draw.mask(batch, 1, keys)  # one mask for all queries of a sentence
    yield query, key, value, torch.ones(queries, keys, dtype=torch.bool).tril()  # one for all sentences
    yield query, key, value, draw.mask(2, keys, empty_rows=False)[1]
    yield query, key, value, draw.mask(1, queries, keys)
    if draw.number < 2:  # as many queries as sentences: (B, Tk) would pass for (Tq, Tk) there
        same, others, values = draw.normal(2, 2, 2), draw.normal(2, 3, 2), draw.normal(2, 3, 4)
        yield same, others, values, torch.ones(2, 3).tril() > 0
        yield same, others, values, draw.mask(2, 1, 3)
    yield query[:1], key[:1], value[:1], draw.mask(1, queries, keys)  # an axis of length 1 stays an axis
    yield query[:1, :1], key[:1], value[:1], torch.zeros(1, 1, keys, dtype=torch.bool)  # all of it closed
    yield query[:, :1], key, value, draw.mask(batch, 1, keys)


SCALED_DOT_ATTENTION = Exercise(
    scaled_dot_attention,
    cases=_attention_inputs,
    returns=("context", "weights"),
    tolerance=1e-6,  # √D as a tensor is float32
    about=About(points=3, minutes=20, difficulty=2, read_again="Why the square root"),
)

must = SCALED_DOT_ATTENTION.properties
must(
    "context first, then weights",
    lambda result, query, key, value, mask: (
        key.shape[1] != value.shape[2]  # then the shapes tell
        or not torch.allclose(result[1], result[0] @ value, equal_nan=True)
    ),
).says("""
    Your first result seems to be the weights, and your second one the context. All attention functions of this book
    return (context, weights).""")
must(
    "masked positions get no weight", lambda result, query, key, value, mask: closed_get_nothing(result[1], mask)
).says("""
    Where the mask is False, the weight must be exactly 0.""")
must("each row sums to one", lambda result, query, key, value, mask: rows_sum_to_one(result[1], mask)).says("""
    The weights of a query with at least one unmasked key must sum to 1 over the keys.""")
must(
    "context is the weighted sum", lambda result, query, key, value, mask: torch.allclose(result[0], result[1] @ value)
).says("""
    The context must be the sum of the values, each multiplied by its weight: `weights @ value`.""")

wrong = SCALED_DOT_ATTENTION.mistakes
wrong += CLOSED_WRONGLY
wrong("not scaled", {" / query.shape[-1] ** 0.5": ""}).says("""
    You did not divide the scores by √D. With many features the scores become large, and almost all the weight goes to
    one key, which chance has chosen before training.""")
wrong("divided by D", {" ** 0.5": ""}).says("""
    You divided the scores by D. The *variance* of a dot product of D features is D, so its standard deviation is √D:
    divide by the root.""")
for size, what in {"key.shape[1]": "keys", "query.shape[1]": "queries", "value.shape[-1]": "value features"}.items():
    wrong(f"scaled by the number of {what}", {"query.shape[-1]": size}).says(f"""
        You divided by the root of the number of {what}. A dot product is a sum over the features of query and key,
        and it grows with their number, so divide by the root of `query.shape[-1]`.""")
wrong("scores returned", {"return weights @ value, weights": "return weights @ value, scores"}).says("""
    Your second result is the scores. Return the weights, which are computed from the scores by the mask and the
    softmax.""")
