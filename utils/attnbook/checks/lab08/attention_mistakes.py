"""What goes wrong in multi-head attention (lab 8): edits of the reference, which stands in
`attention.py`, and whole bodies."""

from __future__ import annotations

from ..engine.exercise import Mistake

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

MISTAKES = [
    Mistake(
        "not scaled",
        "You did not divide the scores. Each head's dot product sums over D/H features: divide by √(D/H).",
        {_SCALE: ""},
    ),
    Mistake(
        "scaled by the whole D",
        "You divided by √D. A head's dot product sums over its own D/H features only, so that is what its spread "
        "comes from: divide by √(D/H).",
        {_SCALE: " / query.shape[-1] ** 0.5"},
    ),
    Mistake(
        "root forgotten",
        "You divided by D/H, not by its root. The *variance* of the scores is D/H, so their spread is √(D/H).",
        {" ** 0.5": ""},
    ),
    Mistake(
        "scaled by the number of heads",
        "You divided by √H, the number of heads. What makes scores grow is how many features a head has: √(D/H).",
        {_SCALE: " / heads ** 0.5"},
    ),
    Mistake(
        "scaled by a length",
        "You divided by the root of a number of places. Scores grow with the *features* they sum over: √(D/H).",
        {_SCALE: " / k.shape[2] ** 0.5"},
    ),
    Mistake(
        "multiplied by the scale",
        "You multiplied by √(D/H). The scores are too large already: divide.",
        {" / q.shape": " * q.shape"},
    ),
    Mistake(
        "no W_o",
        "You stopped after merging the heads. W_o comes last: without it no head could ever hear of another.",
        {_END: "return context, weights"},
    ),
    Mistake(
        "tables transposed",
        "You used W.T, as nn.Linear keeps its weights. Here every table is used as it is: x @ W.",
        {"@ W_q": "@ W_q.mT", "@ W_k": "@ W_k.mT", "@ W_v": "@ W_v.mT", "@ W_o": "@ W_o.mT"},
    ),
    Mistake(
        "W_o transposed",
        "You used W_o.T. All four tables are used as they are: context @ W_o.",
        {"context @ W_o": "context @ W_o.mT"},
    ),
    Mistake(
        "value not projected",
        "You cut the values into heads as they came. They have a table of their own: value @ W_v.",
        {"value @ W_v": "value"},
    ),
    Mistake(
        "one table for key and value",
        "You sent the values through W_k. W_k says what a word is *found by*, W_v what it *hands over*.",
        {"W_v, heads)": "W_k, heads)"},
    ),
    Mistake(
        "key and value tables swapped",
        "You used W_v for the keys and W_k for the values. It is the other way round.",
        {"key @ W_k": "key @ W_v", "value @ W_v": "value @ W_k"},
    ),
    Mistake(
        "query and key tables swapped",
        "You used W_k for the query and W_q for the keys. It is the other way round: W_q asks, W_k answers.",
        {"query @ W_q": "query @ W_k", "key @ W_k": "key @ W_q"},
    ),
    Mistake(
        "key in the place of value",
        "You took the values from key. In self-attention nobody would notice; when value is something else, that "
        "is what must be handed over.",
        {"value @ W_v": "key @ W_v"},
    ),
    Mistake(
        "everything from the query",
        "You made keys and values from query, as in self-attention. This function gets three inputs, and key and "
        "value may be another sentence.",
        {"key @ W_k": "query @ W_k", "value @ W_v": "query @ W_v"},
    ),
    Mistake(
        "no projections",
        "You cut query, key and value into heads as they came. Without W_q, W_k and W_v a head only ever sees the "
        "features that happen to lie in its block.",
        {"query @ W_q": "query", "key @ W_k": "key", "value @ W_v": "value"},
    ),
    Mistake(
        "split by reshape alone",
        "Your heads were cut with reshape or view alone, so each mixes places and features. Use your split_heads: "
        "cut the features, then bring the heads forward.",
        "def cut(x):\n    return x.reshape(len(x), heads, x.shape[1], -1)\n" +
        _CUT_AND_ATTEND +
        "return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights",
    ),
    Mistake(
        "split and merged by reshape alone",
        "You cut and joined the heads with reshape or view alone. Each head then attends between scraps of "
        "different places. Use your split_heads and merge_heads.",
        "def cut(x):\n    return x.reshape(len(x), heads, x.shape[1], -1)\n" +
        _CUT_AND_ATTEND +
        "return (weights @ v).reshape(query.shape) @ W_o, weights",
    ),
    Mistake(
        "merged by reshape alone",
        "Your weights are right, but the contexts were joined with reshape or view alone, so a row mixes several "
        "places. Use your merge_heads.",
        {"_merge(weights @ v)": "(weights @ v).reshape(query.shape)"},
    ),
    Mistake(
        "features dealt out like cards",
        "Head 0 got features 0, H, 2H, … of the projections. A head owns a block of neighbouring columns of W_q, "
        "W_k, W_v: cut D into (H, D/H).",
        "def cut(x):\n    return x.reshape(*x.shape[:2], -1, heads).permute(0, 3, 1, 2)\n" +
        _CUT_AND_ATTEND +
        "return (weights @ v).permute(0, 2, 3, 1).flatten(2) @ W_o, weights",
    ),
    Mistake(
        "features interleaved at the end",
        "Your weights are right, but the contexts were joined in alternation, feature 0 of each head first. Lay "
        "the heads end to end, as merge_heads does: W_o's rows are in that order.",
        {"_merge(weights @ v)": "(weights @ v).permute(0, 2, 3, 1).flatten(2)"},
    ),
    Mistake(
        "cut before the projection",
        "You cut query, key and value into heads first, and projected each part with a block from W's diagonal. "
        "Project the whole vector, then cut: a head may draw on all D features.",
        "def cut(x, W):\n    size = W.shape[0] // heads\n"
        "    parts = [x[..., h * size:(h + 1) * size] @ W[h * size:(h + 1) * size, h * size:(h + 1) * size]\n"
        "             for h in range(heads)]\n    return torch.stack(parts, 1)\n"
        "q, k, v = cut(query, W_q), cut(key, W_k), cut(value, W_v)\n" + _ATTEND +
        "return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights",
    ),
    Mistake(
        "never cut into heads",
        "You attended once, with all D features, and copied the weights for each head. Each head must compare with "
        "its own D/H features, and so find weights of its own.",
        _ONE_HEAD +
        "return weights @ (value @ W_v) @ W_o, weights[:, None].expand(-1, heads, -1, -1)",
    ),
    Mistake(
        "one head only",
        "You never cut into heads: this is attention with one head, and its weights have no axis H. Each head "
        "attends by itself, (B, H, Tq, Tk).",
        _ONE_HEAD +
        "return weights @ (value @ W_v) @ W_o, weights",
    ),
    Mistake(
        "softmax over the queries",
        "Your weights sum to 1 over the *queries*. Each query spreads one unit over the *keys*: last axis.",
        {_MASKED: 'scores.masked_fill(~allowed, float("-inf")).softmax(-2).nan_to_num(0)'},
    ),
    Mistake(
        "softmax over the heads",
        "Your softmax runs over axis 1, and with heads that is the heads' axis. Each head spreads its own unit "
        "over the keys: the last axis.",
        {_MASKED: 'scores.masked_fill(~allowed, float("-inf")).softmax(1).nan_to_num(0)'},
    ),
    Mistake(
        "mask without an axis for heads",
        "Your mask, (B, Tq, Tk), met scores (B, H, Tq, Tk) as it is, or with its new axis in front. Torch lines axes "
        "up from the right, so sentences met heads. The new axis goes behind the batch: mask[:, None].",
        {"mask[:, None]": "mask"},
    ),
    Mistake(
        "mask the wrong way round",
        "You closed the places where the mask is True. In this book True means *may attend*.",
        {_MASKED: 'scores.masked_fill(scores.isinf() if mask is None else allowed, float("-inf")).softmax(-1)'
                  ".nan_to_num(0)"},
    ),
    Mistake(
        "mask ignored",
        "You never used the mask. Padding would get a share of the attention, in every head.",
        {_MASKED: "scores.softmax(-1)"},
    ),
    Mistake(
        "mask for one head only",
        "You applied the mask to head 0 alone. It holds for every head: an axis of length 1 broadcasts.",
        {_MASKED: "scores.masked_fill(~allowed & (torch.arange(heads, device=q.device) == 0)[:, None, None], "
                  "float('-inf')).softmax(-1).nan_to_num(0)"},
    ),
    Mistake(
        "zeroed after the softmax",
        "You took the softmax over all places and zeroed the closed ones afterwards, so what is left sums to less "
        "than 1. Close them before you normalise.",
        {'scores.masked_fill(~allowed, float("-inf"))': "scores"},
    ),
    Mistake(
        "score 0 is not closed",
        "You set closed scores to 0 before the softmax. exp(0) is 1, so they still get a share: their score must "
        "be −∞.",
        {_MASKED: "(scores * allowed).softmax(-1)"},
    ),
    Mistake(
        "NaN where all is closed",
        "A query that may attend to nothing became NaN. A softmax of nothing but −∞ is 0 / 0: give such a row zero "
        "weights afterwards.",
        {".softmax(-1).masked_fill(~allowed, 0.0)": ".softmax(-1)"},
    ),
    Mistake(
        "a large number, not minus infinity",
        "You filled closed places with a large negative number. A query that may attend to nothing then shares "
        "itself among closed places. Its weights must all be 0.",
        {_MASKED: "scores.masked_fill(~allowed, -1e9).softmax(-1)"},
    ),
    Mistake(
        "weights averaged over the heads",
        "You averaged the weights over the heads, as torch's layer does when it is not told otherwise. Return each "
        "head's own, (B, H, Tq, Tk): they are what we want to look at.",
        {_END: "return context @ W_o, weights.mean(1)"},
    ),
    Mistake(
        "weights with heads in the batch",
        "Your weights are (B·H, Tq, Tk). Heads keep an axis of their own: (B, H, Tq, Tk).",
        {_END: "return context @ W_o, weights.flatten(0, 1)"},
    ),
    Mistake(
        "scores returned",
        "Your second result is the scores. Return the weights: what is left after mask and softmax.",
        {_END: "return context @ W_o, scores"},
    ),
    Mistake(
        "results swapped",
        "You returned the weights first. The order is (output, weights), as everywhere in this book.",
        {_END: "return weights, context @ W_o"},
    ),
    Mistake(
        "heads averaged",
        "You averaged the heads' contexts and repeated the mean to get D features. Lay the heads end to end, each "
        "with what it found.",
        {"_merge(weights @ v)": "(weights @ v).mean(1).repeat(1, 1, heads)"},
    ),
    Mistake(
        "query added",
        "You added the query to the output. That is the residual connection, and it comes with Lab 09; here only "
        "the attention is asked for.",
        {_END: "return query + context @ W_o, weights"},
    ),
]
