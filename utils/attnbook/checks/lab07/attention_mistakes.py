"""What goes wrong with the mask and with the scale in self-attention (lab 7): whole bodies, beside the edits of
the reference in `attention.py`."""

from __future__ import annotations

from ..engine.exercise import Mistakes

_TABLES = "query, key, value = x @ W_q, x @ W_k, x @ W_v\n"
_SCORES = _TABLES + "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
_END = "return weights @ value, weights"


def _with_mask(before: str, after: str = "", scores: str = _SCORES) -> str:
    """A body that does one thing to the scores and one to the weights, each where there is a mask."""
    zeroed = f"if mask is not None:\n    {after}\n" if after else ""
    return f"{scores}if mask is not None:\n    {before}\nweights = scores.softmax(-1)\n{zeroed}{_END}"


_CLOSED = 'scores = scores.masked_fill(~mask, float("-inf"))'
_ZEROED = "weights = weights.masked_fill(~mask, 0.0)"

wrong = MASKED_WRONGLY = Mistakes()
wrong(
    "mask the wrong way round before the softmax",
    _with_mask('scores = scores.masked_fill(mask, float("-inf"))', _ZEROED),
).says("""
    You put −∞ where the mask is True, and zeros where it is False: between the two nothing is left, and where all is
    open you get NaN. In this book True means *may attend*, so both fills take ~mask.""")
wrong(
    "mask the wrong way round, closed rows not thought of",
    _with_mask('scores = scores.masked_fill(mask, float("-inf"))'),
).says("""
    You put −∞ where the mask is True, and in this book True means *may attend*: it must stand at ~mask. (Where
    nothing is left to attend to the softmax gives NaN, so zeros must follow it, at ~mask too.)""")
wrong("score 0, then zeroed", _with_mask("scores = scores * mask", _ZEROED)).says("""
    You set closed scores to 0 (or multiplied them by the mask) before the softmax, and zeroed their weights
    afterwards. In between exp(0) = 1 took a share, so what is left sums to less than 1. A closed score must be −∞.""")
wrong("mask added as numbers", _with_mask("scores = scores + mask.to(scores)")).says("""
    You added the mask to the scores as zeros and ones. That makes open places a little likelier, and closes none. A
    closed score must become −∞: masked_fill(~mask, …).""")
wrong("mask added as numbers, then zeroed", _with_mask("scores = scores + mask.to(scores)", _ZEROED)).says("""
    You added the mask to the scores as zeros and ones, and zeroed closed weights afterwards. In the softmax closed
    places still took their share, so what is left sums to less than 1. A closed score must be −∞.""")
wrong(
    "zeroed after the context",
    f"{_SCORES}if mask is not None:\n    {_CLOSED}\nweights = scores.softmax(-1)\ncontext = weights @ value\n"
    f"if mask is not None:\n    {_ZEROED}\nreturn context, weights",
).says("""
    Your weights are right, but the context was computed before their closed rows became 0: there it was still NaN.
    Zero the weights *before* weights @ value.""")
wrong("indexed with the mask", _with_mask('scores[~mask] = float("-inf")', "weights[~mask] = 0.0")).says("""
    You wrote scores[~mask] = …, and an index must have the very shape of what it indexes. The mask may be (T, T) or
    (B, 1, T): it only *broadcasts* to the scores. masked_fill broadcasts.""")
wrong("mask turned", _with_mask(f"mask = mask.mT\n    {_CLOSED}", _ZEROED)).says("""
    You transposed the mask. Its rows are those who look, its columns those who are looked at, as in the scores: use
    it as it is.""")

wrong = SCALED_WRONGLY = Mistakes()
wrong(
    "multiplied by the root",
    _with_mask(_CLOSED, _ZEROED, _TABLES + "scores = query @ key.mT * query.shape[-1] ** 0.5\n"),
).says("""
    You multiplied by the root of the number of features. The scores are too large already: divide.""")
wrong(
    "scaled after the softmax",
    f"{_TABLES}scores = query @ key.mT\nif mask is not None:\n    {_CLOSED}\nweights = scores.softmax(-1)\n"
    f"if mask is not None:\n    {_ZEROED}\nweights = weights / query.shape[-1] ** 0.5\n{_END}",
).says("""
    You divided the *weights* by the root, after the softmax. They sum to 1 no longer, and the softmax was as hard as
    before. Divide the scores.""")
wrong(
    "scaled after the softmax, mask too late",
    f"{_TABLES}weights = (query @ key.mT).softmax(-1) / query.shape[-1] ** 0.5\n"
    f"if mask is not None:\n    {_ZEROED}\n{_END}",
).says("""
    You divided the *weights* by the root, and closed places only after the softmax. Both belong before it: divide the
    scores, put −∞ at closed places, then take the softmax.""")
