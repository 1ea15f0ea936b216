"""Lab 8: multi-head attention."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import weights_of_heads
from ..families.dot_product_attention import SCALED_OR_MASKED_WRONGLY
from .heads import merge_heads, split_heads


def multi_head_attention(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    """query (B, Tq, D), key and value (B, Tk, D), matrices (D, D), mask (B, Tq, Tk) ->
    output (B, Tq, D), weights (B, H, Tq, Tk)."""
    q = split_heads(query @ W_q, heads)  # (B, H, Tq, D/H)
    k = split_heads(key @ W_k, heads)  # (B, H, Tk, D/H)
    v = split_heads(value @ W_v, heads)  # (B, H, Tk, D/H)
    scores = q @ k.mT / q.shape[-1] ** 0.5  # (B, H, Tq, Tk)
    closed = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask[:, None]  # (B, 1, Tq, Tk)
    weights = scores.masked_fill(closed, float("-inf")).softmax(-1).masked_fill(closed, 0.0)
    context = merge_heads(weights @ v)  # (B, Tq, D)
    return context @ W_o, weights


def _inputs(draw, batch, queries, keys, dim):
    tables = [draw.normal(dim, dim) / dim**0.5 for _ in range(4)]  # scores of ordinary size
    return draw.normal(batch, queries, dim), draw.normal(batch, keys, dim), draw.normal(batch, keys, dim), *tables


def _far_apart(draw):
    """Large scores; keys are made of −W, so where a word attends to itself alone, what is closed scores far higher."""
    alone = torch.eye(4, dtype=torch.bool).expand(3, 4, 4).clone()
    some_closed = draw.mask(3, 4, 4) & torch.tensor([True, True, True, False])
    for steep in (300, 1e5):
        text, _, _, W, _, *tables = _inputs(draw, 3, 4, 4, 6)
        for mask in (torch.ones_like(alone).tril(), alone, some_closed):
            yield text, text, text, steep * W, -W, *tables, 2, mask


def _quarters(draw):
    """Single precision. All scores are 0 and 1, 2, 4 keys or none are seen: every weight is a round number."""
    shapes = [(2, 4, 8)] * 3 + [(8, 8)] * 3
    query, key, value, W_k, W_v, W_o = (draw.integers(-2, 3, *shape).float() / 4 for shape in shapes)
    seen = torch.tensor([4, 2, 1, 0])
    mask = (torch.arange(4) < seen[:, None]).expand(2, 4, 4).clone()
    return query, key, value, torch.zeros(8, 8), W_k, W_v, W_o, 2, mask


def _many_heads(draw):
    if draw.compact:  # only to be shown
        for mask in (None, draw.mask(2, 1, 2, empty_rows=False)[1:], torch.zeros(1, 1, 2).bool()):
            yield *_inputs(draw, 1, 1, 2, 2), 2, mask
        yield *_inputs(draw, 1, 2, 2, 2), 2, None
        return
    batch, queries, keys, heads, size = draw.sizes(5)
    yield *_inputs(draw, batch, queries, keys, heads * size), heads, draw.mask(batch, queries, keys)
    yield *_inputs(draw, batch, queries, keys, heads * size), heads, None
    yield *_inputs(draw, 2, 2, 3, 1), 1, draw.mask(2, 2, 3)  # one feature in all
    yield *_inputs(draw, 2, 3, 3, 4), 2, draw.mask(2, 3, 3)  # B = H: a mask on the wrong axis gives values here
    yield *_inputs(draw, 1, 2, 3, 6), 3, draw.mask(1, 2, 3)  # one sentence
    yield *_inputs(draw, 2, 3, 4, 6), 2, draw.mask(2, 1, 4)  # padding: one row for all the queries
    yield *_inputs(draw, 2, 1, 3, 4), 1, None  # one query, one head
    text = draw.normal(2, 3, 6)  # self-attention: one sequence in all three roles
    yield text, text, text, *(draw.normal(6, 6) / 6**0.5 for _ in range(4)), 3, draw.mask(2, 3, 3, empty_rows=False)
    yield *_inputs(draw, 3, 1, 4, 4), 2, draw.mask(3, 1, 4)  # one query and padding
    yield *_inputs(draw, 3, 3, 4, 4), 1, draw.mask(3, 3, 4)  # one head and a mask
    if draw.number == 0:
        yield text, text, text, *(draw.normal(6, 6) / 6**0.5 for _ in range(4)), 3, None
        yield from _far_apart(draw)
        yield _quarters(draw)


def _head_0_by_itself(result, query, key, value, W_q, W_k, W_v, W_o, heads, mask):
    size = query.shape[-1] // heads
    scores = (query @ W_q[:, :size]) @ (key @ W_k[:, :size]).mT / size**0.5  # (B, Tq, Tk)
    return mask is not None or torch.allclose(result[1][:, 0], scores.softmax(-1))


def _context_from_weights(result, query, key, value, W_q, W_k, W_v, W_o, heads, mask):
    return torch.allclose(result[0], merge_heads(result[1] @ split_heads(value @ W_v, heads)) @ W_o)


MULTI_HEAD_ATTENTION = Exercise(
    multi_head_attention,
    cases=_many_heads,
    returns=("output", "weights"),
    tolerance=1e-7,
    about=About(points=4, minutes=28, difficulty=4, read_again="Many heads, by hand"),
)

must = MULTI_HEAD_ATTENTION.properties
must += weights_of_heads()
must("head 0 has the first columns", _head_0_by_itself).says("""
    Head 0's weights must come from its own features, which are the first D/H columns of query @ W_q and of key @ W_k,
    and their scores are divided by √(D/H).""")
must("the output follows from the weights", _context_from_weights).says("""
    The output doesn't follow from your weights. It must be the weights times the values of each head, with the heads
    merged, times W_o.""")

wrong = MULTI_HEAD_ATTENTION.mistakes
wrong += SCALED_OR_MASKED_WRONGLY
_NAN_KEPT = {".masked_fill(closed, 0.0)": "", "context @ W_o": "(context @ W_o).nan_to_num(0.0)"}
wrong("NaN replaced in the output only", _NAN_KEPT).says("""
    Your output is right, but where a query may attend to nothing the *weights* that you return are still NaN, because
    you replaced it in the output only. Set these weights to 0 right after the softmax, and both are right.""")
_NAN_USED = {".masked_fill(closed, 0.0)": "", "W_o, weights": "W_o, weights.nan_to_num(0.0)"}
wrong("NaN replaced in the weights only", _NAN_USED).says("""
    Your weights are right, but where a query may attend to nothing the *output* is NaN, because you multiplied the
    values by the weights before you replaced NaN. Set these weights to 0 right after the softmax: then both are
    right.""")
_MASKED = 'scores.masked_fill(closed, float("-inf")).softmax(-1).masked_fill(closed, 0.0)'
wrong("a large number added", {_MASKED: "(scores - 1e9 * closed).softmax(-1)"}).says("""
    Where a query may attend to nothing, your weights are those of a row in which everything is open. If you *added* a
    large negative number to the closed scores, it shifts all scores of such a row alike, and the softmax doesn't change
    with that. All weights of this query must be 0: set them to 0 after the softmax.""")
wrong("a number not small enough", {'float("-inf")': "-1e4"}).says("""
    You filled closed positions with a number such as −10000. Scores may be lower than it, and then closed positions
    take the weight of the open ones before you set them to 0. Fill with −∞: float("-inf").""")
wrong("scaled by the number of heads", {" / q.shape[-1]": " / heads"}).says("""
    You divided by √H, the root of the number of heads. The dot product of a head sums over D/H features, and this is
    the number of which you need the root.""")
wrong("scaled by the whole D", {" / q.shape[-1]": " / query.shape[-1]"}).says("""
    You divided by √D. The dot product of a head sums over its own D/H features only, so its standard deviation is
    √(D/H), and this is what you divide by.""")
wrong("matrices transposed", {f"@ {W}": f"@ {W}.mT" for W in ("W_q", "W_k", "W_v", "W_o")}).says("""
    You used the transposes of the matrices, because nn.Linear stores them that way. Here every matrix is used as
    it is: x @ W.""")
_CUT = "    q = split_heads(query"
_BY_RESHAPE = "    split_heads = lambda x, n: x.reshape(len(x), n, x.shape[1], -1)\n"
wrong("split by reshape alone", {_CUT: _BY_RESHAPE + _CUT}).says("""
    Your heads were cut with reshape or view alone, so that each of them mixes positions and features. Use your
    split_heads, which cuts the features and then exchanges two axes.""")
_MERGED = {"merge_heads(weights @ v)": "(weights @ v).reshape(query.shape)"}
wrong("merged by reshape alone", _MERGED).says("""
    Your weights are right, but the contexts were joined with reshape or view alone, so that a row mixes several
    positions. Use your merge_heads.""")
wrong("split and merged by reshape alone", {_CUT: _BY_RESHAPE + _CUT} | _MERGED).says("""
    You cut the heads and joined them again with reshape or view alone, so that each head mixes positions and features.
    Use your split_heads and merge_heads, which exchange the axes of positions and heads as well.""")
_BLOCKS = "torch.block_diag(*[torch.ones(len(W_q) // heads, len(W_q) // heads)] * heads)"
_FOR_ITSELF = f"    W_q, W_k, W_v = (W * {_BLOCKS} for W in (W_q, W_k, W_v))\n"
wrong("cut before the projection", {_CUT: _FOR_ITSELF + _CUT}).says("""
    You cut query, key and value into heads first and projected each part with its own block of W. Project the
    whole vector first and cut it then, because a head may use all D features.""")
wrong("mask without an axis for heads", {"mask[:, None]": "mask"}).says("""
    You used the mask (B, Tq, Tk) beside scores (B, H, Tq, Tk) as it is. torch aligns axes from the right, so that
    the batch axis of the mask meets the heads. Insert an axis behind the batch: mask[:, None].""")
wrong("mask with its axis behind the queries", {"mask[:, None]": "mask[:, :, None]"}).says("""
    You inserted the new axis of the mask behind the queries, (B, Tq, 1, Tk), so that queries meet heads. In the
    scores the heads stand behind the batch: mask[:, None].""")
_REPEATED = "mask.repeat(heads, 1, 1).unflatten(0, (len(q), heads))"
wrong("mask repeated in the wrong order", {"mask[:, None]": _REPEATED}).says("""
    You joined heads and batch into one axis, in which all heads of sentence 0 come first, but mask.repeat goes
    through all *sentences* first. Use repeat_interleave, or keep an axis for the heads.""")
