"""Lab 11: attention in which several heads of the queries share one head of keys and values."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import weights_of_heads
from ..families.dot_product_attention import SCALED_OR_MASKED_WRONGLY


def grouped_query_attention(query, key, value, mask=None):
    """(B, H, Tq, D), (B, G, Tk, D), (B, G, Tk, Dv) -> context (B, H, Tq, Dv) and weights (B, H, Tq, Tk)."""
    q, sharing = query, query.shape[1] // key.shape[1]
    k = key.repeat_interleave(sharing, dim=1)  # (B, G, Tk, D) -> (B, H, Tk, D)
    v = value.repeat_interleave(sharing, dim=1)  # (B, G, Tk, Dv) -> (B, H, Tk, Dv)
    scores = q @ k.mT / q.shape[-1] ** 0.5  # (B, H, Tq, Tk)
    closed = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask[:, None]  # (B, 1, Tq, Tk)
    weights = scores.masked_fill(closed, float("-inf")).softmax(-1).masked_fill(closed, 0.0)
    return weights @ v, weights  # (B, H, Tq, Dv), (B, H, Tq, Tk)


def _inputs(draw, batch, heads, groups, queries, keys, dim, dim_v):
    shapes = (batch, heads, queries, dim), (batch, groups, keys, dim), (batch, groups, keys, dim_v)
    return tuple(draw.normal(*shape) for shape in shapes)


def _groups(draw):
    if draw.compact:  # only to be shown
        for mask in (None, draw.mask(2, 1, 2, empty_rows=False)[1:], torch.zeros(1, 1, 2).bool()):
            yield *_inputs(draw, 1, 2, 1, 1, 2, 1, 1), mask
        yield *_inputs(draw, 1, 4, 2, 1, 2, 1, 1), None
        return
    batch, queries, keys, dim, dim_v = draw.sizes(5)
    sizes = queries, keys, dim, dim_v
    yield *_inputs(draw, batch, 6, 2, *sizes), draw.mask(batch, queries, keys)
    yield *_inputs(draw, batch, 4, 2, *sizes), None
    yield *_inputs(draw, 2, 1, 1, 2, 3, 2, 2), draw.mask(2, 2, 3)  # one head
    yield *_inputs(draw, batch, 6, 3, *sizes), draw.mask(batch, 1, keys)  # padding: one row for all queries
    yield *_inputs(draw, 2, 3, 3, *sizes), None  # as many heads of keys as of queries
    yield *_inputs(draw, 1, 4, 1, *sizes), draw.mask(1, queries, keys)  # one for all
    yield *_inputs(draw, 4, 4, 2, 3, 3, 4, 4), draw.mask(4, 3, 3)  # B = H: a mask on the wrong axis gives values here
    yield *_inputs(draw, 2, 4, 2, 1, 4, 3, 3), draw.mask(2, 1, 4)  # one query: a decoder with its cache
    if draw.number == 0:
        query, key, value = _inputs(draw, 2, 4, 2, 3, 3, 2, 2)
        yield 1e5 * query, key, value, torch.ones(2, 3, 3, dtype=torch.bool).tril()  # what is closed may score highest


def _first_group(result, query, key, value, mask):
    sharing = query.shape[1] // key.shape[1]
    scores = query[:, :sharing] @ key[:, :1].mT / query.shape[-1] ** 0.5
    return mask is not None or torch.allclose(result[1][:, :sharing], scores.softmax(-1))


def _from_weights(result, query, key, value, mask):
    return torch.allclose(result[0], result[1] @ value.repeat_interleave(query.shape[1] // key.shape[1], 1))


GROUPED_QUERY_ATTENTION = Exercise(
    grouped_query_attention,
    cases=_groups,
    returns=("context", "weights"),
    tolerance=1e-7,
    about=About(points=4, minutes=22, difficulty=4, read_again=("20_attention_today", "Share keys and values")),
)

must = GROUPED_QUERY_ATTENTION.properties
must += weights_of_heads()
must("neighbours share", _first_group).says("""
    The first H/G heads of the queries must all use head 0 of the keys, and your weights of these heads are not
    softmax(q k / √D) with it. Check which head of the keys they use, and the scores.""")
must("the context follows from the weights", _from_weights).says("""
    The context doesn't follow from your weights. It must be the weights of each head times the values of the head that
    it shares.""")

_KEYS, _VALUES = "key.repeat_interleave(sharing, dim=1)", "value.repeat_interleave(sharing, dim=1)"

wrong = GROUPED_QUERY_ATTENTION.mistakes
wrong += SCALED_OR_MASKED_WRONGLY
wrong(
    "repeat, not repeat_interleave", {_KEYS: "key.repeat(1, sharing, 1, 1)", _VALUES: "value.repeat(1, sharing, 1, 1)"}
).says("""
    You repeated the whole list of heads, 0, 1, 0, 1, so that neighbouring heads use different keys. Head h of the
    queries uses head h // (H // G) of the keys and values: 0, 0, 1, 1, which `repeat_interleave` makes.""")
_H_OVER_G = "[:, torch.arange(query.shape[1]) // key.shape[1]]"
wrong("h // G", {_KEYS: f"key{_H_OVER_G}", _VALUES: f"value{_H_OVER_G}"}).says("""
    You divided the number of the head by G. There are H/G heads of the queries in each group, so head h belongs to
    group h // (H // G).""")
wrong("only the keys in the right order", {_VALUES: "value.repeat(1, sharing, 1, 1)"}).says("""
    Your keys are shared as they must be, but the values are in another order, 0, 1, 0, 1. Use `repeat_interleave` for
    both, because a key and its value belong to the same head.""")
wrong(
    "head 0 for all", {_KEYS: "key[:, :1].repeat_interleave(query.shape[1], dim=1)", _VALUES: "value[:, :1]"}
).says("""
    You used the first head of keys and values for all heads of the queries. This is multi-query attention, which is
    right for G = 1 only. With G heads, each group of H/G heads has its own.""")
wrong("the mean of the heads", {_KEYS: "key.mean(1, keepdim=True)", _VALUES: "value.mean(1, keepdim=True)"}).says("""
    You averaged the heads of keys and values. They are not to be mixed: each group of H/G heads of the queries uses
    one of them.""")
_MEAN = "q = query.unflatten(1, (key.shape[1], -1)).mean(2)"
wrong(
    "queries averaged", {"q, sharing = query, query.shape[1] // key.shape[1]": _MEAN, _KEYS: "key", _VALUES: "value"}
).says("""
    You averaged the queries of each group, so that only G heads are left. All H heads keep their own queries and
    weights; only keys and values are shared.""")
_REPEATED = f"{_MEAN}.repeat_interleave(query.shape[1] // key.shape[1], 1)\n    sharing = q.shape[1] // key.shape[1]"
wrong("queries averaged, then repeated", {"q, sharing = query, query.shape[1] // key.shape[1]": _REPEATED}).says("""
    You averaged the queries of each group, so that all its heads have the same weights. All H heads keep their own
    queries; only keys and values are shared.""")
wrong("mask without an axis for heads", {"mask[:, None]": "mask"}).says("""
    You used the mask (B, Tq, Tk) beside scores (B, H, Tq, Tk) as it is. torch aligns axes from the right, so that the
    batch axis of the mask meets the heads. Insert an axis behind the batch: mask[:, None].""")
wrong("mask with its axis behind the queries", {"mask[:, None]": "mask[:, :, None]"}).says("""
    You inserted the new axis of the mask behind the queries, (B, Tq, 1, Tk), so that queries meet heads. In the scores
    the heads stand behind the batch: mask[:, None].""")
_CAUSAL = "    closed = closed | torch.ones_like(scores, dtype=torch.bool).triu(1)\n    weights = scores"
wrong("a causal mask added", {"    weights = scores": _CAUSAL}).says("""
    You closed the keys behind each query, too. Your function attends as `mask` says and adds none of its own: the model
    that writes passes a causal mask, and the model that fills gaps must see both sides.""")
wrong("heads merged", {"return weights @ v,": "return (weights @ v).transpose(1, 2).flatten(2),"}).says("""
    You merged the heads of the context to (B, Tq, H · Dv). Here the context keeps its heads, (B, H, Tq, Dv); the layer
    around your function merges them.""")
