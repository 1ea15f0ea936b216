"""The first step: what was downloaded from Moodle, Canvas or a mailbox goes where students' notebooks are graded.

In `downloaded/LAB/` lie notebooks (`ann.ipynb`), folders of students with a notebook, or zips of either. Nothing is
unpacked but notebooks, a name never leads out of the term's folder, and what is not taken is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count, groupby
from pathlib import Path

from coursekit.grading.deadlines import WRITTEN_AT
from coursekit.grading.downloads import Downloads, downloads
from coursekit.grading.names import home
from coursekit.grading.owners import in_own_zip, owners
from coursekit.grading.roster import roster
from coursekit.notebooks import write_bytes

DOWNLOADED, EARLIER = "downloaded", "earlier"
NAMELESS = "nothing tells whose it is; put it into a folder that bears the student's name"


@dataclass(frozen=True)
class Found:
    """A notebook that was downloaded: whose it is, where it lay, the time that it bears, and what is in it.

    `number` is the one by which the platform tells people of one name apart, or empty."""

    student: str
    number: str
    place: tuple[str, ...]
    when: float
    content: bytes


@dataclass(frozen=True)
class Collected:
    """Who handed in anew, and a line on everything that was downloaded and not taken."""

    new: list[str]
    told: list[str]


def collect(term: Path, lab: str) -> Collected:
    """Copy what is new in downloaded/LAB/ to submitted/, the latest of each student.

    What a newer notebook replaces is kept in `earlier/`."""
    files = downloads(term / DOWNLOADED / lab)
    ordered = sorted(_told_apart(list(_found(term, lab, files))), key=lambda one: (one.student, one.when))
    new, told = [], []
    for student, ones in groupby(ordered, key=lambda one: one.student):
        *before, last = ones
        if _take(term, lab, last):
            new.append(student)
        told += [line for one in [*before, last] if (line := _kept(term, lab, one))]
    told += [f"not taken: {', '.join(map(_shown, places))} ({why})" for why, places in files.left.items()]
    return Collected(new, told)


def _found(term: Path, lab: str, files: Downloads) -> Iterator[Found]:
    """Each notebook with its owner; one that is nobody's is left."""
    people = {key for person in roster(term) for key in person.keys}
    whose = owners([one.place for one in files.notebooks], lab, people)
    for one, (student, number) in zip(files.notebooks, whose, strict=True):
        if student:
            when = one.file_when if in_own_zip(one.place, people) else one.when
            yield Found(student, number, one.place, when, one.content)
        else:
            files.leave(NAMELESS, one.place)


def _told_apart(found: list[Found]) -> Iterator[Found]:
    """Several people of one name get the platform's number behind it, so that nobody's notebook replaces another's."""
    numbers: dict[str, set[str]] = {}
    for one in found:
        numbers.setdefault(one.student, set()).add(one.number)
    for one in found:
        shared = len(numbers[one.student] - {""}) > 1 and one.number
        yield replace(one, student=f"{one.student} {one.number}") if shared else one


def _take(term: Path, lab: str, one: Found) -> bool:
    """Store a notebook, unless the same or a later one is there."""
    path = home(term, one.student, lab) / f"{lab}.ipynb"
    if path.is_file():
        when = path.stat().st_mtime
        if path.read_bytes() == one.content or when >= one.when:
            return False
        _keep(term, lab, replace(one, when=when, content=path.read_bytes()))
        (path.parent / WRITTEN_AT).unlink(missing_ok=True)  # it told the time of the notebook before
    write_bytes(one.content, path)
    os.utime(path, (one.when, one.when))
    return True


def _kept(term: Path, lab: str, one: Found) -> str:
    """Keep a notebook that is not the student's latest, and say so, once."""
    if (home(term, one.student, lab) / f"{lab}.ipynb").read_bytes() == one.content:
        return ""
    if (path := _keep(term, lab, one)) is None:
        return ""
    why = f"{one.student} has handed in a later one; it is kept as {path.relative_to(term).as_posix()}"
    return f"not taken: {_shown(one.place)} ({why})"


def _keep(term: Path, lab: str, one: Found) -> Path | None:
    """Store a notebook in earlier/, unless it is there."""
    folder = term / EARLIER / one.student
    if any(path.read_bytes() == one.content for path in folder.glob(f"{lab}-*.ipynb")):
        return None
    stamp = datetime.fromtimestamp(one.when).strftime("%Y-%m-%dT%H%M%S")
    names = (f"{lab}-{stamp}{'' if number == 1 else f'-{number}'}.ipynb" for number in count(1))
    path = next(folder / name for name in names if not (folder / name).exists())
    write_bytes(one.content, path)
    return path


def _shown(place: tuple[str, ...]) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in "/".join(place))
