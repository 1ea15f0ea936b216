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
wrong("scaled up by √D", {" / query.shape[-1]": " * query.shape[-1]"}).says("""
    You multiplied the scores by √D (or divided by D to the power −½). They are too large already with many features:
    divide by the root.""")
wrong("scaled by a rounded root", {"query.shape[-1] ** 0.5": "int(query.shape[-1] ** 0.5)"}).says("""
    You rounded √D down to a whole number, as `int(…)` and `math.isqrt` do. The root of 3 is 1.732, not 1.""")
wrong("scaled by √2, always", {"query.shape[-1]": "2"}).says("""
    You divided by √2 whatever the number of features. The vectors of the example have 2, others have more: divide by
    the root of `query.shape[-1]`.""")
SIZES = {
    "key.shape[1]": "keys",
    "len(query)": "sentences",
    "query.shape[1]": "queries",
    "value.shape[-1]": "value features",
}
for size, what in SIZES.items():
    wrong(f"scaled by the number of {what}", {"query.shape[-1]": size}).says(f"""
        You divided by the root of the number of {what}. A dot product is a sum over the features of query and key,
        and it grows with their number, so divide by the root of `query.shape[-1]`.""")
wrong("scores returned", {"return weights @ value, weights": "return weights @ value, scores"}).says("""
    Your second result is the scores. Return the weights, which are computed from the scores by the mask and the
    softmax.""")
wrong(
    "scores with −∞ returned",
    {
        "weights = scores.": "scores = scores.",
        ".softmax(-1)": "\n    weights = scores.softmax(-1)",
        "value, weights": "value, scores",
    },
).says("""
    Your second result is the scores, with −∞ at the masked positions. Return the weights, which the softmax makes of
    them.""")
MASKED = "scores.masked_fill(closed, -torch.inf)"
wrong("mask without effect", {f"{MASKED}.softmax(-1).masked_fill(closed, 0.0)": "scores.softmax(-1)"}).says("""
    Your mask has no effect. You left it out, or you called `scores.masked_fill(…)` without keeping its result, which is
    a new tensor: write `scores = scores.masked_fill(…)`.""")
wrong(
    "mask added to the scores",
    {f"{MASKED}.softmax(-1).masked_fill(closed, 0.0)": "(scores + (~closed if mask is not None else 0)).softmax(-1)"},
).says("""
    You added the mask to the scores, where True counts as 1 and False as 0. The scores at the masked positions must
    become −∞.""")
ADDED = "(scores if mask is None else scores + closed * -torch.inf)"
for name, edits, there in (
    ("0 · ∞ at unmasked positions", {MASKED: ADDED}, "The zeros that you write afterwards leave these as they are. "),
    ("0 · ∞ everywhere", {MASKED: ADDED, ".masked_fill(closed, 0.0)": ""}, ""),
):
    wrong(name, edits).says(f"""
        You multiplied the mask by −∞ and added it to the scores. At the unmasked positions this is 0 · (−∞), which is
        NaN. {there}Write −∞ only at the masked positions, with `masked_fill`.""")
wrong("plus infinity", {"-torch.inf": "torch.inf"}).says("""
    You filled the masked scores with +∞, so they would get all the weight, and ∞ / ∞ is NaN. It must be −∞, because
    exp(−∞) = 0.""")
wrong("a number not small enough", {"-torch.inf": "-1e4"}).says("""
    You filled the masked scores with a number such as −100 or −1e4. Other scores may lie below it, and then the masked
    positions take the weight. Only −∞ is below all scores.""")
wrong(
    "0 / 0 where no weight is left",
    {
        MASKED: "scores",
        ".masked_fill(closed, 0.0)": ".masked_fill(closed, 0.0)\n    weights = weights / weights.sum(-1, keepdim=True)",
    },
).says("""
    You set the weights of the masked positions to 0 and divided by the sum of the others. If a query may attend to
    nothing, or a masked score is far above the others, this is 0 / 0. Fill the masked scores with −∞ before the
    softmax.""")
wrong(
    "NaN in the context",
    {
        ".masked_fill(closed, 0.0)": "\n    context = weights @ value\n    weights = weights.masked_fill(closed, 0.0)",
        "return weights @ value": "return context",
    },
).says("""
    You computed the context before you wrote the zeros. For a query that may attend to nothing, this context
    is NaN. Write zeros at the masked positions first, and then compute the weighted sum.""")
