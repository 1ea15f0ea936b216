"""Ctrl-C reaches every process of a terminal: who hears it, and who does not."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes started in this block do not hear SIGINT, not even while they import; ours waits for its end."""
    if os.name == "nt":  # no such thing there: a child that is interrupted while it imports complains, and ends
        yield
        return
    from multiprocessing import resource_tracker  # it is not on Windows

    resource_tracker.ensure_running()  # starting it later would take our block away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
