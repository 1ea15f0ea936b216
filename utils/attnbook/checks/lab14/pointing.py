"""Lab 14: pointing. Attention whose weights, in logarithms, are the answer."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .questions import questions


def pointer_log_probs(query, key, W_q, W_k, v, mask):
    scores = ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v  # (B, 1, A) + (B, N, A) -> (B, N)
    log_probs = scores.masked_fill(~mask, -torch.inf).log_softmax(-1)  # a row without any place comes out as NaN
    return log_probs.masked_fill(~mask, -torch.inf)


_SCORES = "scores = ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v\n"
_IN_THE_MASK = {
    "scores.masked_fill(~mask, -torch.inf)": "scores",
    "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs",
}

POINTER_LOG_PROBS = Exercise(
    pointer_log_probs,
    cases=questions,
    tolerance=1e-9,
    properties=[
        Property(
            "closed places get −inf",
            "A closed place has the probability 0, and log 0 is −inf. −1e9 is a number too, and so is −1e4.",
            lambda result, query, key, W_q, W_k, v, mask: (result[~mask] == -torch.inf).all(),
        ),
        Property(
            "open places get numbers",
            "An open place gets a finite logarithm, however small its probability.",
            lambda result, query, key, W_q, W_k, v, mask: result[mask].isfinite().all(),
        ),
        Property(
            "not above 0",
            "The logarithm of a probability is never above 0.",
            lambda result, *args: (result <= 1e-9).all(),
        ),
        Property(
            "the only open place gets everything",
            "Where one place is open its log-probability is 0, however low its score. Here closed places won: a fill "
            "such as −1e4 or −30 is a number like any other, and scores may lie below it. Fill with float('-inf').",
            lambda result, query, key, W_q, W_k, v, mask: v.abs().max() < 2.0**33 or (result[mask] > -1e6).all(),
        ),
        Property(
            "probabilities sum to 1 over the open places",
            "In each row with something open, the probabilities (`exp` of your result) must sum to 1 over the places.",
            lambda result, query, key, W_q, W_k, v, mask: torch.allclose(
                result.exp().sum(-1), mask.any(-1).to(result.dtype)
            ),
        ),
    ],
)

wrong = POINTER_LOG_PROBS.mistakes
wrong(
    "NaN where everything is closed", {"return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs"}
).says("""
    A row in which everything is closed came out as NaN: a softmax over nothing but −inf is 0 / 0. Such a row shall be
    all −inf: fill the closed places once more after the softmax.""")
wrong(
    "nan_to_num with a 0", {"return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs.nan_to_num(0)"}
).says("""
    You took the NaN away with `nan_to_num`, as 0: log-probability 0 is *certain*. And it turns −inf into a number
    too, −1.8e308. Closed is −inf: fill once more after the softmax.""")
wrong(
    "nan_to_num takes −inf too",
    {"return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs.nan_to_num(nan=-torch.inf)"},
).says("""
    `nan_to_num` turns −inf into a number too, −1.8e308, which is printed like −inf. Pass neginf=float('-inf') as
    well, or fill once more after the softmax.""")
wrong(
    "the sign turned",
    {"return log_probs.masked_fill(~mask, -torch.inf)": "return (-log_probs).masked_fill(~mask, -torch.inf)"},
).says("""
    You turned the sign: −log p. That is a loss; the logarithm of a probability is 0 or below. Return log p as it is.""")
wrong(
    "the sign turned, +inf where closed",
    {"return log_probs.masked_fill(~mask, -torch.inf)": "return -log_probs.masked_fill(~mask, -torch.inf)"},
).says("""
    You turned the sign, and closed places got +inf. A log-probability is 0 or below, and where closed log 0 = −inf:
    no minus before the result.""")
wrong(
    "the sign turned, not filled again", {"return log_probs.masked_fill(~mask, -torch.inf)": "return -log_probs"}
).says("""
    You turned the sign, and closed places got +inf: return log p, without the minus. (And fill the closed places once
    more after the softmax: a row in which everything is closed came out as NaN.)""")
wrong(
    "exp and division, NaN where everything is closed",
    _SCORES + "weights = scores.exp() * mask\nreturn (weights / weights.sum(-1, keepdim=True)).log()",
).says("""
    You took `exp`, divided by the sum, then the log. Where everything is closed that is 0 / 0, NaN; where scores are
    large `exp` overflows. log_softmax of scores filled with −inf, then filled once more.""")
wrong(
    "tanh outside",
    {
        "((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v": "(((query @ W_q.mT)[:, None] + key @ W_k.mT) @ v).tanh()"
    },
).says("""
    You applied tanh last, to the score. v weighs the *bent* features: first tanh of the sum, then @ v. (Else the
    network is linear inside, and no score lies above 1.)""")
wrong(
    "tanh outside, not filled again",
    {
        "((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v": "(((query @ W_q.mT)[:, None] + key @ W_k.mT) @ v).tanh()",
        "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs",
    },
).says("""
    You applied tanh to the score: it belongs to the sum, before v. (And fill the closed places once more after the
    softmax.)""")
wrong("mask not used", _IN_THE_MASK).says("""
    You did not use the mask: closed places may be pointed at. Before the softmax their scores must be −inf.""")
wrong("closed after the softmax", {"scores.masked_fill(~mask, -torch.inf)": "scores"}).says("""
    You closed the places only after the softmax, and they had taken their share: the open ones no longer sum to 1.
    The mask leaks. Fill with −inf *before* the softmax.""")
wrong(
    "sense reversed",
    {
        "scores.masked_fill(~mask": "scores.masked_fill(mask",
        "log_probs.masked_fill(~mask": "log_probs.masked_fill(mask",
    },
).says("""
    You closed the open places and opened the closed ones. True means *may be pointed at*: fill where the mask is
    False, ~mask.""")
wrong(
    "sense reversed, NaN where nothing is left",
    {
        "scores.masked_fill(~mask": "scores.masked_fill(mask",
        "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs",
    },
).says("""
    You closed the open places and opened the closed ones: fill where the mask is False, ~mask. (And a row without an
    open place comes out as NaN: fill once more after the softmax.)""")
wrong(
    "filled with −1e9",
    {
        "scores.masked_fill(~mask, -torch.inf)": "scores.masked_fill(~mask, -1e9)",
        "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs",
    },
).says("""
    You filled with −1e9, which is a number like any other: a log-probability of −1e9 is not −inf, and a closed row
    gets weights. Fill with float('-inf').""")
wrong(
    "filled with −1e9 before the softmax", {"scores.masked_fill(~mask, -torch.inf)": "scores.masked_fill(~mask, -1e9)"}
).says("""
    You filled with −1e9 before the softmax. Scores may lie below that, and here they do: the closed places then take
    everything. Fill with float('-inf').""")
wrong("multiplied by the mask", {"scores.masked_fill(~mask, -torch.inf)": "(scores * mask)"}).says("""
    You multiplied the scores by the mask. A score of 0 is not *closed*: it takes its share, e⁰ = 1. Closed is −inf.""")
wrong(
    "multiplied by the mask, never −inf",
    {
        "scores.masked_fill(~mask, -torch.inf)": "(scores * mask)",
        "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs",
    },
).says("""
    You multiplied the scores by the mask. A score of 0 is not *closed*: it takes its share, e⁰ = 1, and may be
    pointed at. Closed is −inf, before the softmax and in the result.""")
wrong(
    "softmax without log",
    {
        "log_softmax": "softmax",
        "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs.masked_fill(~mask, 0.0)",
    },
).says("""
    You returned probabilities. Wanted are their logarithms: log_softmax, and −inf where closed.""")
wrong(
    "softmax without log, NaN where everything is closed",
    {"log_softmax": "softmax", "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs"},
).says("""
    You returned probabilities. Wanted are their logarithms: log_softmax. (And a row in which everything is closed
    came out as NaN: fill the closed places with −inf once more, after it.)""")
wrong("softmax without log, −inf after it", {"log_softmax": "softmax"}).says("""
    Your open places have probabilities, not logarithms: log_softmax, not softmax.""")
wrong("log of the softmax", {"log_softmax(-1)": "softmax(-1).log()"}).says("""
    You took the log of a softmax. Where scores lie far apart, a small probability is rounded to 0, and its log is
    −inf although the place is open. log_softmax does both in one, and safely.""")
wrong(
    "log of the softmax, NaN where everything is closed",
    {"log_softmax(-1)": "softmax(-1).log()", "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs"},
).says("""
    You took the log of a softmax: where scores lie far apart, a probability is rounded to 0 and its log is −inf. Use
    log_softmax. (And a row in which everything is closed came out as NaN: fill once more after it.)""")
wrong(
    "a constant inside the log",
    "weights = (" + _SCORES.removeprefix("scores = ").strip() + ").masked_fill(~mask, -torch.inf).softmax(-1)\n"
    "return (weights.nan_to_num() + 1e-9).log()",
).says("""
    You added a small number before the log, so that no −inf comes out. But a closed place *is* −inf, and all others
    are pulled a little. log_softmax needs no such help.""")
wrong(
    "exp overflows",
    _SCORES + "total = (scores.exp() * mask).sum(-1, keepdim=True)\n"
    "return (scores - total.log()).masked_fill(~mask, -torch.inf)",
).says("""
    You wrote the softmax with `exp` as it stands: e to the power of large scores is infinite, of very negative ones
    0. log_softmax takes the largest score off first.""")
wrong("scores returned", {"scores.masked_fill(~mask, -torch.inf).log_softmax(-1)": "scores"}).says("""
    You returned the scores, closed places filled. Without the softmax they are no log-probabilities: log_softmax over
    the places.""")
wrong("softmax over the batch", {"log_softmax(-1)": "log_softmax(0)"}).says("""
    Your probabilities sum to 1 over the *rows of the batch*. Each row points at one of its own places: softmax over
    the last axis.""")
wrong(
    "softmax over the batch, not filled again",
    {"log_softmax(-1)": "log_softmax(0)", "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs"},
).says("""
    Your probabilities sum to 1 over the *rows of the batch*: softmax over the last axis. (And fill the closed places
    once more after it.)""")
wrong("tanh missing", {".tanh()": ""}).says("""
    You left out tanh. Without it the query's part is the same for all places, and drops out of the softmax: the
    network would point at the same place, whatever it is asked.""")
wrong(
    "tanh missing, not filled again",
    {".tanh()": "", "return log_probs.masked_fill(~mask, -torch.inf)": "return log_probs"},
).says("""
    You left out tanh: without it the query drops out of the softmax, and no question changes the answer. (And fill
    the closed places once more after the softmax.)""")
wrong(
    "bent apart",
    {"((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh()": "((query @ W_q.mT).tanh()[:, None] + (key @ W_k.mT).tanh())"},
).says("""
    You applied tanh to the query's part and to the key's part, and added afterwards. Then again the query drops out
    of the softmax. First the sum, then tanh.""")
wrong("sigmoid for tanh", {".tanh()": ".sigmoid()"}).says("""
    You bent the sum with a sigmoid. The score wants tanh, which lies between −1 and 1.""")
wrong("multiplied, not added", {"[:, None] + key": "[:, None] * key"}).says("""
    You multiplied the query's part with the key's. The additive score adds them.""")
wrong("v left out", {" @ v ": ".sum(-1) "}).says("""
    You summed the hidden features and left out v, which says how much each of them counts.""")
wrong("another row's query", {"(query @ W_q.mT)[:, None]": "(query @ W_q.mT)"}).says("""
    Your sum has no axis for the places, so that where there are as many rows as places, place n was asked with row
    n's query. Each row's query meets all its places: an axis in the middle, [:, None].""")
wrong("W_q and W_k exchanged", {"query @ W_q.mT": "query @ W_k.mT", "key @ W_k.mT": "key @ W_q.mT"}).says("""
    You multiplied the query by W_k and the keys by W_q. Each has its own matrix.""")
wrong("matrices not turned", {"query @ W_q.mT": "query @ W_q", "key @ W_k.mT": "key @ W_k"}).says("""
    You wrote x @ W. These matrices are (A, D), as `nn.Linear` has them: x @ W.mT.""")
wrong("scaled", {".tanh() @ v": ".tanh() @ v / len(v) ** 0.5"}).says("""
    You divided the scores by √A. That belongs to the dot product; the additive score is not divided.""")
wrong(
    "logarithm to base 2",
    {
        "return log_probs.masked_fill(~mask, -torch.inf)": "return (log_probs / math.log(2)).masked_fill(~mask, -torch.inf)"
    },
).says("""
    Your logarithms are to base 2. Here, as everywhere in this book, they are natural ones.""")
