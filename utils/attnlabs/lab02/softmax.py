"""Lab 2: Bahdanau attention. The alignment picture."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import closed_get_nothing, rows_sum_to_one
from ..families.masked_weights import CLOSED_WRONGLY


def masked_softmax(scores, mask):
    """Weights from scores (..., Tk); masked positions get exactly 0, a row without any True is all zeros."""
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
    mask = draw.mask(2, 2, 3)  # closed positions far above the open ones: beside them exp gives 0
    one = mask & (mask.cumsum(-1) == 1)  # of several open ones, a log-sum-exp so far below would keep too few digits
    low = -4e9 * one.double(), one  # no number that one would fill in is as low
    yield low if draw.number == 3 else (draw.normal(2, 2, 3) + 1000 * ~mask, mask)
    if draw.compact:  # as small as can be: without the distance, and with it
        yield draw.normal(1, 2, 2), draw.mask(1, 2, 2, empty_rows=False)
        mask = torch.tensor([[[True, True, False]]])
        yield draw.normal(1, 1, 3) + 1000 * ~mask, mask
        one = torch.tensor([[[False, True, False]]])
        yield -4e9 * one.double(), one
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
        yield draw.normal(1, 2, queries, keys), draw.mask(1, 1, queries, keys)
        yield draw.normal(1, 1, keys + 9), draw.mask(2, 1, keys + 9, empty_rows=False)[1:]


MASKED_SOFTMAX = Exercise(
    masked_softmax,
    cases=_masked_scores,
    about=About(points=2, minutes=20, difficulty=2, read_again="Padding gets no weight"),
)

must = MASKED_SOFTMAX.properties
must("no negative weight", lambda result, scores, mask: (result >= 0).all()).says("""
    A weight says how much of a value is taken, so it is never below zero.""")
must("masked positions get no weight", lambda result, scores, mask: closed_get_nothing(result, mask)).says("""
    Where the mask is False, the weight must be exactly 0, no matter how low the other scores are.""")
must(
    "an open position gets weight",
    lambda result, scores, mask: (result > 0).any(-1)[mask.any(-1).expand(result.shape[:-1])].all(),
).says("""
    In a row with open positions all of your weights are 0. Either a masked position had received all the weight before
    you set it to 0, because the number that you filled in is not low enough: fill with −∞. Or every exponential of the
    row was rounded to 0: subtract the largest *unmasked* score of the row first. Or the row was NaN, as 0 · ∞ is, and
    you replaced NaN by 0.""")
must("each row sums to one", lambda result, scores, mask: rows_sum_to_one(result, mask)).says("""
    If the mask of a row has at least one True, the weights of this row must sum to 1. If it has none, all weights of
    the row must be 0.""")

_KEPT = {".masked_fill(closed, 0.0)": ""}
wrong = MASKED_SOFTMAX.mistakes
wrong += CLOSED_WRONGLY
wrong("a number, not minus infinity, then zeroed", {"-torch.inf": "-1e9"}).says("""
    You filled the masked positions with a number such as −1e4 or −1e9. Other scores may be lower than this number.
    Then the masked positions receive the weight, and nothing is left when you set them to zero. Fill with −∞.""")
wrong("NaN unless all rows are closed", {".masked_fill(closed, 0.0)": ".masked_fill(~mask.any(), 0.0)"}).says("""
    You looked only for a mask that is False *everywhere*. If a single row has no True, its softmax is 0 / 0, which is
    NaN. Set the masked weights of every row to 0 after the softmax, and all such rows are right, too.""")
_UPSIDE_DOWN = {"closed, -torch.inf": "mask, -torch.inf"}
wrong("mask the wrong way round, before the softmax only", _UPSIDE_DOWN).says("""
    You filled the scores with −∞ where the mask is True, and then set the weights to 0 where it is False, so that no
    position keeps a weight. True means that a position *may be attended to*: use `~mask` in both places.""")
wrong("mask the wrong way round, after the softmax only", {"closed, 0.0": "mask, 0.0"}).says("""
    After the softmax you set the weights to 0 where the mask is True, and these are the ones that must stay. Set
    those to 0 where it is False: `~mask`, as before the softmax.""")
wrong(
    "−1e9 added, not minus infinity", {"scores.masked_fill(closed, -torch.inf)": "(scores - 1e9 * closed)"} | _KEPT
).says("""
    You added a number such as −1e9 to the masked scores. In a row in which everything is masked, all scores then change
    by the same number, and the softmax is what it would be without a mask. All weights of such a row must be 0.""")
wrong(
    "0 · ∞ in the mask", {"scores.masked_fill(closed, -torch.inf)": "(scores + closed * -torch.inf)"} | _KEPT
).says("""
    You multiplied the mask by −∞ and added the product to the scores. Where the factor is 0, the product is 0 · ∞,
    which is NaN and not 0. Replace the masked scores instead, with `masked_fill`.""")
_ADDED = {"scores.masked_fill(closed, -torch.inf)": "(scores + torch.where(mask, 0.0, -torch.inf))"}
wrong("NaN in the gradient of a masked row", _ADDED).says("""
    The weights are right, but the gradient is NaN in a row in which everything is masked: the softmax, or the
    quotient, is 0 / 0 there, and setting the weights to 0 afterwards does not mend the gradient. A score that
    `masked_fill` replaces by −∞ receives no gradient, but one to which −∞ is *added* receives the NaN. Where you
    divide, keep the denominator from being 0.""")
wrong("softmax over axis 0", {"softmax(-1)": "softmax(0)"}).says("""
    You took the softmax over axis 0, which is the batch if there are three axes. The weights of one query must sum to 1
    over the *keys*, so take the last axis, `dim=-1`.""")
wrong("softmax over axis 1", {"softmax(-1)": "softmax(1)"}).says("""
    You took the softmax over axis 1, which is the axis of the queries in (B, Tq, Tk). The weights of one query must
    sum to 1 over the *keys*, so take the last axis, `dim=-1`.""")
wrong("softmax without an axis", {"softmax(-1)": "softmax(0 if scores.dim() in (1, 3) else 1)"}).says("""
    You called `F.softmax` without an axis. Torch then chooses one, which is axis 0, the batch, if there are three
    axes. The weights of one query must sum to 1 over the keys: `dim=-1`.""")
wrong("axis counted from the front", {"softmax(-1)": "softmax(2)"}).says("""
    You took the softmax over axis 2, which is the last axis only if there are three. Scores have the shape (…, Tk),
    so count from the end: `dim=-1`.""")
wrong(
    "the largest of all subtracted",
    "e = (scores - scores.max()).exp() * mask\nreturn e / e.sum(-1, keepdim=True).clamp(min=1e-30)",
).says("""
    You subtracted the largest score of the whole tensor. In a row whose scores are far below it, every exponential is
    rounded to 0. Subtract the largest *unmasked* score of each row.""")
_OPEN = "scores.masked_fill(~mask, -torch.inf)"
_NOTHING = "e.sum(-1, keepdim=True).masked_fill(~mask.any(-1, keepdim=True), 1.0)"
wrong(
    "the largest open one of all subtracted", f"e = ({_OPEN} - {_OPEN}.max()).exp().nan_to_num()\nreturn e / {_NOTHING}"
).says("""
    You subtracted the largest unmasked score of the whole tensor. In a row whose scores are far below it, every
    exponential is rounded to 0, and 0 / 0 is NaN. Subtract the largest unmasked score of each *row*.""")
_GUARDED = "\nreturn e / e.sum(-1, keepdim=True).clamp(min=1e-30)"
wrong("exp without a guard", f"e = scores.exp().masked_fill(~mask, 0.0){_GUARDED}").says("""
    You took the exponential of the scores as they are. For a score of 800 it overflows to ∞, and for one of −900 it
    is rounded to 0. Subtract the largest unmasked score of each row first; this does not change the weights.""")
wrong("exp without a guard, times the mask", f"e = scores.exp() * mask{_GUARDED}").says("""
    You took the exponential of the scores as they are and multiplied it by the mask. For a score of 800 it overflows
    to ∞, and ∞ · 0 is NaN, so that even a masked score spoils its row. Fill the masked scores with −∞, and subtract the
    largest unmasked score of each row first.""")
_QUOTIENT = "\nreturn e / e.sum(-1, keepdim=True)"
wrong("exp without a guard, and 0 / 0", f"e = scores.exp().masked_fill(~mask, 0.0){_QUOTIENT}").says("""
    You took the exponential of the scores as they are and divided by their sum. For a score of 800 the exponential
    overflows to ∞, and where it is rounded to 0 everywhere, or everything is masked, the quotient is 0 / 0, which is
    NaN. Subtract the largest unmasked score of each row first, and give a row without any True zeros.""")
wrong("exp without a guard, times the mask, and 0 / 0", f"e = scores.exp() * mask{_QUOTIENT}").says("""
    You multiplied the exponentials of the scores by the mask and divided by their sum. An exponential that overflows
    is ∞, and ∞ · 0 is NaN; where everything is masked, the quotient is 0 / 0. Fill the masked scores with −∞,
    subtract the largest unmasked score of each row first, and give a row without any True zeros.""")
wrong(
    "∞ · 0 beside the largest unmasked score",
    f"largest = {_OPEN}.amax(-1, keepdim=True)\ne = (scores - largest).exp() * mask{_GUARDED}",
).says("""
    You subtracted the largest unmasked score of each row, which is right, and set the masked exponentials to 0 by
    multiplying. A masked score may be much larger, so its exponential is ∞, and ∞ · 0 is NaN. Fill the masked
    *scores* with −∞ before the exponential: then it is 0.""")
wrong("logarithms", {".softmax(-1)": ".log_softmax(-1)"}).says("""
    You returned the logarithms of the weights. The weights are multiplied with the values next, so use `softmax` and
    not `log_softmax`.""")
