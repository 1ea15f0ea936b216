"""Grades as a table that other systems read."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from coursekit.grading.deadlines import sentence
from coursekit.grading.records import Grade

FORMATS = ("csv", "moodle", "canvas")
Known = Mapping[str, Mapping[str, str]]  # by student, the cells of students.csv by which the platform knows them


def table(grades: Sequence[Grade], kind: str = "csv", known: Known = MappingProxyType({})) -> str:
    """One line per student, in order. A submission that could not be graded has no points: its cell is empty.

    Args:
        kind: ``csv`` names every exercise; ``moodle`` and ``canvas`` have the columns that those import.
        known: what students.csv says of them.

    Raises:
        ValueError: for another kind.
    """
    if kind not in FORMATS:
        raise ValueError(f"kind must be one of {', '.join(FORMATS)}, got {kind!r}")
    columns = {"csv": _csv, "moodle": _moodle, "canvas": _canvas}[kind]
    ordered = sorted(grades, key=lambda grade: (grade.lab, grade.student))
    rows = [columns(grade, known.get(grade.student, {})) for grade in ordered]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _csv(grade: Grade, _: Mapping[str, str]) -> dict[str, str]:
    late = grade.late or {"days": "", "handed_in": ""}
    about = {"student": grade.student, "lab": grade.lab, "points": _points(grade.points)}
    about |= {"of": _points(grade.possible), "before lateness": _points(grade.earned), "days late": str(late["days"])}
    about |= {"handed in": late["handed_in"], "not graded because": grade.refused}
    about |= _text(grade, "text question", "total")
    return about | {mark["exercise"]: _points(mark["points"]) for mark in grade.marks}


def _text(grade: Grade, points: str, total: str) -> dict[str, str]:
    """The columns of the text question, if this term reads the answers to it."""
    return {points: _points(grade.text_points), total: _points(grade.total)} if grade.text else {}


def _moodle(grade: Grade, known: Mapping[str, str]) -> dict[str, str]:
    """With a list of students, what Moodle knows them by; a folder's name is hardly anybody's user name there."""
    said = grade.refused or (sentence(grade.late, grade.earned_with_text) if grade.late and grade.late["days"] else "")
    who = known or {"Username": grade.student}
    points = {grade.lab: _points(grade.points), **_text(grade, f"{grade.lab} text", f"{grade.lab} total")}
    return {**who, **points, "Feedback": said}


def _canvas(grade: Grade, known: Mapping[str, str]) -> dict[str, str]:
    who = {"Student": grade.student, "ID": "", "SIS User ID": grade.student, "Section": "", **known}
    return who | {grade.lab: _points(grade.points)} | _text(grade, f"{grade.lab} text", f"{grade.lab} total")


def _points(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def harmless(value: str) -> str:
    """On one line; a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    value = "".join(sign if sign.isprintable() else " " for sign in value).strip()
    return f"'{value}" if value[:1] in ("=", "+", "-", "@") else value
