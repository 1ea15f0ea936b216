"""How long a piece of work takes: the processor, or by the clock."""

import time
from collections.abc import Callable
from typing import Any


def wall_seconds(work: Callable, *arguments) -> float:
    """Seconds of one call by the clock: for calls that take turns, so that a busy machine slows all alike."""
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


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
