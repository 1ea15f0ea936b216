"""Which section of which chapter teaches what an exercise asks for, as the exercise itself says (`read_again`)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from html import escape

from attnlabs import checks_of, lab_names
from coursekit.mistakes.families import family_of
from coursekit.teaching.links import address


@dataclass(frozen=True)
class Section:
    """A section of a chapter: the chapter's file name without its ending, and the heading as it stands there."""

    chapter: str
    title: str

    @property
    def words(self) -> str:
        """As it is said to a person."""
        return f"Chapter {int(self.chapter[:2])}, “{self.title}”"

    @property
    def page(self) -> str:
        """Its page in the built book, from the book's first page, with the place on it."""
        return f"chapters/{self.chapter}.html#{anchor(self.title)}"

    def link(self, book: str | None) -> str:
        """Its words in HTML, with a link if the book has an address."""
        words = escape(self.words)
        return f'<a href="{escape(address(book, self.page))}">{words}</a>' if book else words


def section(lab: str, exercise: str) -> Section | None:
    """What to read again for an exercise of a lab (`lab02` or its full name); None for one that is not there."""
    return sections(lab).get(exercise)


def behind(lab: str, mistake: str) -> Section | None:
    """What explains the kind of mistake that a check has named; None for other mistakes, and before its chapter."""
    family = family_of(mistake)
    if family is None or not family.read or family.read[0][:2] > lab.removeprefix("lab")[:2]:
        return None
    return Section(*family.read)


@cache
def sections(lab: str) -> dict[str, Section]:
    """All sections of a lab, by exercise."""
    if lab.partition("_")[0] not in lab_names():
        return {}
    checks = checks_of(lab.partition("_")[0])
    places = {name: exercise.about.read_again for name, exercise in checks.exercises().items()}
    return {
        name: Section(checks.chapter, place) if isinstance(place, str) else Section(*place)
        for name, place in places.items()
    }


def anchor(title: str) -> str:
    """The place of a heading on its page, as Sphinx names it: small letters and digits, joined by hyphens."""
    plain = unicodedata.normalize("NFKD", title.lower()).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-").lstrip("-0123456789")
