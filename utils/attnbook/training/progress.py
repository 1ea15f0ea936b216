"""Who wants to know how far a training has come: a listener that :func:`~attnbook.training.fit` reports its steps to.

The bar that ``fit`` draws is for whoever called it. A listener is for somebody further away, who did not: the process
that runs an experiment installs one, and passes on what it hears.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Listening:
    """Counts steps, and calls the listener now and then."""

    def __init__(self, listener: Callable[[int, str], None], every: float) -> None:
        self.listener, self.every = listener, every
        self.count = self.told = 0
        self.note = ""
        self.last = time.monotonic()

    def add(self, count: int, note: str) -> None:
        """Count steps, and tell of them if it is time."""
        self.count += count
        self.note = note
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            self.tell()

    def tell(self) -> None:
        """Tell of the steps counted so far, unless the listener knows."""
        if self.count != self.told:
            self.told = self.count
            self.listener(self.count, self.note)


_LISTENING: ContextVar[_Listening | None] = ContextVar("listening to steps", default=None)


@contextmanager
def listening(listener: Callable[[int, str], None], every: float = 0.2) -> Iterator[None]:
    """Call ``listener(steps, note)`` while trainings run in this block, with all steps since its beginning.

    Args:
        listener: takes the number of steps that all calls of ``fit`` in this block have taken, or left out because
            they stopped early; and what the last of them said of itself, such as its loss.
        every: seconds, at least, from one call to the next; what is left is told at the end of the block.
    """
    mine = _Listening(listener, every)
    token = _LISTENING.set(mine)
    try:
        yield
        mine.tell()
    finally:
        _LISTENING.reset(token)


def report_steps(count: int, note: str = "") -> None:
    """Say that ``count`` more steps of a training are over. Costs next to nothing when nobody listens.

    Args:
        note: what a reader would like to see of the last step, in a few words; "" for nothing.
    """
    mine = _LISTENING.get()
    if mine is not None and count:
        mine.add(count, note)
