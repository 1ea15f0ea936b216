"""`students.csv` in a term's folder: who takes part, as Moodle or Canvas writes it, or one column of names.

With it, students who handed in nothing have a row in the table of grades, and the rows have what the platform knows
its users by.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coursekit import CourseError
from coursekit.grading.csv_text import csv_text, separator
from coursekit.grading.names import homes

FILE = "students.csv"
WHOLE = ("student", "full name", "name")
FIRST, LAST = ("first name", "given name"), ("last name", "surname", "family name")
BY = ("username", "email address", "email", "id number", "sis user id", "sis login id", "id")
OTHERS = ("section",)  # Canvas asks for it
NOBODY = ("points possible", "student, test", "test student")  # rows of Canvas's that are no students


@dataclass(frozen=True)
class Person:
    """One student of the list: what to call them, and the cells by which the platform knows them."""

    name: str
    about: Mapping[str, str]
    turned: str = ""  # last name first, as some sites write it

    @property
    def keys(self) -> set[str]:
        """All names under which a submission of theirs may lie, bare of signs and capitals."""
        return {bare(text) for text in (self.name, self.turned, *self.about.values())} - {""}


def roster(term: Path) -> list[Person]:
    """Everybody in the file, in its order; nobody where there is none.

    Raises CourseError, which says how the file should look, for one that cannot be understood."""
    path = term / FILE
    if not path.exists():
        return []
    text = csv_text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    rows = list(csv.DictReader(io.StringIO(text.lstrip(), newline=""), delimiter=separator(first)))
    people = [_person(row) for row in rows if any(isinstance(cell, str) and cell.strip() for cell in row.values())]
    return [person for person in people if not person.name.lower().startswith(NOBODY)]


def _person(row: Mapping[str | None, object]) -> Person:
    cells = {str(title).strip(): cell.strip() for title, cell in row.items() if isinstance(cell, str)}
    known = {title.lower(): cell for title, cell in cells.items()}
    parts = [next((known[title] for title in titles if known.get(title)), "") for titles in (FIRST, LAST)]
    whole = next((known[title] for title in (*WHOLE, "username") if known.get(title)), "")
    name = " ".join(part for part in parts if part) or whole
    turned = " ".join(parts[::-1]) if any(parts) else " ".join(whole.split(",")[::-1])
    if not name:
        raise CourseError(
            f"{FILE} needs a column “student”, or those of Moodle (First name, Last name) or Canvas (Student), and a "
            f"name in each row; found the columns {', '.join(cells)}"
        )
    about = {title: cell for title, cell in cells.items() if title.lower() in (*BY, *OTHERS) and cell}
    return Person(name, about, turned)


@dataclass(frozen=True)
class Attendance:
    """Who has handed in a lab, and who not.

    Fields:
        people: who of the list it is, by the name of the submission, where that can be told.
        absent: names without a submission of this lab, with the person of the list if there is one.
        doubtful: those who share a name, so that a submission under it cannot be told to be theirs.
        strangers: submissions of nobody in the list; none where there is no list.
    """

    people: Mapping[str, Person]
    absent: Mapping[str, Person | None]
    doubtful: Mapping[str, Person]
    strangers: list[str]


def attendance(term: Path, lab: str) -> Attendance:
    """Hold the submissions of a lab against the list, and against those of the other labs."""
    everybody = roster(term)
    names = {name: any((place / lab).is_dir() for place in places) for name, places in homes(term).items()}
    shared = Counter(key for person in everybody for key in person.keys)
    by_key = {key: person for person in everybody for key in person.keys if shared[key] == 1}
    people = {name: by_key[bare(name)] for name in names if bare(name) in by_key}
    unclear = {bare(name) for name in names if shared[bare(name)] > 1}
    rest = [person for person in everybody if not any(person is one for one in people.values())]
    absent: dict[str, Person | None] = {name: people.get(name) for name, there in names.items() if not there}
    absent |= {_called(person, everybody): person for person in rest if not person.keys & unclear}
    doubtful = {_called(person, everybody): person for person in rest if person.keys & unclear}
    strangers = [name for name, there in names.items() if there and not shared[bare(name)]] if everybody else []
    return Attendance(people, absent, doubtful, strangers)


def _called(person: Person, everybody: list[Person]) -> str:
    """The person's name, with what tells them from others who have the same."""
    alone = sum(one.name == person.name for one in everybody) == 1
    return person.name if alone else f"{person.name} ({', '.join(person.about.values())})"


def bare(text: str) -> str:
    """A name without signs and capitals: `Lee, Ann-Marie` becomes `leeannmarie`."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())
