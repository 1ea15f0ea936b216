"""Who can know of whom: steps that wait for each other, and hops from one position to another, counted on the graph.

A layer is a boolean matrix ``reads (T, T)``, row i, column j: position i reads position j directly.
"""

import torch
from torch import Tensor

from attnbook.attention import causal_mask, window_mask


def chain(length: int) -> Tensor:
    """What a recurrent network reads: each state the one before, ``(length, length)`` bool.

    Raises ValueError if ``length`` is not positive.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    return torch.ones(length - 1, dtype=torch.bool).diag(-1) if length > 1 else torch.zeros(1, 1).bool()


def dilated(length: int, step: int) -> Tensor:
    """What a convolution of kernel 3 reads whose outer weights stand ``step`` positions away.

    Returns:
        ``(length, length)`` bool, ``True`` where \\|i − j\\| is 0 or ``step``.

    Raises:
        ValueError: if ``length`` or ``step`` is not positive.

    Source: van den Oord et al. 2016, section 2.1, with a kernel that looks to both sides.
    """
    if step < 1:
        raise ValueError(f"step must be at least 1, got {step}")
    return window_mask(length, step) & (~window_mask(length, step - 1) | window_mask(length, 0))


def hops(reads: Tensor) -> Tensor:
    """How many hops lead from position j to i: ``(T, T)`` whole numbers, 0 from a position to itself, −1 for no way.

    Args:
        reads: ``(T, T)`` bool; each hop may use any of its links. Between the layers of a stack a word may also stay
            where it is, so nothing is gained by waiting.

    Raises:
        TypeError: if ``reads`` is not boolean.
        ValueError: if it is not square.
    """
    if reads.dtype != torch.bool:
        raise TypeError(f"reads must be boolean (True = reads it), got {reads.dtype}")
    if reads.ndim != 2 or reads.shape[0] != reads.shape[1]:
        raise ValueError(f"reads must be square, (T, T), got {tuple(reads.shape)}")
    step = (reads | torch.eye(len(reads), dtype=torch.bool)).float()  # staying is allowed
    reached = torch.eye(len(reads), dtype=torch.bool)
    found = torch.where(reached, 0, -1)
    for count in range(1, len(reads)):
        further = (step @ reached.float()) > 0  # (T, T) @ (T, T): one hop more
        if torch.equal(further, reached):
            break
        found[further & ~reached] = count
        reached = further
    return found


def longest_path(reads: Tensor) -> int:
    """The most hops any position needs to know of any other that it can know of: Vaswani's "maximum path length"."""
    return int(hops(reads).max())


def sequential_steps(waits: Tensor) -> int:
    """How many steps must follow one another within a layer: one more than the longest chain of waiting positions.

    Args:
        waits: ``(T, T)`` bool, position i needs the *result* of position j in the same layer. All ``False``: one step.

    Raises:
        TypeError, ValueError: as :func:`hops`, and ValueError if two positions wait for each other.
    """
    hops(waits)  # checks
    done, steps = torch.zeros(len(waits), dtype=torch.bool), 0
    while not done.all():
        ready = ~(waits & ~done).any(dim=1) & ~done  # (T,): waits for nobody any more
        if not ready.any():
            raise ValueError("waits has a circle: some positions wait for each other")
        done, steps = done | ready, steps + 1
    return steps


def segments(length: int, segment: int, memory: int = 0) -> Tensor:
    """What a Transformer-XL reads: its own segment so far, and the ``memory`` positions before the segment.

    Returns:
        ``(length, length)`` bool. ``segments(length, segment)`` says where gradients flow, as the memory is detached.

    Raises:
        ValueError: if ``length`` or ``segment`` is not positive, or ``memory`` is negative.

    Source: Dai et al. 2019, section 3.2.
    """
    if segment < 1 or memory < 0:
        raise ValueError(f"segment must be at least 1 and memory at least 0, got {segment} and {memory}")
    positions = torch.arange(length)  # (T,)
    first = positions // segment * segment - memory  # (T,): the earliest position that each one reads
    return causal_mask(length) & (positions >= first[:, None])  # (T, T)


def reach(reads: Tensor, layers: int) -> Tensor:
    """Which positions each one can know of after a stack of ``layers``: ``(T, T)`` bool.

    Args:
        reads: ``(T, T)`` bool, what each layer reads; as of :func:`hops`, a word may also stay where it is.

    Raises:
        TypeError, ValueError: as :func:`hops`, and ValueError if ``layers`` is negative.
    """
    if layers < 0:
        raise ValueError(f"layers must be at least 0, got {layers}")
    needed = hops(reads)  # (T, T)
    return (needed >= 0) & (needed <= layers)
