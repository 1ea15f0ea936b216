"""How long something may take, in CPU seconds of a machine at its ease: a busy neighbour makes a core half as fast.

On the machine where this was written the same work took 2.0 ms of CPU time in one minute and 3.4 ms in the next, with
nothing else running, and a check 1.1 s in one run and 2.1 s in the next, so that one measurement in plain seconds
measures the machine. What else runs only adds, so the least of several is nearest to what the work takes (as the
documentation of `timeit` says).
"""

import time
from collections.abc import Callable

import torch

YARDSTICK = 0.002  # CPU seconds that `_yardstick` takes at its best
MEASUREMENTS = 3


def at_most(seconds: float, work: Callable[[], object]) -> None:
    """`work()` takes so many CPU seconds at most, in the quickest of three measurements; one that fits is enough.

    A machine that needs longer than `YARDSTICK` for the yardstick, just before or just after, has longer in
    proportion; none has less.
    """
    found = []
    for _ in range(MEASUREMENTS):
        before, started = _yardstick(), time.process_time()
        work()
        took = time.process_time() - started
        limit = seconds * max(1.0, max(before, _yardstick()) / YARDSTICK)
        if took < limit:
            return
        found.append(f"{took:.3f} ({limit:.3f} allowed then)")
    raise AssertionError(f"took {', '.join(found)} CPU seconds")


def _yardstick() -> float:
    """CPU seconds of small sums, as checks and tests are full of."""
    started, numbers = time.process_time(), torch.ones(4, 5)
    for _ in range(300):
        numbers = torch.softmax(numbers + numbers.sum(-1, keepdim=True), -1)
    return time.process_time() - started
