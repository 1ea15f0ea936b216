"""Names of people, spelt alike wherever they are read, and the folders that bear them.

The ü of a file's name is one sign on Linux, and on a Mac often two, u and ¨. They look the same, so that nobody can
see why a name is not found.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from coursekit import CourseError
from coursekit.project import folders

SUBMITTED = "submitted"


def spelt(text: str) -> str:
    """The text with one sign for each letter and its accents (Unicode's form NFC)."""
    return unicodedata.normalize("NFC", text)


def homes(term: Path) -> dict[str, list[Path]]:
    """The folders in submitted/ by the student's name; two where a name was stored in two ways."""
    found: dict[str, list[Path]] = {}
    for folder in folders(term / SUBMITTED):
        found.setdefault(spelt(folder.name), []).append(folder)
    return found


def home(term: Path, student: str, lab: str) -> Path:
    """Where a student's submission of a lab lies, or will."""
    places = homes(term).get(student, [term / SUBMITTED / student])
    return next((place for place in places if (place / lab).is_dir()), places[0]) / lab


def submissions(term: Path, lab: str) -> dict[str, Path]:
    """The folder of each submission of a lab by the student's name, in the order of names.

    Raises CourseError where one student has two."""
    found: dict[str, Path] = {}
    for student, places in sorted(homes(term).items()):
        there = [place / lab for place in places if (place / lab).is_dir()]
        if len(there) > 1:
            raise CourseError(
                f"{SUBMITTED}/ has two folders {student!r} with {lab}: their names look the same and are stored in two "
                "ways. Move what is in one of them into the other, and remove it"
            )
        found |= dict.fromkeys([student] if there else [], *there)
    return found
