"""Lab 2: Bahdanau attention. The alignment picture."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..families.attention_properties import closed_get_nothing, rows_sum_to_one


def masked_softmax(scores, mask):
    closed = ~mask.expand(scores.shape)  # (..., Tk)
    weights = scores.masked_fill(closed, float("-inf")).softmax(-1)  # (..., Tk)
    return weights.masked_fill(closed, 0.0)


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
    yield draw.normal(2, 2, 3) + 1000 * ~mask, mask
    if draw.compact:  # as small as can be: without the distance, and with it
        yield draw.normal(1, 2, 2), draw.mask(1, 2, 2, empty_rows=False)
        mask = torch.tensor([[[True, True, False]]])
        yield draw.normal(1, 1, 3) + 1000 * ~mask, mask
    yield draw.normal(2, 2, 3), torch.ones(2, 3).tril() > 0  # as many queries as sentences: (B, Tk) would
    yield draw.normal(1, 2, 3), torch.zeros(1, 1, 3, dtype=torch.bool)  # all of it closed
    yield draw.normal(2, 2, 3), draw.mask(2, 1, 3)  # pass for (Tq, Tk) here, without an error
    far = 2000 * draw.order(queries)[:, None]  # rows far apart: the largest of all is not the row's
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
            "Where the mask is False the weight must be exactly 0.",
            lambda result, scores, mask: closed_get_nothing(result, mask),
        ),
        Property(
            "each row sums to one",
            "The weights of a row that may attend to something must sum to 1; "
            "those of a "
            "row that may attend to nothing are all 0.",
            lambda result, scores, mask: rows_sum_to_one(result, mask),
        ),
    ],
)

wrong = MASKED_SOFTMAX.mistakes
wrong("softmax over the queries", {"softmax(-1)": "softmax(-2)"}).says("""
    Your weights sum to 1 over the *queries*. Each query must spread one unit of attention over the *keys*: softmax
    over the last axis.""")
wrong("axis counted from the front", {"softmax(-1)": "softmax(2)"}).says("""
    You took the softmax over axis 2. That is the last one only if there are three. Scores are (…, Tk): count from the
    end, dim=-1.""")
wrong("softmax over axis 1", {"softmax(-1)": "softmax(1)"}).says("""
    You took the softmax over axis 1, which in (B, Tq, Tk) is the queries. The weights of one query sum to 1 over the
    *keys*: dim=-1.""")
wrong(
    "an axis of one lost",
    {"return weights.masked_fill(closed, 0.0)": "return weights.masked_fill(closed, 0.0).squeeze()"},
).says("""
    You squeezed the result, which takes away every axis of size 1: a batch of one, a single query. The weights have
    the shape of the scores.""")
wrong("mask the wrong way round", {"~mask": "mask"}).says("""
    You closed the places where the mask is True. In this book True means *may attend*.""")
wrong(
    "two axes taken for a padding mask", {"mask.expand": "(mask[:, None] if mask.dim() == 2 else mask).expand"}
).says("""
    You gave a mask of two axes a query axis, as if it were (B, Tk). A mask broadcasts as it comes: two axes are (Tq,
    Tk), one table for all sentences. Who has (B, Tk) adds the axis before the call: mask[:, None].""")
wrong("query axis of the mask lost", {"mask.expand": "(mask.squeeze(1) if mask.dim() == 3 else mask).expand"}).says("""
    You squeezed the mask, and a padding mask (B, 1, Tk) became (B, Tk). With as many sentences as queries that
    broadcasts without an error, as (Tq, Tk): query i then gets the padding of sentence i. Leave the axis of 1 where
    it is.""")
wrong("NaN where all is closed", {"return weights.masked_fill(closed, 0.0)": "return weights"}).says("""
    A row that may attend to nothing became NaN: softmax of nothing but −∞ is 0 divided by 0. Such a row gets zero
    weights (padding queries have such rows, and one NaN spoils the whole batch).""")
wrong("a large number, not minus infinity", "return scores.masked_fill(~mask, -1e9).softmax(-1)").says("""
    You filled closed places with a large negative number such as −1e9. A row with nothing to attend to then shares
    its attention equally among places that are closed. Its weights must all be 0.""")
wrong("a number not small enough", "return scores.masked_fill(~mask, -100.0).softmax(-1)").says("""
    You filled closed places with a number such as −100. Scores may be lower than that; then the closed places win.
    Fill with −∞.""")
wrong(
    "the largest may be closed",
    "e = (scores - scores.amax(-1, keepdim=True)).exp() * mask\n"
    "total = e.sum(-1, keepdim=True)\nreturn e / total.where(total != 0, 1)",
).says("""
    You subtracted the largest score of the row, closed places included (a softmax over all places, zeroed and
    normalised again, does so too). If a closed score stands 1000 above the open ones, every open exp becomes 0. Take
    the largest of the *open* places: close first.""")
wrong(
    "normalised twice", "kept = scores.softmax(-1) * mask\nreturn kept / (kept.sum(-1, keepdim=True) + 1e-9)"
).says("""
    You took the softmax over all places, zeroed the closed ones and normalised again. A closed score far above the
    open ones leaves them nothing to normalise. Close before the softmax.""")
wrong(
    "something added to the sum",
    "kept = scores.masked_fill(~mask, -1e30)\n"
    "e = (kept - kept.amax(-1, keepdim=True)).exp() * mask\n"
    "return e / (e.sum(-1, keepdim=True) + 1e-8)",
).says("""
    You added a small number such as 1e-8 to the sum, so open rows no longer sum to 1. Only a row with nothing open
    needs help: set its weights to 0.""")
wrong(
    "the largest of all subtracted",
    "e = (scores - scores.max()).exp() * mask\nreturn e / e.sum(-1, keepdim=True).clamp(min=1e-30)",
).says("""
    You subtracted the largest score of the whole tensor. In a row far below it every exp becomes 0. Subtract each
    row's own largest: max over the last axis.""")
wrong("zeroed after the softmax", {'scores.masked_fill(closed, float("-inf"))': "scores"}).says("""
    You took the softmax over all places and zeroed the closed ones afterwards. What is left sums to less than 1:
    closed places still took their share. Close them before you normalise.""")
wrong("score 0 is not closed", "return (scores * mask).softmax(-1)").says("""
    You set closed scores to 0 (or multiplied by the mask) before the softmax. exp(0) is 1, not 0, so closed places
    still get a share. Their score must be −∞.""")
wrong("score 0, then zeroed", "return (scores * mask).softmax(-1) * mask").says("""
    You set closed scores to 0, took the softmax and zeroed them afterwards. In between they took their share: exp(0)
    = 1. A score that shall get nothing is −∞.""")
wrong("mask ignored", "return scores.softmax(-1)").says("""
    You never used the mask. Padding would get a share of the attention.""")
wrong("exp without a guard", "e = scores.exp() * mask\nreturn e / e.sum(-1, keepdim=True).clamp(min=1e-30)").says("""
    You took exp of the scores as they are. A score of 800 overflows to ∞, and one of −900 becomes 0 (then 0 / 0).
    Subtract the largest score of the row's *open* places first: it changes no weight. torch's softmax does so.""")
wrong("sigmoid", "return scores.sigmoid() * mask").says("""
    You squashed each score on its own with a sigmoid. Weights compete: what one place gets, another loses, and a row
    sums to 1. That takes a softmax.""")
wrong(
    "divided by the sum of the scores",
    "kept = scores * mask\ntotal = kept.sum(-1, keepdim=True)\nreturn kept / total.where(total != 0, 1)",
).says("""
    You divided the scores by their sum. Scores may be negative; weights may not. Take exp first: softmax.""")
wrong("logarithms", {".softmax(-1)": ".log_softmax(-1)"}).says("""
    You returned log-weights. Take softmax, not log_softmax: the weights multiply values next.""")
wrong("hard choice", {".softmax(-1)": ".softmax(-1).round()"}).says("""
    You gave all attention to the best place. That is an argmax: it passes no gradient. Softmax lets every open place
    have its part.""")
wrong(
    "written into the scores",
    "scores.masked_fill_(~mask, float('-inf'))\nreturn scores.softmax(-1).masked_fill(~mask, 0.0)",
).says("""
    You filled the closed places of `scores` in place. The result is right, but the caller's scores are spoilt. Use
    masked_fill without the underscore.""")
