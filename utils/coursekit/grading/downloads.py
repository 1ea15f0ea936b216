"""What was downloaded: every notebook in a folder, in the zips in it, and in zips in these; the rest is named.

Nothing is unpacked to the disk, and what a zip may take of the memory has a limit.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from coursekit.grading.names import spelt
from coursekit.grading.submission import LARGEST
from coursekit.project import IGNORED

DEEPEST = 3  # zips in each other
UNPACKED = 2 * 2**30  # bytes that are read of one zip and of all zips in it
OTHERS_COPIES = IGNORED | {"__MACOSX"}  # folders and files in which systems and editors keep their own
IS_NONE = "no notebook (.ipynb) and no zip"
IS_HIDDEN = "its name begins with a dot"
IS_LINK = "a link to somewhere else"
IS_LARGE = f"larger than {LARGEST // 2**20} MiB"
IS_DEEP = f"in more than {DEEPEST} zips, one in the other"
IS_TOO_MUCH = f"its zip holds more than {UNPACKED // 2**30} GiB"
UNREADABLE = (
    OSError, ValueError, RuntimeError, NotImplementedError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip


@dataclass(frozen=True)
class Notebook:
    """A notebook that was downloaded: the names of what it lies in and its own, its time, and what is in it.

    `when` is the time of the entry of the outermost zip, or the file's own; `file_when` that of the file on the disk,
    which holds for what lies in a zip of a student's."""

    place: tuple[str, ...]
    when: float
    content: bytes
    file_when: float


@dataclass
class Downloads:
    """All notebooks of a folder, and the places of other files by the reason why they are left."""

    notebooks: list[Notebook] = field(default_factory=list)
    left: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    room: int = UNPACKED
    file_when: float = 0.0

    def leave(self, why: str, place: tuple[str, ...]) -> None:
        """Name a file that is not taken."""
        self.left.setdefault(why, []).append(place)

    def add(self, place: tuple[str, ...], when: float, size: int, content: Callable[[], bytes]) -> None:
        """Take a file, if it is a notebook, or what is in it, if it is a zip."""
        if OTHERS_COPIES & set(place) or place[-1].startswith("._"):
            return
        if not is_zip(place[-1]) and not place[-1].casefold().endswith(".ipynb"):
            self.leave(IS_NONE, place)
        elif any(name.startswith(".") for name in place):
            self.leave(IS_HIDDEN, place)
        elif size > LARGEST:
            self.leave(IS_LARGE, place)
        elif size > self.room:
            self.leave(IS_TOO_MUCH, place)
        else:
            self._take(place, when, content)

    def _take(self, place: tuple[str, ...], when: float, content: Callable[[], bytes]) -> None:
        try:
            found = content()
        except UNREADABLE as error:
            self.leave(f"it cannot be read: {error}", place)
            return
        if is_zip(place[-1]):
            self.unpack(place, when, io.BytesIO(found))
        else:
            self.notebooks.append(Notebook(place, when, found, self.file_when))

    def unpack(self, place: tuple[str, ...], when: float, file: Path | io.BytesIO) -> None:
        """Take what is in a zip. The times in it have no zone, and are taken for those of this machine; those in a zip
        in a zip are a student's own to write, and count for nothing."""
        nested = sum(map(is_zip, place)) > 1
        if sum(map(is_zip, place)) > DEEPEST:
            self.leave(IS_DEEP, place)
            return
        try:
            with zipfile.ZipFile(file) as packed:
                for entry in packed.infolist():
                    if not entry.is_dir():
                        content = self._reader(packed, entry)
                        at = when if nested else _time(entry, when)
                        self.add((*place, *_names(entry)), at, entry.file_size, content)
        except UNREADABLE as error:
            self.leave(f"it cannot be read as a zip: {error}; download it again, or unpack it there", place)

    def _reader(self, packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            self.room -= entry.file_size  # zipfile gives no more than this, whatever else is packed
            return packed.read(entry)

        return read


def downloads(folder: Path) -> Downloads:
    """All that lies in a folder and below it; nothing where there is none."""
    found = Downloads()
    for path in _files(folder, found):
        place = tuple(spelt(name) for name in path.relative_to(folder).parts)
        if path.is_symlink() or not path.is_file():
            found.leave(IS_LINK, place)
            continue
        found.room, found.file_when = UNPACKED, path.stat().st_mtime
        if is_zip(path.name) and not path.name.startswith("."):
            found.unpack(place, found.file_when, path)
        else:
            found.add(place, found.file_when, path.stat().st_size, path.read_bytes)
    return found


def _files(folder: Path, found: Downloads) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        found.leave(f"it cannot be read: {error.strerror}", Path(error.filename).relative_to(folder).parts or (".",))

    for parent, inside, files in os.walk(folder, onerror=unreadable if folder.is_dir() else None):
        inside.sort()
        linked = [name for name in inside if Path(parent, name).is_symlink()]
        yield from (Path(parent, name) for name in sorted([*files, *linked]))


def is_zip(name: str) -> bool:
    """Whether a file of this name is a zip."""
    return name.casefold().endswith(".zip")


def _names(entry: zipfile.ZipInfo) -> list[str]:
    """The folders and the name of an entry, without what would lead out of the zip.

    A Mac writes names in UTF-8 and does not say so, and some programs for Windows write backslashes."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        with suppress(UnicodeError):  # then it is what zipfile takes it for
            name = name.encode("cp437").decode("utf-8")
    return [spelt(part) for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")] or ["."]


def _time(entry: zipfile.ZipInfo, else_: float) -> float:
    try:
        return datetime(*entry.date_time).timestamp()
    except ValueError:  # some programs write no time, which reads as month 0
        return else_
