"""What goes wrong in multi-head attention (lab 8): edits of the reference, which stands in
`attention.py`, and whole bodies."""

from __future__ import annotations

from ..engine.exercise import Mistakes

_SCALE = " / q.shape[-1] ** 0.5"
_MASKED = 'scores.masked_fill(~allowed, float("-inf")).softmax(-1).masked_fill(~allowed, 0.0)'
_END = "return context @ W_o, weights"

# Whole bodies of wrong answers are made of these.
_WEIGH = f"weights = {_MASKED}\n"
_ATTEND = (
    "scores = q @ k.mT / q.shape[-1] ** 0.5\n"
    "allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask[:, None]\n" + _WEIGH
)
_CUT_AND_ATTEND = "q, k, v = cut(query @ W_q), cut(key @ W_k), cut(value @ W_v)\n" + _ATTEND
_ONE_HEAD = (
    "scores = (query @ W_q) @ (key @ W_k).mT / query.shape[-1] ** 0.5\n"
    "allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask\n" + _WEIGH
)

wrong = MISTAKES = Mistakes()
wrong("not scaled", {_SCALE: ""}).says("""
    You did not divide the scores. Each head's dot product sums over D/H features: divide by √(D/H).""")
wrong("scaled by the whole D", {_SCALE: " / query.shape[-1] ** 0.5"}).says("""
    You divided by √D. A head's dot product sums over its own D/H features only, so that is what its spread comes
    from: divide by √(D/H).""")
wrong("root forgotten", {" ** 0.5": ""}).says("""
    You divided by D/H, not by its root. The *variance* of the scores is D/H, so their spread is √(D/H).""")
wrong("scaled by the number of heads", {_SCALE: " / heads ** 0.5"}).says("""
    You divided by √H, the number of heads. What makes scores grow is how many features a head has: √(D/H).""")
wrong("scaled by a length", {_SCALE: " / k.shape[2] ** 0.5"}).says("""
    You divided by the root of a number of places. Scores grow with the *features* they sum over: √(D/H).""")
wrong("multiplied by the scale", {" / q.shape": " * q.shape"}).says("""
    You multiplied by √(D/H). The scores are too large already: divide.""")
wrong("no W_o", {_END: "return context, weights"}).says("""
    You stopped after merging the heads. W_o comes last: without it no head could ever hear of another.""")
wrong(
    "tables transposed", {"@ W_q": "@ W_q.mT", "@ W_k": "@ W_k.mT", "@ W_v": "@ W_v.mT", "@ W_o": "@ W_o.mT"}
).says("""
    You used W.T, as nn.Linear keeps its weights. Here every table is used as it is: x @ W.""")
wrong("W_o transposed", {"context @ W_o": "context @ W_o.mT"}).says("""
    You used W_o.T. All four tables are used as they are: context @ W_o.""")
wrong("value not projected", {"value @ W_v": "value"}).says("""
    You cut the values into heads as they came. They have a table of their own: value @ W_v.""")
wrong("one table for key and value", {"W_v, heads)": "W_k, heads)"}).says("""
    You sent the values through W_k. W_k says what a word is *found by*, W_v what it *hands over*.""")
wrong("key and value tables swapped", {"key @ W_k": "key @ W_v", "value @ W_v": "value @ W_k"}).says("""
    You used W_v for the keys and W_k for the values. It is the other way round.""")
wrong("query and key tables swapped", {"query @ W_q": "query @ W_k", "key @ W_k": "key @ W_q"}).says("""
    You used W_k for the query and W_q for the keys. It is the other way round: W_q asks, W_k answers.""")
wrong("key in the place of value", {"value @ W_v": "key @ W_v"}).says("""
    You took the values from key. In self-attention nobody would notice; when value is something else, that is what
    must be handed over.""")
wrong("everything from the query", {"key @ W_k": "query @ W_k", "value @ W_v": "query @ W_v"}).says("""
    You made keys and values from query, as in self-attention. This function gets three inputs, and key and value may
    be another sentence.""")
wrong("no projections", {"query @ W_q": "query", "key @ W_k": "key", "value @ W_v": "value"}).says("""
    You cut query, key and value into heads as they came. Without W_q, W_k and W_v a head only ever sees the features
    that happen to lie in its block.""")
wrong(
    "split by reshape alone",
    "def cut(x):\n    return x.reshape(len(x), heads, x.shape[1], -1)\n"
    + _CUT_AND_ATTEND
    + "return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights",
).says("""
    Your heads were cut with reshape or view alone, so each mixes places and features. Use your split_heads: cut the
    features, then bring the heads forward.""")
wrong(
    "split and merged by reshape alone",
    "def cut(x):\n    return x.reshape(len(x), heads, x.shape[1], -1)\n"
    + _CUT_AND_ATTEND
    + "return (weights @ v).reshape(query.shape) @ W_o, weights",
).says("""
    You cut and joined the heads with reshape or view alone. Each head then attends between scraps of different
    places. Use your split_heads and merge_heads.""")
wrong("merged by reshape alone", {"_merge(weights @ v)": "(weights @ v).reshape(query.shape)"}).says("""
    Your weights are right, but the contexts were joined with reshape or view alone, so a row mixes several places.
    Use your merge_heads.""")
wrong(
    "features dealt out like cards",
    "def cut(x):\n    return x.reshape(*x.shape[:2], -1, heads).permute(0, 3, 1, 2)\n"
    + _CUT_AND_ATTEND
    + "return (weights @ v).permute(0, 2, 3, 1).flatten(2) @ W_o, weights",
).says("""
    Head 0 got features 0, H, 2H, … of the projections. A head owns a block of neighbouring columns of W_q, W_k, W_v:
    cut D into (H, D/H).""")
wrong(
    "features interleaved at the end", {"_merge(weights @ v)": "(weights @ v).permute(0, 2, 3, 1).flatten(2)"}
).says("""
    Your weights are right, but the contexts were joined in alternation, feature 0 of each head first. Lay the heads
    end to end, as merge_heads does: W_o's rows are in that order.""")
wrong(
    "cut before the projection",
    "def cut(x, W):\n    size = W.shape[0] // heads\n"
    "    parts = [x[..., h * size:(h + 1) * size] @ W[h * size:(h + 1) * size, h * size:(h + 1) * size]\n"
    "             for h in range(heads)]\n    return torch.stack(parts, 1)\n"
    "q, k, v = cut(query, W_q), cut(key, W_k), cut(value, W_v)\n"
    + _ATTEND
    + "return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights",
).says("""
    You cut query, key and value into heads first, and projected each part with a block from W's diagonal. Project the
    whole vector, then cut: a head may draw on all D features.""")
wrong(
    "never cut into heads",
    _ONE_HEAD + "return weights @ (value @ W_v) @ W_o, weights[:, None].expand(-1, heads, -1, -1)",
).says("""
    You attended once, with all D features, and copied the weights for each head. Each head must compare with its own
    D/H features, and so find weights of its own.""")
wrong("one head only", _ONE_HEAD + "return weights @ (value @ W_v) @ W_o, weights").says("""
    You never cut into heads: this is attention with one head, and its weights have no axis H. Each head attends by
    itself, (B, H, Tq, Tk).""")
wrong(
    "softmax over the queries", {_MASKED: 'scores.masked_fill(~allowed, float("-inf")).softmax(-2).nan_to_num(0)'}
).says("""
    Your weights sum to 1 over the *queries*. Each query spreads one unit over the *keys*: last axis.""")
wrong(
    "softmax over the heads", {_MASKED: 'scores.masked_fill(~allowed, float("-inf")).softmax(1).nan_to_num(0)'}
).says("""
    Your softmax runs over axis 1, and with heads that is the heads' axis. Each head spreads its own unit over the
    keys: the last axis.""")
wrong("mask without an axis for heads", {"mask[:, None]": "mask"}).says("""
    Your mask, (B, Tq, Tk), met scores (B, H, Tq, Tk) as it is, or with its new axis in front. Torch lines axes up
    from the right, so sentences met heads. The new axis goes behind the batch: mask[:, None].""")
wrong(
    "mask the wrong way round",
    {
        _MASKED: 'scores.masked_fill(scores.isinf() if mask is None else allowed, float("-inf")).softmax(-1)'
        ".nan_to_num(0)"
    },
).says("""
    You closed the places where the mask is True. In this book True means *may attend*.""")
wrong("mask ignored", {_MASKED: "scores.softmax(-1)"}).says("""
    You never used the mask. Padding would get a share of the attention, in every head.""")
wrong(
    "mask for one head only",
    {
        _MASKED: "scores.masked_fill(~allowed & (torch.arange(heads, device=q.device) == 0)[:, None, None], "
        "float('-inf')).softmax(-1).nan_to_num(0)"
    },
).says("""
    You applied the mask to head 0 alone. It holds for every head: an axis of length 1 broadcasts.""")
wrong("zeroed after the softmax", {'scores.masked_fill(~allowed, float("-inf"))': "scores"}).says("""
    You took the softmax over all places and zeroed the closed ones afterwards, so what is left sums to less than 1.
    Close them before you normalise.""")
wrong("score 0 is not closed", {_MASKED: "(scores * allowed).softmax(-1)"}).says("""
    You set closed scores to 0 before the softmax. exp(0) is 1, so they still get a share: their score must be −∞.""")
wrong("NaN where all is closed", {".softmax(-1).masked_fill(~allowed, 0.0)": ".softmax(-1)"}).says("""
    A query that may attend to nothing became NaN. A softmax of nothing but −∞ is 0 / 0: give such a row zero weights
    afterwards.""")
wrong("a large number, not minus infinity", {_MASKED: "scores.masked_fill(~allowed, -1e9).softmax(-1)"}).says("""
    You filled closed places with a large negative number. A query that may attend to nothing then shares itself among
    closed places. Its weights must all be 0.""")
wrong("weights averaged over the heads", {_END: "return context @ W_o, weights.mean(1)"}).says("""
    You averaged the weights over the heads, as torch's layer does when it is not told otherwise. Return each head's
    own, (B, H, Tq, Tk): they are what we want to look at.""")
wrong("weights with heads in the batch", {_END: "return context @ W_o, weights.flatten(0, 1)"}).says("""
    Your weights are (B·H, Tq, Tk). Heads keep an axis of their own: (B, H, Tq, Tk).""")
wrong("scores returned", {_END: "return context @ W_o, scores"}).says("""
    Your second result is the scores. Return the weights: what is left after mask and softmax.""")
wrong("results swapped", {_END: "return weights, context @ W_o"}).says("""
    You returned the weights first. The order is (output, weights), as everywhere in this book.""")
wrong("heads averaged", {"_merge(weights @ v)": "(weights @ v).mean(1).repeat(1, 1, heads)"}).says("""
    You averaged the heads' contexts and repeated the mean to get D features. Lay the heads end to end, each with what
    it found.""")
wrong("query added", {_END: "return query + context @ W_o, weights"}).says("""
    You added the query to the output. That is the residual connection, and it comes with Lab 09; here only the
    attention is asked for.""")
