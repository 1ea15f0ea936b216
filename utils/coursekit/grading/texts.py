"""The text question of a lab, from the notebooks to the grades: what a person has read of it, and what not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from coursekit.grading.records import Grade, Job
from coursekit.grading.text_page import write_page
from coursekit.grading.text_table import Entry, read_table
from coursekit.grading.written import name_of, written_answers
from coursekit.notebooks import read
from coursekit.textquestion import TextQuestion, text_question


def refuse_wrong_points(term: Path, lab: str) -> None:
    """Raise CourseError, which names the row, for a table that cannot be understood; nothing if there is none."""
    source = term / "source" / lab / f"{lab}.ipynb"
    question = text_question(read(source).cells) if source.is_file() else None
    if question is not None:
        table = read_table(term, lab)
        table.entries([row["student"] for row in table.rows], question.points)


def lay_out(term: Path, jobs: list[Job]) -> Iterator[str]:
    """Write the page of answers and the table for their points, and say how far the reading is.

    Nothing for a lab that asks no text question. Raises CourseError for a table that cannot be understood."""
    lab, question = jobs[0].lab, asked(jobs)
    if question is None:
        return
    answers, table = written_answers(jobs), read_table(term, lab)
    table.add(lab, answers)
    entries = table.entries(answers, question.points)
    order = {student: entries[student] for student in sorted(entries, key=_rows(table.rows, entries))}
    write_page(term / f"text-{lab}.html", lab, question, answers, order)
    yield f"text: answers in text-{lab}.html, points go into text-{lab}.csv; {_state(entries)}"
    yield from _remarks(lab, answers, entries, table.strangers(answers))


def _remarks(lab: str, answers: dict[str, str], entries: dict[str, Entry], strangers: list[str]) -> Iterator[str]:
    """What a teacher should look at in the table."""
    for student, entry in sorted(entries.items()):
        if entry.points is not None and entry.answer != name_of(lab, student, answers[student]):
            yield f"  {student}: the answer was changed after it was read"
    for name in strangers:
        yield f"  {name}: has points in text-{lab}.csv, but no notebook that can be read"


def with_texts(term: Path, jobs: list[Job], grades: list[Grade]) -> list[Grade]:
    """The grades with the points and comments of the text question, if any answer was read."""
    question = asked(jobs)
    if question is None:
        return grades
    entries = read_table(term, jobs[0].lab).entries([grade.student for grade in grades], question.points)
    if all(entry.points is None for entry in entries.values()):
        return grades  # this term does not ask it, or nobody has begun to read
    return [
        replace(grade, text=_about(entries.get(grade.student), question.points))
        if grade.student in entries or not grade.refused
        else grade
        for grade in grades
    ]


def take(term: Path, jobs: list[Job], read_elsewhere: Mapping[str, tuple[float, str]]) -> int:
    """Fill empty rows of the table with points and comments that were given elsewhere; returns how many."""
    question = asked(jobs)
    if question is None or not read_elsewhere:
        return 0
    table = read_table(term, jobs[0].lab)
    table.add(jobs[0].lab, written_answers(jobs))
    return table.fill(read_elsewhere)


def state(grades: list[Grade]) -> str:
    """How many answers are not read yet, as a part of a sentence; empty where no answer was read."""
    asked = [grade for grade in grades if grade.text]
    unread = sum(grade.text_points is None for grade in asked)
    return f", text question not yet read: {unread} of {len(asked)}" if asked else ""


def asked(jobs: list[Job]) -> TextQuestion | None:
    """The lab's text question, from its source in the term's folder."""
    return text_question(read(jobs[0].source).cells)


def _state(entries: dict[str, Entry]) -> str:
    return f"not yet read: {sum(entry.points is None for entry in entries.values())} of {len(entries)}"


def _about(entry: Entry | None, of: float) -> dict[str, Any]:
    return {"points": entry.points if entry else None, "of": of, "comment": entry.comment if entry else ""}


def _rows(rows: list[dict[str, str]], entries: dict[str, Entry]) -> Any:
    """The place of a student's row in the table."""
    place = {row["answer"]: number for number, row in enumerate(rows)}
    return lambda student: place[entries[student].answer]
