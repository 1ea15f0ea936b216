"""How long something may take, in CPU seconds of a machine at its ease: a busy neighbour makes a core half as fast.

On the machine where this was written the same work took 2.0 ms of CPU time in one minute and 3.4 ms in the next, with
nothing else running, so that a limit in plain seconds measures the machine.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

YARDSTICK = 0.002  # CPU seconds that `_yardstick` takes at its best


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """What stands inside takes so many CPU seconds at most, on a machine that does the yardstick in `YARDSTICK`.

    A slower one has longer in proportion, by what it shows just before or just after; none has less.
    """
    before, started = _yardstick(), time.process_time()
    yield
    took = time.process_time() - started
    limit = seconds * max(1.0, max(before, _yardstick()) / YARDSTICK)
    assert took < limit, f"took {took:.3f} CPU seconds, {limit:.3f} are allowed on this machine now"


def _yardstick() -> float:
    """CPU seconds of small sums, as checks and tests are full of."""
    started, numbers = time.process_time(), torch.ones(4, 5)
    for _ in range(300):
        numbers = torch.softmax(numbers + numbers.sum(-1, keepdim=True), -1)
    return time.process_time() - started
