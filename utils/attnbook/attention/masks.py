"""Masks: boolean tensors that say who may attend to whom (``True`` = may attend)."""

from functools import lru_cache

import torch
from torch import Tensor

from attnbook.attention.arguments import check_everywhere, check_length, check_lengths, check_radius, check_sinks

LONGEST_KEPT = 4096  # positions of a mask that is kept


def padding_mask(lengths: Tensor, max_length: int | None = None) -> Tensor:
    """Mark the real tokens of each sentence in a padded batch.

    Args:
        lengths: ``(B,)`` whole numbers, how many real tokens each sentence has.
        max_length: width of the mask; the longest sentence when left out.

    Returns:
        ``(B, max_length)`` bool, ``True`` at the first ``lengths[b]`` positions. For :func:`attend` add an axis for
        the queries: ``padding_mask(lengths)[:, None, :]``.

    Raises:
        TypeError: if ``lengths`` are not whole numbers.
        ValueError: if ``lengths`` is empty, has more than one axis, or, on the CPU, a length lies outside
            ``0..max_length``.
    """
    check_lengths(lengths, max_length)
    max_length = int(lengths.max()) if max_length is None else max_length
    positions = torch.arange(max_length, device=lengths.device)  # (Tk,)
    return positions < lengths[:, None]  # (B, Tk)


def causal_mask(length: int, device: torch.device | str | None = None, start: int = 0) -> Tensor:
    """Let each position attend to itself and to what came before it, never to what comes after.

    Args:
        start: the first query; those before it are left out, for a decoder that has read them already.

    Returns:
        ``(length − start, length)`` bool, row = query, column = key, ``True`` where key <= query.

    Raises:
        ValueError: if ``length`` is not positive.

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    check_length(length)
    positions = torch.arange(length, device=device)  # (T,)
    return positions <= positions[start:, None]  # (T − start, T)


@lru_cache(maxsize=2)
@torch.inference_mode(False)  # what is kept must be fit to be trained with later
def _kept(length: int, device: torch.device) -> Tensor:
    return causal_mask(length, device)


def kept_causal_mask(length: int, device: torch.device) -> Tensor:
    """The same :func:`causal_mask` each time, which nobody may write into: it is soon seen to be equal to itself.

    One of more than 4,096 positions is made anew, because it would keep 16 MB and more for as long as Python runs.
    """
    return _kept(length, device) if length <= LONGEST_KEPT else causal_mask(length, device)


def window_mask(length: int, radius: int, device: torch.device | str | None = None, start: int = 0) -> Tensor:
    """Let each position attend to its neighbours only: restricted attention.

    Args:
        radius: how far a position sees to either side. start: as in :func:`causal_mask`.

    Returns:
        ``(length − start, length)`` bool, ``True`` where \\|query − key\\| <= radius.

    Raises:
        ValueError: if ``length`` is not positive, or ``radius`` is negative.

    Source: Vaswani et al. 2017, section 4 ("restricted").
    """
    check_length(length)
    check_radius(radius)
    positions = torch.arange(length, device=device)  # (T,)
    return (positions[start:, None] - positions).abs() <= radius  # (T − start, T)


def sink_mask(length: int, sinks: int, device: torch.device | str | None = None, start: int = 0) -> Tensor:
    """Let each position attend to the first ``sinks`` positions, however far back they are: attention sinks.

    Joined with others: ``causal_mask(T) & (window_mask(T, radius) | sink_mask(T, 4))``.

    Args:
        start: as in :func:`causal_mask`.

    Returns:
        ``(length − start, length)`` bool, ``True`` where key < sinks.

    Raises:
        ValueError: if ``length`` is not positive, or ``sinks`` is negative.

    Source: Xiao et al. 2024, section 3.2.
    """
    check_length(length)
    check_sinks(sinks)
    positions = torch.arange(length, device=device)  # (T,)
    return (positions < sinks).expand(length - start, length)  # (T − start, T)


def global_mask(length: int, everywhere: Tensor) -> Tensor:
    """Let some positions attend to all, and all positions attend to them: global attention.

    Joined with a window: ``window_mask(T, radius) | global_mask(T, everywhere)``.

    Args:
        everywhere: ``(G,)`` whole numbers, the global positions.

    Returns:
        ``(length, length)`` bool, ``True`` where the query or the key is one of them.

    Raises:
        TypeError: if ``everywhere`` are not whole numbers.
        ValueError: if ``length`` is not positive, or, on the CPU, a global position lies outside or comes twice.

    Source: Beltagy et al. 2020, section 3.1 ("Global Attention").
    """
    check_length(length)
    check_everywhere(everywhere, length)
    chosen = torch.isin(torch.arange(length, device=everywhere.device), everywhere)  # (T,)
    return chosen[:, None] | chosen  # (T, T)
