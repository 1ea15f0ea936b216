"""Lab 2: Bahdanau attention. The alignment picture."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..families.attention_properties import closed_get_nothing, rows_sum_to_one
from ..families.masked_weights import CLOSED_WRONGLY


def masked_softmax(scores, mask):
    closed = ~mask  # broadcasts to (..., Tk)
    return scores.masked_fill(closed, -torch.inf).softmax(-1).masked_fill(closed, 0.0)


def _masked_scores(draw):
    batch, queries, keys = draw.sizes(3)
    scores = 2 * draw.normal(batch, queries, keys)
    if draw.number == 3:
        scores = scores + 1500 * draw.integers(-1, 2, batch, queries, keys)  # exp(1500) is no float any more
    if draw.number == 2:
        scores = scores - 900  # and exp(-900) is 0
    yield scores, draw.mask(batch, queries, keys)
    yield draw.normal(3, 3, 3), draw.mask(3, 3, 3)
    mask = draw.mask(2, 2, 3)  # closed places far above the open ones: beside them exp gives 0
    far_below = -4e9 * mask.double()  # no number that one would fill in is as low
    yield far_below if draw.number == 3 else draw.normal(2, 2, 3) + 1000 * ~mask, mask
    if draw.compact:  # as small as can be: without the distance, and with it
        yield draw.normal(1, 2, 2), draw.mask(1, 2, 2, empty_rows=False)
        mask = torch.tensor([[[True, True, False]]])
        yield draw.normal(1, 1, 3) + 1000 * ~mask, mask
        yield -4e9 * mask.double(), mask
    yield draw.normal(2, 2, 3), torch.ones(2, 3).tril() > 0  # as many queries as sentences: (B, Tk) would
    yield draw.normal(1, 2, 3), torch.zeros(1, 1, 3, dtype=torch.bool)  # all of it closed
    yield draw.normal(2, 2, 3), draw.mask(2, 1, 3)  # pass for (Tq, Tk) here, without an error
    far = 1000 * draw.order(queries)[:, None]  # rows far apart: the largest of all is not the row's
    yield draw.normal(batch, queries, keys) - far, draw.mask(batch, 1, keys)  # one mask for all queries
    if draw.number == 1:  # fewer axes, more axes, axes of one
        causal = torch.ones(queries, queries).tril() > 0
        yield draw.normal(queries, queries) - far, causal
        yield draw.normal(batch, queries, queries) - far, causal
        yield draw.normal(batch, queries, keys + 1), draw.mask(2, keys + 1, empty_rows=False)[1]
        yield draw.normal(batch, 3, queries, keys) - far, draw.mask(batch, 1, 1, keys)
        yield draw.normal(1, 1, keys + 9), draw.mask(2, 1, keys + 9, empty_rows=False)[1:]


MASKED_SOFTMAX = Exercise(
    masked_softmax,
    cases=_masked_scores,
    tolerance=1e-9,
    properties=[
        Property(
            "no negative weight",
            "A weight is a share of attention: it is never below zero.",
            lambda result, scores, mask: (result >= 0).all(),
        ),
        Property(
            "closed places get nothing",
            "Where the mask is False the weight must be exactly 0, however low the other scores are.",
            lambda result, scores, mask: closed_get_nothing(result, mask),
        ),
        Property(
            "each row sums to one",
            "The weights of a row that may attend to something must sum to 1; those of a row that may attend to "
            "nothing are all 0.",
            lambda result, scores, mask: rows_sum_to_one(result, mask),
        ),
    ],
)

wrong = MASKED_SOFTMAX.mistakes
wrong += CLOSED_WRONGLY
wrong("a number, not minus infinity, then zeroed", {"-torch.inf": "-1e9"}).says("""
    You filled closed places with a number such as −1e4 or −1e9. Scores may be lower than that; then the closed places
    win, and nothing is left when you zero them. Fill with −∞.""")
wrong("softmax over axis 1", {"softmax(-1)": "softmax(1)"}).says("""
    You took the softmax over axis 1, which in (B, Tq, Tk) is the queries. The weights of one query sum to 1 over the
    *keys*: dim=-1.""")
wrong("axis counted from the front", {"softmax(-1)": "softmax(2)"}).says("""
    You took the softmax over axis 2. That is the last one only if there are three. Scores are (…, Tk): count from the
    end, dim=-1.""")
wrong(
    "the largest of all subtracted",
    "e = (scores - scores.max()).exp() * mask\nreturn e / e.sum(-1, keepdim=True).clamp(min=1e-30)",
).says("""
    You subtracted the largest score of the whole tensor. In a row far below it every exp becomes 0. Subtract each
    row's own largest: max over the last axis.""")
wrong("exp without a guard", "e = scores.exp() * mask\nreturn e / e.sum(-1, keepdim=True).clamp(min=1e-30)").says("""
    You took exp of the scores as they are. A score of 800 overflows to ∞, and one of −900 becomes 0. Subtract the
    largest score of the row's *open* places first, as torch's softmax does: it changes no weight.""")
wrong("logarithms", {".softmax(-1)": ".log_softmax(-1)"}).says("""
    You returned log-weights. Take softmax, not log_softmax: the weights multiply values next.""")
