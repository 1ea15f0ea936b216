"""Lab 3, third part: attention with a scale and a mask."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..families.attention_properties import closed_get_nothing, rows_sum_to_one


def scaled_dot_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, Tq, Tk)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
    return weights @ value, weights  # (B, Tq, Dv), (B, Tq, Tk)


def _attention_inputs(draw):
    batch, queries, keys, dim, value_dim = draw.sizes(5)
    query, key, value = (
        draw.normal(batch, queries, dim),
        draw.normal(batch, keys, dim),
        draw.normal(batch, keys, value_dim),
    )
    yield query, key, value, None
    yield query, key, value, draw.mask(batch, queries, keys)
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.mask(3, 3, 3)
    yield from _masks_that_broadcast(draw, query, key, value)
    query, key = query.clone(), key.clone()
    key[..., 0], query[..., 0] = 1.0, -1000 * dim**0.5
    query[:, 0, 0] *= -1  # scores of one row near 1000, of the others near -1000
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
    properties=[
        Property(
            "context first, then weights",
            "Your first result looks like the weights, the second like the context. The interface of the whole "
            "book is (context, weights).",
            lambda result, query, key, value, mask: (
                key.shape[1] != value.shape[2]  # then the shapes tell
                or not torch.allclose(result[1], result[0] @ value, equal_nan=True)
            ),
        ),
        Property(
            "closed places get nothing",
            "Where the mask is False the weight must be exactly 0.",
            lambda result, query, key, value, mask: closed_get_nothing(result[1], mask),
        ),
        Property(
            "each row sums to one",
            "The weights of a query that may attend to something must sum to 1 over the keys.",
            lambda result, query, key, value, mask: rows_sum_to_one(result[1], mask),
        ),
        Property(
            "context is the weighted sum",
            "The context must be weights @ value.",
            lambda result, query, key, value, mask: torch.allclose(result[0], result[1] @ value),
        ),
    ],
)

wrong = SCALED_DOT_ATTENTION.mistakes
wrong("not scaled", {" / query.shape[-1] ** 0.5": ""}).says("""
    You did not divide by √D. With many features the scores grow, the softmax becomes a hard choice, and its gradient
    vanishes.""")
wrong(
    "not scaled without a mask",
    {"scores.softmax(-1)\n    else": "(scores * query.shape[-1] ** 0.5).softmax(-1)\n    else"},
).says("""
    You divided by √D where there is a mask, but not where mask is None. Scale first, in one place; the mask comes
    afterwards.""")
wrong("not scaled with a mask", {"scores.masked_fill": "(scores * query.shape[-1] ** 0.5).masked_fill"}).says("""
    You divided by √D where mask is None, but not where there is one. Scale first, in one place; the mask comes
    afterwards.""")
wrong("scaled by the values' features", {"query.shape[-1]": "value.shape[-1]"}).says("""
    You divided by the root of Dv, the features of the values. The scores sum over the features of query and key: √D.""")
wrong("a mask that closes all is skipped", {"if mask is None": "if mask is None or not mask.any()"}).says("""
    You use the mask only where it opens something. Where it closes every place it is meant so: all weights are 0.""")
wrong("divided by D", {" ** 0.5": ""}).says("""
    You divided by D, not by √D. The *variance* of a dot product is D, so its spread is √D.""")
wrong("scaled by the number of keys", {"query.shape[-1]": "key.shape[1]"}).says("""
    You divided by the root of a *length*. What makes scores grow is the number of features D they sum over, not the
    number of places.""")
wrong("scaled by the number of queries", {"query.shape[-1]": "query.shape[1]"}).says("""
    You divided by the root of the number of queries: shape[1] counts places. What makes scores grow is the number of
    *features* they sum over, shape[-1].""")
wrong(
    "scaled after the softmax",
    {
        " / query.shape[-1] ** 0.5": "",
        "return weights @ value, weights": "weights = weights / query.shape[-1] ** 0.5\n    return "
        "weights @ value, weights",
    },
).says("""
    You divided the weights by √D, after the softmax. Divide the scores, before it; weights must sum to 1.""")
wrong("multiplied by √D", {" / query": " * query"}).says("""
    You multiplied by √D. The scores are too large already: divide.""")
wrong(
    "softmax over the queries",
    "scores = query @ key.mT / query.shape[-1] ** 0.5\nif mask is not None:\n"
    "    scores = scores.masked_fill(~mask, float('-inf'))\n"
    "weights = scores.softmax(1).nan_to_num(0)\nreturn weights @ value, weights",
).says("""
    Your weights sum to 1 over the *queries*. Each query spreads one unit of attention over the *keys*: last axis.""")
wrong(
    "mask the wrong way round",
    "scores = query @ key.mT / query.shape[-1] ** 0.5\nif mask is not None:\n"
    "    scores = scores.masked_fill(mask, float('-inf'))\n"
    "weights = scores.softmax(-1).nan_to_num(0)\nreturn weights @ value, weights",
).says("""
    You closed the places where the mask is True. In this book True means *may attend*.""")
wrong("zeroed after the softmax", {'scores.masked_fill(~mask, float("-inf"))': "scores"}).says("""
    You took the softmax over all places and zeroed the closed ones afterwards. What is left sums to less than 1:
    closed places still took their share. Close them before you normalise.""")
wrong(
    "the largest may be closed",
    "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
    "allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask\n"
    "e = (scores - scores.amax(-1, keepdim=True)).exp() * allowed\n"
    "total = e.sum(-1, keepdim=True)\nweights = e / total.where(total != 0, 1)\n"
    "return weights @ value, weights",
).says("""
    You subtracted the largest score of the row, closed places included. If a closed score stands 1000 above the open
    ones, every open exp becomes 0. Take the largest of the *open* places: close first.""")
wrong(
    "score 0 is not closed",
    {'scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': "(scores * mask).softmax(-1)"},
).says("""
    You set closed scores to 0 (or multiplied by the mask) before the softmax. exp(0) is 1, not 0, so closed places
    still get a share. Their score must be −∞.""")
wrong("score 0, then zeroed", {'scores.masked_fill(~mask, float("-inf"))': "(scores * mask)"}).says("""
    You set closed scores to 0, took the softmax and zeroed them afterwards. In between they took their share: exp(0)
    = 1. A score that shall get nothing is −∞.""")
wrong(
    "mask ignored", "weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)\nreturn weights @ value, weights"
).says("""
    You never used the mask. Padding would get a share of the attention.""")
wrong(
    "two axes taken for a padding mask",
    {
        "    if mask is None": "    if mask is not None and mask.dim() == 2:\n"
        "        mask = mask[:, None]\n    if mask is None"
    },
).says("""
    You gave a mask of two axes a query axis, as if it were (B, Tk). A mask broadcasts as it comes: two axes are (Tq,
    Tk). Who has (B, Tk) writes mask[:, None] before the call.""")
wrong(
    "query axis of the mask lost",
    {
        "    if mask is None": "    if mask is not None and mask.dim() == 3:\n"
        "        mask = mask.squeeze(1)\n    if mask is None"
    },
).says("""
    You squeezed the mask, and a padding mask (B, 1, Tk) became (B, Tk). With as many sentences as queries that passes
    for (Tq, Tk): query i gets the padding of sentence i. Leave the axis of 1.""")
wrong(
    "NaN where all is closed", {'float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': 'float("-inf")).softmax(-1)'}
).says("""
    A query that may attend to nothing became NaN. Softmax of nothing but −∞ is 0 / 0: give such a row zero weights.""")
wrong(
    "a large number, not minus infinity", {'float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': "-1e9).softmax(-1)"}
).says("""
    You filled closed places with a large negative number. A row with nothing to attend to then shares its attention
    equally among closed places. Its weights must all be 0.""")
wrong("results swapped", {"return weights @ value, weights": "return weights, weights @ value"}).says("""
    You returned the weights first. The interface of the whole book is (context, weights).""")
wrong("scores returned", {"return weights @ value, weights": "return weights @ value, scores"}).says("""
    Your second result is the scores. Return the weights: what is left after mask and softmax.""")
wrong("key in the place of value", {"return weights @ value": "return weights @ key"}).says("""
    You summed the keys. Keys are what is compared; *values* are what is handed over.""")
