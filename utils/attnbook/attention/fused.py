"""Torch's fused kernel behind the interface of :func:`~attnbook.attention.core.attend`: the same context, faster."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import check_bias, check_mask, check_same_features, for_all_heads, like_scores
from attnbook.attention.masks import kept_causal_mask
from attnbook.device import on_cpu

QUERIES = 64  # in a block of causal attention
KEYS = 512  # so many are scored at once by torch's kernel on a CPU, those behind a query as well


def attend_fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, score: Callable, bias: Tensor | None
) -> tuple[Tensor, None]:
    """The context ``(B, Tq, Dv)`` of scaled dot attention, without ever holding all its weights: these are ``None``.

    Arguments as of :func:`~attnbook.attention.core.attend`. A query that may attend to nothing has the context zero.
    Mask and bias reach the kernel in the shape in which they come: expanded to ``(B, H, Tq, Tk)`` they would take as
    much memory as the weights.

    Raises:
        ValueError: for another score, or shapes that don't fit. TypeError: if the mask is not boolean.
    """
    if not getattr(score, "has_fused_kernel", False):
        raise ValueError(f"fused=True knows only the scaled dot score, got {score}; leave fused out")
    check_same_features("dot", query, key)
    if mask is None and bias is None:
        return _kernel(query, key, value, None), None
    scores = like_scores(query, key)  # (B, Tq, Tk)
    mask = for_all_heads(mask, query)
    check_mask(mask, scores)
    check_bias(bias, scores)
    if mask is not None and bias is None and is_causal(mask, scores):
        return _causal(query, key, value), None
    added = _added_to_scores(mask, bias, query.dtype)
    # torch's kernels do not agree about a query that may attend to nothing, so none sees one
    if added.dtype == torch.bool:
        empty = ~added.any(dim=-1, keepdim=True)  # (..., Tq or 1, 1)
        added = added | empty
    else:
        empty = added.amax(dim=-1, keepdim=True).isneginf()
        added = added.masked_fill(empty, 0.0)
    return _kernel(query, key, value, added).masked_fill(empty, 0.0), None


def is_causal(mask: Tensor, scores: Tensor) -> bool:
    """Whether ``mask`` is :func:`~attnbook.attention.masks.causal_mask`, for which kernels need no mask at all.

    It takes a look at the numbers; where that would mean to wait (:func:`~attnbook.device.on_cpu`), the answer is
    ``False``, and the mask is handed over.
    """
    queries, keys = scores.shape[-2:]
    if not on_cpu(mask) or mask.shape[-2:] != (keys, keys) or mask.numel() != keys**2 or queries != keys:
        return False
    return torch.equal(mask.reshape(keys, keys), kept_causal_mask(keys, mask.device))


def _causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The context of queries that see no later key: block after block, each without the keys that none of it may see.

    Of two :data:`KEYS` on the kernel leaves out most of them by itself. A gradient has to be put together from the
    blocks again, so for that they are not worth it.
    """
    length = query.shape[-2]
    if not QUERIES < length < 2 * KEYS or torch.is_grad_enabled():
        return _kernel(query, key, value, None, causal=True)
    mask = kept_causal_mask(length, query.device)
    ends = [min(start + QUERIES, length) for start in range(0, length, QUERIES)]
    parts = [
        _kernel(part, key[..., :end, :], value[..., :end, :], mask[end - part.shape[-2] : end, :end])
        for part, end in zip(query.split(QUERIES, dim=-2), ends, strict=True)
    ]
    return torch.cat(parts, dim=-2)


def _added_to_scores(mask: Tensor | None, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    """What torch's kernel takes for mask and bias: one of them, or the bias with −inf where the mask is closed.

    A wider bias may lie beyond the range of half precision. A softmax does not change when the largest number of a row
    is subtracted, so that is done before the bias is narrowed.
    """
    if bias is None:
        return mask  # type: ignore[return-value]  # without either nothing is added, and nobody asks
    added = bias if mask is None else torch.where(mask, bias, float("-inf"))
    if dtype in (torch.float16, torch.bfloat16) and bias.dtype != dtype:
        largest = added.detach().amax(dim=-1, keepdim=True)  # (..., Tq or 1, 1)
        added = added - largest.masked_fill(~largest.isfinite(), 0.0)  # a row of −inf alone stays one
    return added.to(dtype)


def _kernel(query: Tensor, key: Tensor, value: Tensor, added: Tensor | None, causal: bool = False) -> Tensor:
    """``F.scaled_dot_product_attention``; it takes its fast path only with an axis of heads, so we lend it one."""
    if query.ndim == 4:
        added = None if added is None else added[(None,) * (4 - added.ndim)]
        return F.scaled_dot_product_attention(query, key, value, attn_mask=added, is_causal=causal)
    query, key, value = query[:, None], key[:, None], value[:, None]  # (B, 1, T, D)
    return _kernel(query, key, value, added if added is None or added.ndim < 3 else added[:, None], causal)[:, 0]
