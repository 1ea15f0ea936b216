"""Lab 14: pointing. Attention whose weights, in logarithms, are the answer."""

import torch

from misread.exercise import About, Exercise

from .questions import questions


def pointer_log_probs(query, key, W_q, W_k, v, mask):
    """Log-probability of each position: (B, Dq), (B, N, Dk), ..., mask (B, N) -> (B, N), -inf where closed."""
    scores = ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v  # (B, 1, A) + (B, N, A) -> (B, N)
    log_probs = scores.masked_fill(~mask, -torch.inf).log_softmax(-1)  # a row with nothing open comes out as NaN
    return log_probs.masked_fill(~mask, -torch.inf)


POINTER_LOG_PROBS = Exercise(
    pointer_log_probs,
    cases=questions,
    about=About(points=3, minutes=17, difficulty=3, read_again="Pointing is attention without the weighted sum"),
)


def _no_floor(result, *args):
    """False where probabilities are right, but those below e^−100 have all become one number above it."""
    right, found = pointer_log_probs(*args)[args[-1]], result[args[-1]]
    tiny = right < -100
    floored = tiny.sum() > 1 and found[tiny].min() > -100 and found[tiny].max() - found[tiny].min() < 1e-6
    return not (floored and torch.allclose(found[right > -20], right[right > -20], atol=1e-6))


must = POINTER_LOG_PROBS.properties
must(
    "closed positions get −inf", lambda result, query, key, W_q, W_k, v, mask: (result[~mask] == -torch.inf).all()
).says("""
    A closed position has the probability 0, and log 0 is −inf. A finite number such as −1e9 is not enough.""")
must("open positions get numbers", lambda result, query, key, W_q, W_k, v, mask: result[mask].isfinite().all()).says("""
    An open position must get a finite logarithm, however small its probability is.""")
must("not above 0", lambda result, *args: (result <= 1e-9).all()).says("""
    A probability is at most 1, so its logarithm can never be above 0.""")
must(
    "the only open position gets everything",
    lambda result, query, key, W_q, W_k, v, mask: v.abs().max() < 2.0**33 or (result[mask] > -1e6).all(),
).says("""
    Where only one position is open its log-probability must be 0, however low its score is. A softmax over the open
    positions gives this, if the closed ones were filled with float('-inf'): scores can be lower than any finite number
    that they are filled with.""")
must("no floor", _no_floor).says("""
    Where scores are far apart, log-probabilities are far below −100. Yours have a floor: was a small number added or
    put in place of tiny probabilities (`clamp`) before the logarithm, or were the scores limited? log_softmax of the
    scores as they are has no such limit.""")
must(
    "probabilities sum to 1 over the open positions",
    lambda result, query, key, W_q, W_k, v, mask: torch.allclose(result.exp().sum(-1), mask.any(-1).to(result.dtype)),
).says("""
    In each row with an open position, the probabilities (`exp` of your result) must sum to 1.""")

_FILLED, _AGAIN = "scores.masked_fill(~mask, -torch.inf)", "log_probs.masked_fill(~mask, -torch.inf)"
_SUM = "((query @ W_q.mT)[:, None] + key @ W_k.mT)"

wrong = POINTER_LOG_PROBS.mistakes
wrong("NaN where everything is closed", {_AGAIN: "log_probs"}).says("""
    A row in which every position is closed came out as NaN, because a softmax over nothing but −inf is 0 / 0. Such a
    row must be all −inf, so fill the closed positions once more after the softmax.""")
wrong("NaN turned into 0", {_AGAIN: "log_probs.nan_to_num(neginf=-torch.inf)"}).says("""
    You turned NaN into 0, and a log-probability of 0 means a probability of 1. In a row in which every position is
    closed each probability is 0, and its logarithm is −inf, so fill once more after the softmax.""")
wrong("NaN unless all rows are closed", {_AGAIN: f"{_AGAIN} if not mask.any() else log_probs"}).says("""
    You took care of a batch in which *all* rows are closed, but a batch can also have one closed row beside open ones,
    and yours comes out as NaN there. Fill the closed positions once more after the softmax, in any batch.""")
wrong(
    "one closed row closes all",
    {"return log": "if not mask.any(-1).all():\n        mask = mask & False\n    return log"},
).says("""
    You returned −inf for the whole batch because *one* row has nothing open. Each row is answered by itself: only the
    rows in which every position is closed are all −inf.""")
_ADDED = "(scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf))"
wrong("−inf added", {_FILLED: _ADDED}).says("""
    The numbers are right, but you *added* −inf to the scores, or the logarithm of the mask. Where every position is
    closed, the softmax gives NaN, and your last filling hides it in the result only: the gradient is still NaN, and so
    would be every parameter after one step. `masked_fill` in place of the sum stops the gradient at closed positions.
    """)
for _what, _then, _lost in (("", _AGAIN, "the open positions are"), (", not filled again", "log_probs", "each row is")):
    wrong(f"0 times −inf{_what}", {_FILLED: "(scores + ~mask * -torch.inf)", _AGAIN: _then}).says(f"""
        You multiplied the mask by −inf, but 0 · ∞ is NaN, so that {_lost} lost. Fill instead of multiplying:
        masked_fill(~mask, float('-inf')), before the softmax and once more after it.""")
wrong("nan_to_num takes −inf too", {_AGAIN: "log_probs.nan_to_num(nan=-torch.inf)"}).says("""
    `nan_to_num` also turns −inf into a finite number, −1.8e308. Pass neginf=float('-inf') as well, or fill the closed
    positions once more after the softmax instead.""")
wrong(
    "exp and division, NaN where everything is closed",
    f"weights = ({_SUM}.tanh() @ v).exp() * mask\nreturn (weights / weights.sum(-1, keepdim=True)).log()",
).says("""
    You took `exp`, divided by the sum and took the logarithm. Where everything is closed this is 0 / 0, which is NaN,
    and for large scores `exp` is infinite. Use log_softmax of scores that are filled with −inf, and fill once more
    after it.""")
for _what, _how, _closed in (
    ("", "multiplied by the mask", " * mask"),
    (", filled with 0", "filled the closed positions with 0", ".masked_fill(~mask, 0)"),
):
    _e = f"e = ({_SUM}.tanh() @ v).exp(){_closed}\n"
    wrong(
        f"exp and division{_what}", f"{_e}return (e / e.sum(-1, keepdim=True)).log().masked_fill(~mask, -torch.inf)"
    ).says(
        f"""
        You took `exp`, {_how}, divided by the sum and took the logarithm, which is correct on paper. For large scores,
        however, `exp` is infinite, and for very low ones it is rounded to 0. Use log_softmax of scores that are filled
        with −inf, and fill once more after it."""
    )
_REST = f"p = ({_SUM}.tanh() @ v).softmax(-1) * mask\n"
for _what, _then in (("", ".masked_fill(~mask, -torch.inf)"), (", and NaN", "")):
    wrong(
        f"renormalised after the softmax{_what}", f"{_REST}return (p / p.sum(-1, keepdim=True)).log(){_then}"
    ).says(f"""
        You took a softmax over all positions, set the closed ones to 0, and divided by the rest. Where a closed
        position has by far the highest score, the probabilities of the open ones are rounded to 0 before
        that{", and where everything is closed 0 / 0 is NaN" if not _then else ""}. Fill the scores with −inf first, and
        use log_softmax.""")
wrong("tanh outside", {_SUM: f"({_SUM} @ v)", "tanh() @ v": "tanh()"}).says("""
    You applied tanh last, to the score, but it belongs to the sum of the two parts, before the product with v.
    Otherwise the score is linear in query and key before the tanh, and it can never be larger than 1.""")
_EACH = {
    "(query @ W_q.mT)": "(query @ W_q.mT).tanh()",
    "key @ W_k.mT)": "(key @ W_k.mT).tanh())",
    ".tanh() @ v": " @ v",
}
wrong("tanh of each part", _EACH).says("""
    The query has no influence on your result. Either its part is missing, or you applied one tanh to the query's part
    and another to the keys' part and added afterwards: then the query adds the same number to all scores, and the
    softmax removes it. Add both parts first, then apply one tanh to the sum.""")
wrong(
    "logarithm of a sum of exp",
    f"u = {_SUM}.tanh() @ v\nreturn (u - (u.exp() * mask).sum(-1, keepdim=True).log()).masked_fill(~mask, -torch.inf)",
).says("""
    You subtracted log Σ exp(score), which is correct on paper. For large scores, however, `exp` is infinite, and for
    very low ones it is rounded to 0. log_softmax subtracts the largest score first.""")
wrong(
    "logarithm of a sum of exp, filled before",
    f"u = ({_SUM}.tanh() @ v).masked_fill(~mask, -torch.inf)\n"
    "return (u - u.exp().sum(-1, keepdim=True).log()).masked_fill(~mask, -torch.inf)",
).says("""
    You filled the scores and subtracted log Σ exp(score), which is correct on paper. For large scores, however, `exp`
    is infinite, and for very low ones it is rounded to 0, so that open positions come out as −inf or infinite.
    log_softmax subtracts the largest score first.""")
wrong("closed after the softmax", {_FILLED: "scores"}).says("""
    You closed the positions only after the softmax, when they had already taken a part of the probability, so that the
    open positions no longer sum to 1. Fill with −inf *before* the softmax.""")
wrong("sense reversed", {_FILLED: _FILLED.replace("~", ""), _AGAIN: _AGAIN.replace("~", "")}).says("""
    You closed the open positions. True means that a position *may be chosen*, so fill where the mask is False, which is
    where ~mask is True.""")
wrong("filled with −1e9 before the softmax", {_FILLED: "scores.masked_fill(~mask, -1e9)"}).says("""
    You filled with −1e9 before the softmax, but scores can be lower than that, and then a closed position gets all the
    probability. Fill with float('-inf') instead.""")
wrong("1e9 subtracted", {_FILLED: "(scores - 1e9 * ~mask)"}).says("""
    You subtracted 1e9 from the scores of closed positions. Scores may lie farther apart than any number that you
    subtract, and then a closed position still gets all the probability. Fill with float('-inf') instead.""")
wrong("multiplied by the mask", {_FILLED: "(scores * mask)"}).says("""
    You multiplied the scores by the mask, but a score of 0 does not close a position, because e⁰ = 1 still counts in
    the sum, and so the position gets a part of the probability. The score of a closed position must be −inf.""")
wrong("softmax without log, −inf after it", {"log_softmax": "softmax"}).says("""
    You returned probabilities for the open positions, but the exercise asks for their logarithms, which log_softmax
    gives.""")
_PROBABILITIES = """
    You returned the probabilities of all positions, closed ones with {}. The exercise asks for their logarithms:
    log_softmax in place of softmax, and −inf for the closed positions."""
for _what, _then, _closed in (("", f"{_AGAIN}.nan_to_num(neginf=0.0)", "0"), (", and NaN", "log_probs", "0 or NaN")):
    wrong(f"softmax without log{_what}", {"log_softmax": "softmax", _AGAIN: _then}).says(_PROBABILITIES.format(_closed))
wrong("log of the softmax, and NaN", {"log_softmax(-1)": "softmax(-1).log()", _AGAIN: "log_probs"}).says("""
    You took the logarithm of a softmax. Where scores are far apart, a small probability is rounded to 0, and where
    every position is closed the result is NaN. Use log_softmax, and fill the closed positions with −inf once more after
    it.""")
wrong("log of the softmax", {"log_softmax(-1)": "softmax(-1).log()"}).says("""
    You took the logarithm of a softmax. Where scores are far apart, a small probability is rounded to 0, and its
    logarithm is −inf although the position is open. log_softmax computes both in one step without this rounding.""")
for _tiny in ("1e-12", "1e-9", "1e-10", "1e-8"):
    wrong(f"{_tiny} inside the logarithm", {"log_softmax(-1)": f"softmax(-1).add({_tiny}).log()"}).says(f"""
        You added a small number such as {_tiny} inside the logarithm, so that no logarithm of an open position can be
        below that of this number. Where scores are far apart, log-probabilities are far lower. log_softmax computes
        them without this limit.""")
wrong("scores returned", {f"{_FILLED}.log_softmax(-1)": "scores"}).says("""
    You returned the scores, with the closed positions filled, but the exercise asks for log-probabilities. These are
    the log_softmax of the scores over the positions.""")
wrong("tanh missing", {".tanh()": ""}).says("""
    You left out tanh. Without it the part of the query is the same for all positions, and the softmax removes it, so
    that the query has no influence on the result.""")
wrong("scores divided by a root", {".tanh() @ v": ".tanh() @ v / key.shape[-1] ** 0.5"}).says("""
    You divided the scores by a root such as √Dk, which belongs to the scaled dot product. The additive score is not
    divided by anything.""")
wrong("query without an axis for the positions", {"(query @ W_q.mT)[:, None]": "(query @ W_q.mT)"}).says("""
    You added the part of the query (B, A) to that of the keys (B, N, A) as it is. PyTorch aligns shapes from the right,
    so the query of instance n meets position n of every instance, or the shapes do not fit. Give the part of the query
    an axis for the positions, [:, None].""")
wrong("the query's new axis at the end", {"[:, None] + key": "[..., None] + key"}).says("""
    You gave the part of the query its new axis at the end, (B, A, 1), so that its features meet the positions of the
    keys (B, N, A), or the shapes do not fit. The axis for the positions stands in the middle: [:, None], (B, 1, A).""")
wrong("matrices not turned", {"query @ W_q.mT": "query @ W_q", "key @ W_k.mT": "key @ W_k"}).says("""
    You computed x @ W, but these matrices have the shape (A, D), as in `nn.Linear`, so the product is x @ W.mT.""")
