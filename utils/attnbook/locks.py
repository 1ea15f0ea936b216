"""Locks between processes: one at a time changes a file. A process that ends, however it ends, holds none any more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


class Taken(RuntimeError):  # noqa: N818 (it says what is)
    """Another process holds the lock."""


@contextmanager
def locked(path: str | Path, wait: bool = False) -> Iterator[None]:
    """Hold the lock of ``path`` in this block, by a file ``.NAME.lock`` beside it that goes at the end.

    Folders above it are made. ``path`` itself need not exist, and nobody is kept from it who asks for no lock.

    Args:
        wait: until the lock is free; else another holder is an error.

    Raises:
        Taken: if another block holds it, here or in another process, and we don't wait.
        OSError: if nothing can be written beside ``path``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name(f".{path.name}.lock")
    lock = FileLock(file)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout as error:
        raise Taken(f"another process holds {file}") from error
    try:
        yield
    finally:
        if os.name != "nt":  # Windows allows nobody to remove an open file
            file.unlink(missing_ok=True)  # while we hold it: who waits finds it gone, and makes another
        lock.release()
