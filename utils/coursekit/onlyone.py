"""One process at a time, by a file that the system frees when its holder ends, however that ends.

Only the standard library is used here: set-up needs it before anything is installed.
"""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PAUSE = 0.2  # seconds between two looks


@contextlib.contextmanager
def only_one(lock: Path, waiting: str) -> Iterator[None]:
    """Hold the file ``lock``; say ``waiting`` once and wait while another process holds it.

    The file stays afterwards: who deleted it could take it from under somebody who has just opened it.
    """
    with lock.open("a", encoding="utf-8") as file:
        if not _takes(file):
            print(waiting, flush=True)
            while not _takes(file):
                time.sleep(PAUSE)
        yield


if sys.platform == "win32":
    import msvcrt

    def _takes(file: IO[str]) -> bool:
        """Whether the file is ours now."""
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _takes(file: IO[str]) -> bool:
        """Whether the file is ours now."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
