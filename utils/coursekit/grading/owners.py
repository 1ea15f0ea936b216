"""Whose a downloaded notebook is: told by the names of the folders and zips that it lies in, and by its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from coursekit.grading.downloads import is_zip
from coursekit.grading.roster import bare

MOODLE = re.compile(r"(.+?)_(\d+)_assignsubmission_.*")  # Ann Lee_4711_assignsubmission_file/lab02.ipynb
CANVAS = re.compile(r"([^_]+)_(?:LATE_)?(\d+)_\d+_.*")  # leeann_LATE_17_4711_lab02.ipynb
UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]')
LONGEST = 100  # characters of a folder's name
COPY = r"(?:[\s_.-]*(?:copy|kopie)?[\s_.-]*\(?\d*\)?)*"  # what systems put behind the name of a second file

Place = tuple[str, ...]


def owners(places: Sequence[Place], lab: str, people: Collection[str]) -> list[tuple[str, str]]:
    """(student, the platform's number for them or "") of each notebook; ("", "") where no name is a student's.

    It is the outermost folder's name or the notebook's own, without folders that all share, as those that an unpacked
    download lies in; a name that is only the lab's is nobody's. A zip that was downloaded stands for what is in it,
    and its own name is the last that is taken; a zip in it, or in a folder, is like a folder. But a name that a
    platform made, or one of `people`, is taken wherever it stands.

    Args:
        places: the names of what each notebook lies in, from the outside, and its own.
        people: names of students, bare as in `roster`.
    """
    inside = [_inside(place, lab) for place in places]
    shared = {zipped: _shared([names for place, names in zip(places, inside, strict=True) if _zip(place) == zipped])
              for zipped in map(_zip, places)}  # fmt: skip
    return [
        _owner(place, names[shared[_zip(place)] :], lab, people) for place, names in zip(places, inside, strict=True)
    ]


def _owner(place: Place, names: list[str], lab: str, people: Collection[str]) -> tuple[str, str]:
    """By the names that may be a student's, the likeliest first."""
    every, zips = [_stem(name) for name in place], [_stem(name) for name in place if is_zip(name)]
    for known in [*map(MOODLE.fullmatch, every), *map(CANVAS.fullmatch, [*zips, *names[:1]])]:
        if known and _safe(known[1]):
            return _safe(known[1]), known[2]
    listed = [name for name in every if bare(name) in people]
    last = [name for name in every[:1] if not _of_the_lab(name, lab)]
    return _safe(next(iter([*listed, *names, *last]), "")), ""


def _inside(place: Place, lab: str) -> list[str]:
    """The names that may be a student's, without that of the zip that was downloaded."""
    names = map(_stem, place[bool(_zip(place)) :])
    return [name for name in names if not _of_the_lab(name, lab)]


def _shared(lists: list[list[str]]) -> int:
    """How many names all lists begin with, each of them having one more; none for a single notebook."""
    shared = 0
    while len(lists) > 1 and all(names[: shared + 1] == lists[0][: shared + 1] != names for names in lists):
        shared += 1
    return shared


def _zip(place: Place) -> str:
    """The download that a notebook came in, or an empty text for the folder of all."""
    return place[0] if is_zip(place[0]) else ""


def _stem(name: str) -> str:
    return re.sub(r"\.(?:ipynb|zip)$", "", name, flags=re.IGNORECASE)


def _of_the_lab(name: str, lab: str) -> bool:
    """Whether a name is the lab's or its number, perhaps with what tells a second file from the first."""
    return bool(re.fullmatch(f"(?:{re.escape(lab)}|{re.escape(lab.partition('_')[0])}){COPY}", name, re.IGNORECASE))


def _safe(name: str) -> str:
    """As the name of a folder; empty where nothing is left."""
    return UNSAFE.sub("", name)[:LONGEST].strip(". ")
