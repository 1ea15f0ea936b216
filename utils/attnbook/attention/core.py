"""The one interface of the book: ``(query, key, value, mask) -> (context, weights)``."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention.scores import ScaledDot, same_features, scaled_dot


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights: each row is positive and sums to one over the places that the mask allows.

    Args:
        scores: ``(..., Tk)`` real numbers, any leading axes.
        mask: bool, broadcastable to ``scores``; ``True`` = may attend. ``None`` allows everything.

    Returns:
        ``(..., Tk)`` weights; exactly 0 where the mask is ``False``. A row that may attend to nothing is all zeros.

    Raises:
        TypeError: if the mask is not boolean.
        ValueError: if the mask does not fit the scores, or there are no places to attend to.

    Source: Bahdanau et al. 2015, equation 6 (without the mask).
    """
    _check_places(scores)
    if mask is None:
        return scores.softmax(dim=-1)
    _check_mask(mask, scores)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    # A row of -inf alone gives 0/0. masked_fill also keeps NaN out of the gradient of the other rows.
    return weights.masked_fill(~mask, 0.0)


def masked_log_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`masked_softmax`: log-probabilities in nats, −inf where the mask is ``False``.

    Arguments and errors as there. Not its ``log()``: that has the gradient 0 / 0 at a masked place, and −inf at an
    allowed one whose weight is too small for its number type.
    """
    _check_places(scores)
    if mask is None:
        return scores.log_softmax(dim=-1)
    _check_mask(mask, scores)
    log_weights = scores.masked_fill(~mask, float("-inf")).log_softmax(dim=-1)
    return log_weights.masked_fill(~mask, float("-inf"))  # a row without any place came out as NaN


def _check_places(scores: Tensor) -> None:
    if scores.shape[-1] == 0:
        raise ValueError("scores has no places to attend to: its last axis has length 0")


def _check_mask(mask: Tensor, scores: Tensor) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}; use mask.bool()")
    try:
        fits = torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)} but scores have {tuple(scores.shape)}; "
            "a padding mask (B, Tk) needs an axis for the queries: mask[:, None, :]"
        )


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score: Callable[[Tensor, Tensor], Tensor] = scaled_dot,
    mask: Tensor | None = None,
    fused: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Score the query against the keys, normalise, take the weighted sum of the values.

    Args:
        query: ``(B, Tq, Dq)``, or ``(B, H, Tq, Dq)`` for H heads side by side; then so are all the others.
        key: ``(B, Tk, Dk)``.
        value: ``(B, Tk, Dv)``, one value a key.
        score: any callable ``(query, key) -> (B, Tq, Tk)``; see :mod:`attnbook.attention.scores`.
        mask: bool, broadcastable to ``(B, Tq, Tk)``, ``True`` = may attend.
        fused: use torch's fused kernel. Same context, less memory, but no weights to look at (``None``).

    Returns:
        context ``(B, Tq, Dv)`` and weights ``(B, Tq, Tk)``.

    Raises:
        ValueError: if the shapes do not fit together, or ``fused`` is asked for with another score than ScaledDot.
        TypeError: if the mask is not boolean.

    Source: Bahdanau et al. 2015, equations 5 and 6; Vaswani et al. 2017, equation 1, for the scaled dot score.
    """
    _check_shapes(query, key, value)
    if fused:
        return _attend_fused(query, key, value, score, mask), None
    scores = score(query, key)  # (B, Tq, Tk)
    weights = masked_softmax(scores, mask)  # (B, Tq, Tk)
    context = weights @ value  # (B, Tq, Tk) @ (B, Tk, Dv) -> (B, Tq, Dv)
    return context, weights


def _attend_fused(query: Tensor, key: Tensor, value: Tensor, score: Callable, mask: Tensor | None) -> Tensor:
    if not isinstance(score, ScaledDot):
        raise ValueError(f"fused=True knows only the scaled dot score, got {score}; leave fused out")
    same_features("dot", query, key)
    if mask is not None:
        shape = (*query.shape[:-1], key.shape[-2])  # (B, Tq, Tk) or (B, H, Tq, Tk)
        _check_mask(mask, query.new_empty(1).expand(shape))
        mask = mask.expand(shape)
    if query.ndim == 3:  # torch takes its fast path only with an axis of heads (4-D), so we lend it one head
        parts = [part if part is None else part[:, None] for part in (query, key, value, mask)]
        return _attend_fused(*parts[:3], score, parts[3])[:, 0]  # (B, 1, Tq, Dv) -> (B, Tq, Dv)
    query, key = score.turn(query, key)
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)  # (B, H, Tq, Dv)
    # A query that may attend to nothing has the context zero; torch's kernels do not agree about it.
    return context if mask is None else context.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim not in (3, 4):
            raise ValueError(f"{name} must have 3 axes (B, T, D), or 4 with heads, got shape {tuple(tensor.shape)}")
        if len(tensor) == 0:
            raise ValueError(f"{name} is an empty batch: shape {tuple(tensor.shape)}")
        if len(tensor) != len(query):
            raise ValueError(f"{name} has a batch of {len(tensor)} but query has {len(query)}")
        if tensor.ndim != query.ndim:
            raise ValueError(f"{name} has {tensor.ndim} axes but query has {query.ndim}; heads are for all or none")
        if tensor.shape[1:-2] != query.shape[1:-2]:
            raise ValueError(f"{name} has {tensor.shape[1]} heads but query has {query.shape[1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"value has {value.shape[-2]} places but key has {key.shape[-2]}; there is one value a key")
    if key.shape[-2] == 0:
        raise ValueError("key has no places to attend to: its axis Tk has length 0")


class Attention(nn.Module):
    """An attention layer: :func:`attend` with a score that is kept, and trained, as a part of the layer.

    Args:
        score: one of the modules of :mod:`attnbook.attention.scores`.
        fused: see :func:`attend`.
    """

    def __init__(self, score: nn.Module, fused: bool = False) -> None:
        super().__init__()
        self.score = score
        self.fused = fused

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Return context ``(B, Tq, Dv)`` and weights ``(B, Tq, Tk)``; arguments as in :func:`attend`."""
        return attend(query, key, value, score=self.score, mask=mask, fused=self.fused)
