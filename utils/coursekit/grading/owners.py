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
    download lies in; a notebook that lies in none does not count, and a name that is only the lab's is nobody's. A
    zip that was downloaded stands for what is in it, if that is several students'; else it is its student's, and its
    own name is taken first. A zip in it, or in a folder, is like a folder. But a name that a platform made, or one of
    `people`, is taken wherever it stands, the outermost of them: what lies further in is named by that student.

    Args:
        places: the names of what each notebook lies in, from the outside, and its own.
        people: names of students, bare as in `roster`.
    """
    zips, inside = list(map(_zip, places)), [_inside(place, lab) for place in places]
    shared = {zipped: _shared([place for place in places if _zip(place) == zipped], lab) for zipped in set(zips)}
    names = [names[0 if _loose(place) else shared[_zip(place)] :] for place, names in zip(places, inside, strict=True)]
    firsts = {(zipped, *found[:1]) for zipped, found in zip(zips, names, strict=True) if found}
    several = {zipped for zipped in zips if not zipped or sum(first[0] == zipped for first in firsts) > 1}
    return [
        _owner(place, found, zipped not in several, lab, people)
        for place, found, zipped in zip(places, names, zips, strict=True)
    ]


def in_own_zip(place: Place, people: Collection[str]) -> bool:
    """Whether a student is named outside of what the outermost zip holds, so that the zip and its times are theirs."""
    first = next((number for number, name in enumerate(place) if is_zip(name)), -1)
    stems = map(_stem, place[: first + 1])
    return any(MOODLE.fullmatch(stem) or CANVAS.fullmatch(stem) or bare(stem) in people for stem in stems)


def _owner(place: Place, names: list[str], own_zip: bool, lab: str, people: Collection[str]) -> tuple[str, str]:
    """By the names that may be a student's, the likeliest first."""
    for name in place:  # from the outside: what lies in a student's own zip gives nothing to somebody else
        stem = _stem(name)
        known = MOODLE.fullmatch(stem) or (CANVAS.fullmatch(stem) if is_zip(name) or stem in names[:1] else None)
        if known and _safe(known[1]):
            return _safe(known[1]), known[2]
        if bare(stem) in people:
            return _safe(stem), ""
    outermost = [name for name in map(_stem, place[:1]) if not _of_the_lab(name, lab)]
    likely = [*outermost, *names] if own_zip else [*names, *outermost]
    return _safe(next(iter(likely), "")), ""


def _inside(place: Place, lab: str) -> list[str]:
    """The names that may be a student's, without that of the zip that was downloaded."""
    names = map(_stem, place[bool(_zip(place)) :])
    return [name for name in names if not _of_the_lab(name, lab)]


def _shared(places: list[Place], lab: str) -> int:
    """How many names all begin with, each of them having one more; none for a single notebook.

    Where some notebooks lie in no folder, these have no part in it, and what a notebook is called is no further name:
    a folder that holds notebooks is a student's then."""
    deep = [place for place in places if not _loose(place)]
    lists = [_inside(place if len(deep) == len(places) else place[:-1], lab) for place in deep]
    shared = 0
    while len(lists) > 1 and all(names[: shared + 1] == lists[0][: shared + 1] != names for names in lists):
        shared += 1
    return shared


def _zip(place: Place) -> str:
    """The download that a notebook came in, or an empty text for the folder of all."""
    return place[0] if is_zip(place[0]) else ""


def _loose(place: Place) -> bool:
    """Whether a notebook lies in no folder."""
    return len(place) == 1 + bool(_zip(place))


def _stem(name: str) -> str:
    return re.sub(r"\.(?:ipynb|zip)$", "", name, flags=re.IGNORECASE)


def _of_the_lab(name: str, lab: str) -> bool:
    """Whether a name is the lab's or its number, perhaps with what tells a second file from the first."""
    return bool(re.fullmatch(f"(?:{re.escape(lab)}|{re.escape(lab.partition('_')[0])}){COPY}", name, re.IGNORECASE))


def _safe(name: str) -> str:
    """As the name of a folder; empty where nothing is left."""
    return UNSAFE.sub("", name)[:LONGEST].strip(". ")
