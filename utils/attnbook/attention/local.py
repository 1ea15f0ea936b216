"""Restricted attention that costs what it promises: each position compares itself with its neighbours, and no other."""

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import check_radius
from attnbook.attention.core import attend


def unfold_windows(x: Tensor, radius: int) -> Tensor:
    """Lay beside each position the positions around it: ``(B, T, D)`` -> ``(B, T, D, 2 · radius + 1)``.

    Beyond the ends stand zeros. Nothing is copied but the ends: the windows are views of one another.

    Raises:
        ValueError: if ``x`` has not three axes, or ``radius`` is negative.
    """
    if x.ndim != 3:
        raise ValueError(f"x must have 3 axes (B, T, D), got shape {tuple(x.shape)}")
    check_radius(radius)
    return F.pad(x, (0, 0, radius, radius)).unfold(1, 2 * radius + 1, 1)  # (B, T + 2r, D) -> (B, T, D, 2r + 1)


def inside(length: int, radius: int, device: torch.device | str | None = None) -> Tensor:
    """``(length, 2 · radius + 1)`` bool: which positions of each window there are; a sequence has two ends."""
    offsets = torch.arange(-radius, radius + 1, device=device)  # (2r + 1,)
    positions = torch.arange(length, device=device)[:, None] + offsets  # (T, 2r + 1)
    return (positions >= 0) & (positions < length)


def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, radius: int) -> tuple[Tensor, Tensor]:
    """Scaled dot attention of each position to those at most ``radius`` away, in O(T · radius · D).

    The same context as ``attend`` with ``window_mask(T, radius)``, without the T × T scores.

    Args:
        query, key: ``(B, T, D)``. value: ``(B, T, Dv)``. All have the same places.
        radius: how far a position sees to either side.

    Returns:
        context ``(B, T, Dv)`` and weights ``(B, T, 2 · radius + 1)``: column w belongs to the
        position ``w − radius`` further on.
        Columns beyond the ends of the sequence are zero.

    Raises:
        ValueError: if the shapes do not fit together, or ``radius`` is negative.

    Source: Vaswani et al. 2017, section 4 ("restricted").
    """
    if not query.shape[:-1] == key.shape[:-1] == value.shape[:-1]:
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ValueError(f"query, key and value must have the same B and T, got {shapes}")
    keys, values = unfold_windows(key, radius).mT, unfold_windows(value, radius).mT  # (B, T, 2r + 1, D) each
    allowed = inside(query.shape[1], radius, query.device)[:, None]  # (T, 1, 2r + 1)
    context, weights = attend(query[:, :, None], keys, values, mask=allowed)  # one query per window
    return context[:, :, 0], weights[:, :, 0]  # (B, T, 1, Dv) -> (B, T, Dv), (B, T, 1, 2r + 1) -> (B, T, 2r + 1)
