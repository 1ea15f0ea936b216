"""Which mistakes a class shows: counted from what `coursekit grade` stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from coursekit import CourseError
from coursekit.grading.command import mistakes
from coursekit.grading.reading import Section, section
from coursekit.grading.records import Grade, jobs_of, stored
from coursekit.project import folders

UNWRITTEN = "unwritten"
STOPPED = "error"


@dataclass(frozen=True)
class Seen:
    """One mistake of a class.

    Fields:
        name: as the check reports it. message: what the check says to whoever makes it.
        students: how many made it. of: how many notebooks were graded.
        known: whether the checks have a name of their own for it.
    """

    exercise: str
    name: str
    message: str
    students: int
    of: int
    known: bool
    read: Section | None

    @property
    def share(self) -> float:
        """The share of the graded notebooks."""
        return self.students / self.of


@dataclass(frozen=True)
class Tally:
    """A lab of a class: how many notebooks were graded, what they show, and which exercises are not written yet."""

    lab: str
    graded: int
    not_graded: int
    seen: list[Seen]
    unwritten: dict[str, int]


def graded_labs(term: Path) -> list[str]:
    """The labs of which a term holds grades. Raises CourseError where there are none."""
    labs = sorted({path.stem for folder in folders(term / "graded") for path in folder.glob("lab*.json")})
    if not labs:
        raise CourseError(f"{term} holds no grades: `coursekit grade {term} LAB` makes them")
    return labs


def tally(term: Path, lab: str) -> Tally:
    """Count the mistakes of one lab. Raises CourseError where nothing of it was graded."""
    found = [grade for job in jobs_of(term, lab) if (grade := stored(job)) is not None]
    grades = [grade for grade in found if not grade.refused]
    if not grades:
        raise CourseError(f"no notebook of {lab} was graded in {term}: `coursekit grade {term} {lab}` does it")
    marks = [mark for grade in grades for mark in grade.marks if mark["mistake"]]
    unwritten = Counter(mark["exercise"] for mark in marks if mark["mistake"] == UNWRITTEN)
    return Tally(lab, len(grades), len(found) - len(grades), _seen(lab, grades), dict(unwritten))


def _seen(lab: str, grades: list[Grade]) -> list[Seen]:
    from attnlabs import catalogue  # which brings torch along

    said: dict[tuple[str, str], str] = {}
    for grade in grades:
        for mark in grade.marks:
            said.setdefault((mark["exercise"], mark["mistake"]), mark["message"])
    listed = catalogue().get(lab.split("_", 1)[0], {})
    rows = []
    for exercise, name, students in mistakes(grades):
        if name == UNWRITTEN:
            continue
        names = {known.name: known.message for known in listed[exercise].mistakes} if exercise in listed else {}
        message = names.get(name) or explained(said[exercise, name], name)
        read = section(lab, exercise)
        rows.append(Seen(exercise, name, message, students, len(grades), name in names, read))
    return rows


def explained(message: str, name: str) -> str:
    """What a check said of a mistake that it has no name for: the first line, and the paragraph under it."""
    if name == STOPPED:
        return "The function stops with an error. " + message.splitlines()[0].removeprefix("✗ ")
    lines = message.splitlines()
    words = [line.strip() for line in lines[1:]]
    end = next((at for at, line in enumerate(words) if not line or line.endswith(":")), len(words))
    return " ".join([lines[0].removeprefix("✗ ").rstrip("."), *words[:end]]) if end == 0 else " ".join(words[:end])
