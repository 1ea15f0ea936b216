"""Lab 14: pointing. Attention whose weights, in logarithms, are the answer."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .questions import questions


def pointer_log_probs(query, key, W_q, W_k, v, mask):
    scores = ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v  # (B, 1, A) + (B, N, A) -> (B, N)
    log_probs = scores.masked_fill(~mask, -torch.inf).log_softmax(-1)  # a row without any place comes out as NaN
    return log_probs.masked_fill(~mask, -torch.inf)


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

_FILLED, _AGAIN = "scores.masked_fill(~mask, -torch.inf)", "log_probs.masked_fill(~mask, -torch.inf)"
_SUM = "((query @ W_q.mT)[:, None] + key @ W_k.mT)"

wrong = POINTER_LOG_PROBS.mistakes
wrong("NaN where everything is closed", {_AGAIN: "log_probs"}).says("""
    A row in which everything is closed came out as NaN: a softmax over nothing but −inf is 0 / 0. Such a row shall be
    all −inf: fill the closed places once more after the softmax.""")
wrong("nan_to_num takes −inf too", {_AGAIN: "log_probs.nan_to_num(nan=-torch.inf)"}).says("""
    `nan_to_num` turns −inf into a number too, −1.8e308, which is printed like −inf. Pass neginf=float('-inf') as
    well, or fill once more after the softmax.""")
wrong(
    "exp and division, NaN where everything is closed",
    f"weights = ({_SUM}.tanh() @ v).exp() * mask\nreturn (weights / weights.sum(-1, keepdim=True)).log()",
).says("""
    You took `exp`, divided by the sum, then the log. Where everything is closed that is 0 / 0, NaN; where scores are
    large `exp` overflows. log_softmax of scores filled with −inf, then filled once more.""")
wrong("tanh outside", {_SUM: f"({_SUM} @ v)", "tanh() @ v": "tanh()"}).says("""
    You applied tanh last, to the score. v weighs the *bent* features: first tanh of the sum, then @ v. (Else the
    network is linear inside, and no score lies above 1.)""")
wrong("closed after the softmax", {_FILLED: "scores"}).says("""
    You closed the places only after the softmax, and they had taken their share: the open ones no longer sum to 1.
    The mask leaks. Fill with −inf *before* the softmax.""")
wrong("sense reversed", {_FILLED: _FILLED.replace("~", ""), _AGAIN: _AGAIN.replace("~", "")}).says("""
    You closed the open places. True means *may be pointed at*: fill where the mask is False, ~mask.""")
wrong("filled with −1e9 before the softmax", {_FILLED: "scores.masked_fill(~mask, -1e9)"}).says("""
    You filled with −1e9. Scores may lie below that, and then closed places take all: fill with float('-inf').""")
wrong("multiplied by the mask", {_FILLED: "(scores * mask)"}).says("""
    You multiplied the scores by the mask. A score of 0 is not *closed*: it takes its share, e⁰ = 1. Closed is −inf.""")
wrong("softmax without log, −inf after it", {"log_softmax": "softmax"}).says("""
    Your open places have probabilities, not logarithms: log_softmax, not softmax.""")
wrong("log of the softmax", {"log_softmax(-1)": "softmax(-1).log()"}).says("""
    You took the log of a softmax. Where scores lie far apart, a small probability is rounded to 0, and its log is
    −inf although the place is open. log_softmax does both in one, and safely.""")
wrong("scores returned", {f"{_FILLED}.log_softmax(-1)": "scores"}).says("""
    You returned scores, closed places filled. To be log-probabilities they need log_softmax over the places.""")
wrong("softmax over the batch", {"log_softmax(-1)": "log_softmax(0)"}).says("""
    Your probabilities sum to 1 over the *rows of the batch*. Each row points at its own places: the last axis.""")
wrong("tanh missing", {".tanh()": ""}).says("""
    You left out tanh. Without it the query's part is the same for all places, and drops out of the softmax: the
    network would point at the same place, whatever it is asked.""")
wrong("sigmoid for tanh", {".tanh()": ".sigmoid()"}).says("""
    You bent the sum with a sigmoid. The score wants tanh, which lies between −1 and 1.""")
wrong("multiplied, not added", {"[:, None] + key": "[:, None] * key"}).says("""
    You multiplied the query's part with the key's. The additive score adds them.""")
wrong("matrices not turned", {"query @ W_q.mT": "query @ W_q", "key @ W_k.mT": "key @ W_k"}).says("""
    You wrote x @ W. These matrices are (A, D), as `nn.Linear` has them: x @ W.mT.""")
