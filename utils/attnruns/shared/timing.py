"""How long a piece of work takes: the processor, or by the clock."""

import time
from collections.abc import Callable
from typing import Any

import torch


def wall_seconds(work: Callable, *arguments, device: torch.device | str = "cpu") -> float:
    """Seconds of one call by the clock: for calls that take turns, so that a busy machine slows all alike.

    Args:
        device: where it computes. A GPU works on after a call has returned; so before the clock is read, it is waited
            for, at the beginning and at the end.
    """
    start = _clock(device)
    work(*arguments)
    return _clock(device) - start


def shortest_wall_seconds(repeats: int, work: Callable, *arguments, device: torch.device | str = "cpu") -> float:
    """:func:`wall_seconds` of the fastest of ``repeats`` calls; one more comes first, to warm up."""
    return min([wall_seconds(work, *arguments, device=device) for _ in range(repeats + 1)][1:])


def card_name(device: torch.device) -> str | None:
    """What a graphics card calls itself, such as ``"NVIDIA H100 80GB HBM3"``; None for every other device."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None


def processor_seconds(work: Callable, *arguments) -> float:
    """Seconds of one call that this process had of the processor: another program that runs meanwhile does not count.

    One thread is meant: those of several add up.
    """
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


CLOCKS: dict[str, Callable[..., float]] = {"wall": wall_seconds, "processor": processor_seconds}


def _clock(device: torch.device | str) -> float:
    kind = torch.device(device).type
    if kind == "cuda":
        torch.cuda.synchronize(device)
    elif kind == "mps":
        torch.mps.synchronize()
    return time.perf_counter()


def shortest_time(repeats: int, work: Callable, *arguments) -> tuple[float, Any]:
    """Call ``work(*arguments)`` so many times; return the seconds of the fastest call, and what the last returned.

    Seconds of this process, not of the clock: another program must not count. And the fastest, since whatever else
    happens on a machine only makes a call slower. One thread is meant: those of several add up.

    Raises:
        ValueError: if ``repeats`` is below 1.
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    times, out = [], None
    for _ in range(repeats):
        start = time.process_time()
        out = work(*arguments)
        times.append(time.process_time() - start)
    return min(times), out
