"""Restricted attention that costs what it promises: each position compares itself with its neighbours, and no other."""

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import check_everywhere, check_mask_of_keys, check_radius, check_same_length
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


def sliding_window_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, radius: int
) -> tuple[Tensor, Tensor]:
    """Scaled dot attention of each position to those at most ``radius`` away, in O(T · radius · D).

    The same context as ``attend`` with ``window_mask(T, radius)``, without the T × T scores.

    Args:
        query, key: ``(B, T, D)``. value: ``(B, T, Dv)``. All have the same positions.
        mask: bool, ``(B, 1, T)``, which keys may be attended to at all; padding may not.
        radius: how far a position sees to either side.

    Returns:
        context ``(B, T, Dv)`` and weights ``(B, T, 2 · radius + 1)``: column w belongs to the
        position ``w − radius`` further on.
        Columns beyond the ends of the sequence are zero.

    Raises:
        ValueError: if the shapes do not fit together, or ``radius`` is negative. TypeError: if the mask is not boolean.

    Source: Vaswani et al. 2017, section 4 ("restricted").
    """
    check_same_length(query, key, value)
    keys, values = unfold_windows(key, radius).mT, unfold_windows(value, radius).mT  # (B, T, 2r + 1, D) each
    allowed = inside(query.shape[1], radius, query.device)[None, :, None]  # (1, T, 1, 2r + 1)
    if mask is not None:
        check_mask_of_keys(mask, key)
        allowed = allowed & unfold_windows(mask.mT, radius)  # (B, T, 1, 2r + 1)
    context, weights = attend(query[:, :, None], keys, values, allowed)  # one query per window
    return context[:, :, 0], weights[:, :, 0]  # (B, T, 1, Dv) -> (B, T, Dv), (B, T, 1, 2r + 1) -> (B, T, 2r + 1)


def neighbouring_chunks(x: Tensor, size: int, causal: bool) -> Tensor:
    """Cut positions into chunks and lay beside each the one before it and, unless causal, the one after it.

    Returns:
        ``(B, N, 2 · size or 3 · size, D)`` for ``x (B, T, D)`` and N = ⌈T / size⌉ chunks; zeros beyond the ends.
    """
    missing = -x.shape[1] % size  # until the last chunk is whole
    width = size * (2 if causal else 3)
    padded = F.pad(x, (0, 0, size, missing + (0 if causal else size)))
    return padded.unfold(1, width, size).mT  # (B, N, D, width) -> (B, N, width, D)


def with_neighbours(x: Tensor, size: int, causal: bool, everywhere: Tensor) -> Tensor:
    """:func:`neighbouring_chunks` of ``x (B, T, D)``, and in each the positions ``everywhere (G,)`` after them.

    Returns:
        ``(B, N, W + G, D)``, with W = 2 or 3 · size.
    """
    chunks = neighbouring_chunks(x, size, causal)  # (B, N, W, D)
    shared = x[:, None, everywhere].expand(-1, chunks.shape[1], -1, -1)  # (B, 1, G, D) -> (B, N, G, D), a view
    return torch.cat([chunks, shared], dim=2)


def banded_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *,
    radius: int, causal: bool = False, everywhere: Tensor | None = None,
) -> tuple[Tensor, None]:  # fmt: skip
    """Scaled dot attention in a window, chunk by chunk: time and memory O(T · radius), in training too.

    The same context as ``attend`` with ``window_mask(T, radius)``; causal: ``& causal_mask(T)``. A chunk of ``radius``
    queries shares its keys, so there are 3 copies of keys and values; for the gradients of
    :func:`sliding_window_attention` there are 2 · radius + 1.

    Args:
        query, key: ``(B, T, D)``. value: ``(B, T, Dv)``.
        mask: bool, ``(B, 1, T)``, which keys may be attended to at all; padding may not.
        radius: how far a position attends to either side.
        causal: to its own position and earlier ones only.
        everywhere: ``(G,)`` positions to which every query may attend beside its window: attention sinks
            (``torch.arange(4)``: ``| sink_mask(T, 4)``), or the keys of global positions.

    Returns:
        context ``(B, T, Dv)``, and no weights (``None``).

    Raises:
        TypeError: if ``everywhere`` are not whole numbers, or the mask is not boolean.
        ValueError: if the shapes do not fit together, or a position or ``radius`` is out of range.

    Source: Beltagy et al. 2020, section 3.1 and appendix A (chunks); Xiao et al. 2024, section 3.2 (sinks).
    """
    check_same_length(query, key, value)
    check_radius(radius)
    everywhere = torch.arange(0, device=query.device) if everywhere is None else everywhere
    check_everywhere(everywhere, query.shape[1])
    size = max(radius, 1)
    queries = F.pad(query, (0, 0, 0, -query.shape[1] % size)).unflatten(1, (-1, size))  # (B, N, S, D)
    keys = with_neighbours(key, size, causal, everywhere)  # (B, N, W + G, D)
    values = with_neighbours(value, size, causal, everywhere)  # (B, N, W + G, Dv)
    allowed = band(query.shape[1], radius, causal, everywhere)[None]  # (1, N, S, W + G)
    if mask is not None:
        check_mask_of_keys(mask, key)
        allowed = allowed & with_neighbours(mask.mT, size, causal, everywhere).mT  # (B, N, 1, W + G)
    context, _ = attend(queries, keys, values, allowed)  # (B, N, S, Dv)
    return context.flatten(1, 2)[:, : query.shape[1]], None  # (B, N · S, Dv) -> (B, T, Dv)


def band(length: int, radius: int, causal: bool, everywhere: Tensor) -> Tensor:
    """Which columns of its chunk a query of :func:`banded_attention` may attend to: ``(N, S, W + G)`` bool.

    A position of ``everywhere`` has a column of its own, so it is closed within the window.
    """
    size = max(radius, 1)
    at = torch.arange(-(-length // size) * size, device=everywhere.device).unflatten(0, (-1, size))  # (N, S)
    offsets = torch.arange(-size, size * (1 if causal else 2), device=everywhere.device)  # (W,)
    keys_at = at[:, :1] + offsets  # (N, W)
    real = (keys_at >= 0) & (keys_at < length) & ~torch.isin(keys_at, everywhere)  # (N, W)
    near = (keys_at[:, None] - at[..., None]).abs() <= radius  # (N, S, W)
    keys_at = torch.cat([keys_at, everywhere.expand(len(at), -1)], dim=1)  # (N, W + G)
    allowed = torch.cat([real[:, None] & near, torch.ones_like(near[..., :1]).expand(-1, -1, len(everywhere))], dim=-1)
    return allowed & (keys_at[:, None] <= at[..., None]) if causal else allowed


def global_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, radius: int, everywhere: Tensor
) -> tuple[Tensor, None]:
    """A window for all, and some global positions that attend to all and to which all attend.

    The same context as ``attend`` with ``window_mask(T, radius) | global_mask(T, everywhere)``, in memory O(T).
    Arguments, returns and errors as of :func:`banded_attention`; global positions here share their projections with
    the others.

    Source: Beltagy et al. 2020, section 3.1 ("Global Attention").
    """
    context, _ = banded_attention(query, key, value, mask, radius=radius, everywhere=everywhere)  # (B, T, Dv)
    if len(everywhere) == 0:
        return context, None
    own, _ = attend(query[:, everywhere], key, value, mask)  # (B, G, Dv): these rows see all keys
    return context.index_copy(1, everywhere, own), None
