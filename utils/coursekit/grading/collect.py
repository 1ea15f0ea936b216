"""The first step: what was downloaded from Moodle, Canvas or a mailbox goes where students' notebooks are graded.

In `downloaded/LAB/` lie notebooks (`ann.ipynb`), folders of students with a notebook, or a zip of either. Nothing is
unpacked but notebooks, and a name never leads out of the course's folder.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from coursekit import CourseError
from coursekit.grading.deadlines import WRITTEN_AT
from coursekit.grading.submission import LARGEST
from coursekit.notebooks import write_bytes

DOWNLOADED, EARLIER = "downloaded", "earlier"
MOODLE = re.compile(r"(.+?)_(\d+)_assignsubmission_.*")  # Ann Lee_4711_assignsubmission_file/lab02.ipynb
CANVAS = re.compile(r"([^_]+)_(?:LATE_)?(\d+)_\d+_.*")  # leeann_LATE_17_4711_lab02.ipynb
UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]')


@dataclass(frozen=True)
class Found:
    """A notebook that was downloaded: whose it is, the time that it bears, and what is in it.

    `number` is the one by which the platform tells people of one name apart, or empty."""

    student: str
    number: str
    when: float
    content: bytes


def collect(course: Path, lab: str) -> list[str]:
    """Copy what is new in downloaded/LAB/ to submitted/, the latest of each student; returns who handed in anew.

    What a newer notebook replaces is kept in `earlier/`. Raises CourseError for a zip that cannot be read."""
    found = sorted(_told_apart(list(_found(course / DOWNLOADED / lab))), key=lambda one: one.when)
    latest = {one.student: one for one in found}
    return [student for student, one in sorted(latest.items()) if _take(course, lab, one)]


def _told_apart(found: list[Found]) -> Iterator[Found]:
    """Several people of one name get the platform's number behind it, so that nobody's notebook replaces another's."""
    numbers: dict[str, set[str]] = {}
    for one in found:
        numbers.setdefault(one.student, set()).add(one.number)
    for one in found:
        shared = len(numbers[one.student] - {""}) > 1 and one.number
        yield replace(one, student=f"{one.student} {one.number}") if shared else one


def _take(course: Path, lab: str, one: Found) -> bool:
    """Store a notebook, unless the same or a later one is there."""
    path = course / "submitted" / one.student / lab / f"{lab}.ipynb"
    if path.is_file():
        when = path.stat().st_mtime
        if path.read_bytes() == one.content or when >= one.when:
            return False
        stamp = datetime.fromtimestamp(when).strftime("%Y-%m-%dT%H%M%S")
        write_bytes(path.read_bytes(), course / EARLIER / one.student / f"{lab}-{stamp}.ipynb")
        (path.parent / WRITTEN_AT).unlink(missing_ok=True)  # it told the time of the notebook before
    write_bytes(one.content, path)
    os.utime(path, (one.when, one.when))
    return True


def _found(folder: Path) -> Iterator[Found]:
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_symlink() or not path.is_file():
            continue
        if path.suffix == ".zip":
            yield from _in_zip(path)
        elif who := _student(PurePosixPath(path.relative_to(folder).as_posix())):
            yield Found(*who, path.stat().st_mtime, path.read_bytes())


def _in_zip(path: Path) -> Iterator[Found]:
    """The notebooks in a zip. The times in it have no zone, and are taken for those of this machine."""
    try:
        with zipfile.ZipFile(path) as packed:
            for entry in packed.infolist():
                who = _student(PurePosixPath(entry.filename))
                if who and entry.file_size <= LARGEST:
                    yield Found(*who, datetime(*entry.date_time).timestamp(), packed.read(entry))
    except (zipfile.BadZipFile, OSError, RuntimeError, ValueError, NotImplementedError) as error:
        raise CourseError(f"{path} cannot be read as a zip: {error}; download it again, or unpack it there") from None


def _student(path: PurePosixPath) -> tuple[str, str] | None:
    """Whose notebook it is, by its folder or else by its name, and the platform's number; None for another file."""
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    if path.suffix != ".ipynb" or hidden:
        return None
    name = path.parts[0] if len(path.parts) > 1 else path.stem
    known = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
    student = UNSAFE.sub("", known.group(1) if known else name).strip(". ")
    return (student, known.group(2) if known else "") if student else None
