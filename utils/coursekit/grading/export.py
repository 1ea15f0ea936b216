"""Grades as a table that other systems read."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from coursekit.grading.course import Grade
from coursekit.grading.deadlines import sentence

FORMATS = ("csv", "moodle", "canvas")


def table(grades: Sequence[Grade], kind: str = "csv") -> str:
    """One line per student, in order. A submission that could not be graded has no points: its cell is empty.

    Args:
        kind: ``csv`` names every exercise; ``moodle`` and ``canvas`` have the columns that those import.

    Raises:
        ValueError: for another kind.
    """
    if kind not in FORMATS:
        raise ValueError(f"kind must be one of {', '.join(FORMATS)}, got {kind!r}")
    columns = {"csv": _csv, "moodle": _moodle, "canvas": _canvas}[kind]
    rows = [columns(grade) for grade in sorted(grades, key=lambda grade: (grade.lab, grade.student))]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _csv(grade: Grade) -> dict[str, str]:
    late = grade.late or {"days": "", "handed_in": ""}
    about = {"student": grade.student, "lab": grade.lab, "points": _points(grade.points)}
    about |= {"of": _points(grade.possible), "before lateness": _points(grade.earned), "days late": str(late["days"])}
    about |= {"handed in": late["handed_in"], "not graded because": grade.refused}
    return about | {mark["exercise"]: _points(mark["points"]) for mark in grade.marks}


def _moodle(grade: Grade) -> dict[str, str]:
    said = grade.refused or (sentence(grade.late, grade.earned) if grade.late and grade.late["days"] else "")
    return {"Username": grade.student, grade.lab: _points(grade.points), "Feedback": said}


def _canvas(grade: Grade) -> dict[str, str]:
    return {
        "Student": grade.student,
        "ID": "",
        "SIS User ID": grade.student,
        "Section": "",
        grade.lab: _points(grade.points),
    }


def _points(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def harmless(value: str) -> str:
    """On one line; a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    value = "".join(sign if sign.isprintable() else " " for sign in value).strip()
    return f"'{value}" if value[:1] in ("=", "+", "-", "@") else value
