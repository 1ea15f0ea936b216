"""Torch's fused kernel behind the interface of :func:`~attnbook.attention.core.attend`: the same context, faster."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import check_bias, check_mask, check_same_features


def attend_fused(
    query: Tensor, key: Tensor, value: Tensor, score: Callable, mask: Tensor | None, bias: Tensor | None
) -> Tensor:
    """The context ``(B, Tq, Dv)`` of scaled dot attention, without ever holding all its weights.

    Arguments as of :func:`~attnbook.attention.core.attend`. A query that may attend to nothing has the context zero.

    Raises:
        ValueError: for another score, or shapes that don't fit. TypeError: if the mask is not boolean.
    """
    if not getattr(score, "has_fused_kernel", False):
        raise ValueError(f"fused=True knows only the scaled dot score, got {score}; leave fused out")
    check_same_features("dot", query, key)
    scores = query.new_empty(1).expand(*query.shape[:-1], key.shape[-2])  # their shape alone: (B, Tq, Tk)
    check_mask(mask, scores)
    check_bias(bias, scores)
    context = _kernel(query, key, value, _added_to_scores(mask, bias, scores))
    if mask is None:
        return context
    # torch's kernels do not agree about a query that may attend to nothing
    return context.masked_fill(~mask.expand(scores.shape).any(dim=-1, keepdim=True), 0.0)


def _added_to_scores(mask: Tensor | None, bias: Tensor | None, scores: Tensor) -> Tensor | None:
    """What torch's kernel takes for mask and bias: one of them, or the bias with −inf where the mask is closed."""
    if bias is None or mask is None:
        only = mask if bias is None else bias
        return None if only is None else only.expand(scores.shape)
    return bias.expand(scores.shape).masked_fill(~mask, float("-inf"))


def _kernel(query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
    """``F.scaled_dot_product_attention``; it takes its fast path only with an axis of heads, so we lend it one."""
    if query.ndim == 4:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=added)
    query, key, value = query[:, None], key[:, None], value[:, None]  # (B, 1, T, D)
    return _kernel(query, key, value, None if added is None else added[:, None])[:, 0]
