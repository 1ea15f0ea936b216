"""`text-LAB.csv`: the points and comments that a person gives for the answers to a lab's text question.

The command adds a row for each answer, and never changes what was filled in.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coursekit import CourseError
from coursekit.grading.csv_text import csv_text, separator
from coursekit.grading.export import harmless
from coursekit.grading.written import name_of
from coursekit.notebooks import write_bytes

COLUMNS = ("answer", "student", "points", "comment")


@dataclass(frozen=True)
class Entry:
    """What was filled in for one student; `points` is None while nobody has read the answer."""

    answer: str
    points: float | None
    comment: str


@dataclass
class Table:
    """The file as it is: its columns, its rows as text, and the sign between cells."""

    path: Path
    columns: list[str] = field(default_factory=lambda: list(COLUMNS))
    rows: list[dict[str, str]] = field(default_factory=list)
    between: str = ","

    def entries(self, students: Iterable[str], of: float) -> dict[str, Entry]:
        """The row of each student who has one. Raises CourseError for points that are no number from 0 to `of`."""
        found = self._by_student(students)
        return {student: Entry(row["answer"], self._points(row, of), row["comment"]) for student, row in found.items()}

    def strangers(self, students: Iterable[str]) -> list[str]:
        """Names in rows that were filled in and belong to no student who has handed in."""
        known = [id(row) for row in self._by_student(students).values()]
        return [row["student"] for row in self.rows if id(row) not in known and row["points"]]

    def add(self, lab: str, answers: Mapping[str, str]) -> None:
        """A row for each new answer, in an order that says nothing of the students; stores the file if need be.

        The name of an answer that has changed is renewed as long as there are no points."""
        before, known = self._text(), self._by_student(answers)
        names = {student: name_of(lab, student, answer) for student, answer in answers.items()}
        for student, row in known.items():
            row["answer"] = row["answer"] if row["points"] else names[student]
        for name, student in sorted((names[student], student) for student in answers if student not in known):
            self.rows.append({"answer": name, "student": harmless(student), "points": "", "comment": ""})
        if self._text() != before or not self.path.exists():
            self._store()

    def fill(self, given: Mapping[str, tuple[float, str]]) -> int:
        """Points and comments by student, into rows in which nothing stands; returns how many, and stores the file."""
        empty = {s: row for s, row in self._by_student(given).items() if not row["points"] and not row["comment"]}
        for student, row in empty.items():
            row["points"], row["comment"] = f"{given[student][0]:g}", given[student][1]
        if empty:
            self._store()
        return len(empty)

    def _by_student(self, students: Iterable[str]) -> dict[str, dict[str, str]]:
        """By the student's name as it stands, or as it was written for spreadsheets."""
        rows: dict[str, dict[str, str]] = {}
        for row in self.rows:
            if row["student"] in rows:
                raise CourseError(f"{self.path.name}: {row['student']} has two rows; keep one of them")
            rows[row["student"]] = row
        return {
            student: rows[key] for student in students for key in (student, harmless(student)) if key in rows
        }  # fmt: skip

    def _points(self, row: Mapping[str, str], of: float) -> float | None:
        text = row["points"]
        try:
            found = float(text.replace(",", ".")) if text else None
        except ValueError:
            found = math.nan
        if found is not None and not 0 <= found <= of:
            raise CourseError(
                f"{self.path.name}, the row of {row['student']}: points are {text!r}; write a number from 0 to {of:g}, "
                "or leave it empty while the answer is not read"
            )
        return found

    def _text(self) -> str:
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, restval="", delimiter=self.between, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def _store(self) -> None:
        try:
            write_bytes(self._text().encode("utf-8-sig"), self.path)  # the mark by which spreadsheets know UTF-8
        except OSError as error:
            raise CourseError(f"{self.path.name} cannot be written ({error}); is it open in another program?") from None


def read_table(term: Path, lab: str) -> Table:
    """The table of a lab, empty where there is no file yet. Raises CourseError for one that cannot be understood."""
    path = term / f"text-{lab}.csv"
    if not path.exists():
        return Table(path)
    text = csv_text(path)
    between = separator(text.partition("\n")[0])
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=between) if any(map(str.strip, line))]
    return _table(path, lines, between)


def _table(path: Path, lines: list[list[str]], between: str) -> Table:
    columns = [cell.strip() for cell in lines[0]] if lines else []
    if not set(COLUMNS) <= set(columns) or len(set(columns)) < len(columns):
        raise CourseError(f"{path.name}: the first line names the columns, {','.join(COLUMNS)}; found {columns}")
    long = [line for line in lines[1:] if len(line) > len(columns)]
    if long:
        raise CourseError(f"{path.name}: a row has more cells than the first line: {between.join(long[0])!r}")
    empty = dict.fromkeys(columns, "")
    rows = [empty | dict(zip(columns, map(str.strip, line), strict=False)) for line in lines[1:]]
    return Table(path, columns, rows, between)
