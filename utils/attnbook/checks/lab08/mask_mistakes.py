"""What goes wrong with masks, axes and shared tables in multi-head attention (lab 8): edits of the reference, which
stands in `attention.py`, and whole bodies."""

from __future__ import annotations

from ..engine.exercise import Mistakes

_MASKED = 'scores.masked_fill(~allowed, float("-inf")).softmax(-1).masked_fill(~allowed, 0.0)'
_WRONG_WAY = 'scores.masked_fill(scores.isinf() if mask is None else allowed, float("-inf")).softmax(-1)'

# In torch.bmm's way heads lie in the batch: sentence 0 with each head, then sentence 1. `repeat` counts otherwise.
_FOLDED = """
def fold(x):
    return _split(x, heads).flatten(0, 1)
q, k, v = fold(query @ W_q), fold(key @ W_k), fold(value @ W_v)
scores = q @ k.mT / q.shape[-1] ** 0.5
allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.repeat(heads, 1, 1)
weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1).masked_fill(~allowed, 0.0)
parts, weights = (one.unflatten(0, (-1, heads)) for one in (weights @ v, weights))
return _merge(parts) @ W_o, weights
"""

wrong = MORE_MISTAKES = Mistakes()
wrong("keys made with W_q", {"key @ W_k": "key @ W_q"}).says("""
    You made queries and keys with the same table. Then each place asks for places like itself. Keys have a table of
    their own: key @ W_k.""")
wrong("query and key not projected", {"query @ W_q": "query", "key @ W_k": "key"}).says("""
    You cut query and key into heads as they came. W_q says what a word asks for, W_k what it is found by: query @
    W_q, key @ W_k.""")
wrong("scaled by the number of queries", {" / q.shape[-1] ** 0.5": " / q.shape[2] ** 0.5"}).says("""
    You divided by the root of the number of queries, Tq. How many ask does not make a score larger; the *features* do
    that it sums over: √(D/H).""")
wrong("queries and keys swapped", {"q @ k.mT": "k @ q.mT"}).says("""
    You let the keys ask and the queries answer, k @ q.mT. Row i of the weights belongs to query i: q @ k.mT, (B, H,
    Tq, Tk).""")
wrong("mask with its axis behind the queries", {"mask[:, None]": "mask[:, :, None]"}).says("""
    You gave the mask its new axis behind the queries, (B, Tq, 1, Tk), so queries met heads. Behind the batch is where
    the scores have their heads: mask[:, None].""")
wrong("mask turned", {"mask[:, None]": "mask.mT[:, None]"}).says("""
    You transposed the mask. Its rows are the queries and its columns the keys, as in the scores: use it as it is,
    with one axis more.""")
wrong("mask repeated in the wrong order", _FOLDED).says("""
    You folded the heads into the batch, and there all heads of sentence 0 come first. mask.repeat goes through all
    *sentences* first, so heads got the masks of other sentences. Take repeat_interleave, or leave the heads an axis
    of their own.""")
wrong("mask the wrong way round before the softmax", {_MASKED: f"{_WRONG_WAY}.masked_fill(~allowed, 0.0)"}).says("""
    You put −∞ where the mask is True, and zeros where it is False: between the two nothing is left, and where all is
    open you get NaN. In this book True means *may attend*, so both fills take its negation.""")
wrong("mask the wrong way round, closed rows not thought of", {_MASKED: _WRONG_WAY}).says("""
    You put −∞ where the mask is True, and in this book True means *may attend*: it must stand where the mask is
    False. (Where nothing is left to attend to the softmax gives NaN, so zeros must follow it.)""")
wrong("score 0, then zeroed", {_MASKED: "(scores * allowed).softmax(-1) * allowed"}).says("""
    You set closed scores to 0 (or multiplied them by the mask) before the softmax, and zeroed their weights
    afterwards. In between exp(0) = 1 took a share, so what is left sums to less than 1. A closed score must be −∞.""")
wrong(
    "zeroed after the context",
    {
        ".softmax(-1).masked_fill(~allowed, 0.0)": ".softmax(-1)",
        "return context @ W_o, weights": "return context @ W_o, weights.masked_fill(~allowed, 0.0)",
    },
).says("""
    Your weights are right, but the output was computed before their closed rows became 0: there it was still NaN.
    Zero the weights *before* they meet the values.""")
