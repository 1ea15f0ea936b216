"""Files that are written whole or not at all. Both packages write by this module, which needs no torch."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` for bytes; it takes the place of ``path`` when the block has ended without an error.

    A reader finds the old file or the new one, never a part, and so does whoever looks after an interruption. Several
    processes may write the same path: the last one's file stays. Folders above it are made. The file's permissions are
    those that the umask leaves.

    Raises:
        OSError: if the file cannot be written. What was at ``path`` is then still there.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(half, "xb") as file:  # tempfile would allow nobody else to read it, whatever the umask is
            yield file
            file.flush()
            os.fsync(file.fileno())  # a new name for bytes that never reached the disk would be a loss of the old ones
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def write_whole(path: str | Path, content: bytes) -> None:
    """Write ``content`` by :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(content)


def remove_halves(path: str | Path) -> None:
    """Remove what processes left that were killed while they wrote ``path``; nobody may be writing it now."""
    path = Path(path)
    name = re.compile(rf"{re.escape(path.name)}\.?\w+\.part")  # without the point: as older versions named them
    for half in path.parent.iterdir() if path.parent.is_dir() else ():
        if name.fullmatch(half.name):
            half.unlink()
