"""What students wrote in answer to a lab's text question: found in their notebooks, and given a name of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from nbformat import NotebookNode

from coursekit.grading.records import Job
from coursekit.grading.submission import CannotGradeError, find_notebook, parsed_notebook
from coursekit.notebooks import grader, read
from coursekit.textquestion import STUB, is_written

LETTERS = "bcdfghjkmnpqrstvwxz"  # no word and no number comes of them, which a spreadsheet would change
LENGTH = 5


def written_answers(jobs: list[Job]) -> dict[str, str]:
    """The answer of each student whose notebook can be read, empty where nothing was written.

    The lab must ask a text question."""
    source = read(jobs[0].source)
    found = {}
    for job in jobs:
        try:
            path, _ = find_notebook(job.folder, job.lab)
            found[job.student] = written_answer(source, parsed_notebook(path))
        except (CannotGradeError, OSError):
            continue  # listed with the reason by the step `check`
    return found


def written_answer(source: NotebookNode, submitted: NotebookNode) -> str:
    """What stands in the answer's cell, in Markdown cells that were added to it, and in the question's own cell."""
    place = next(number for number, cell in enumerate(source.cells) if is_written(cell))
    question, answer = source.cells[place - 1], source.cells[place]
    parts = (_own(text, question) for text in _near(source, submitted, question, answer))
    return "\n\n".join(dict.fromkeys(part for part in parts if part))


def name_of(lab: str, student: str, answer: str) -> str:
    """Five letters that say nothing of the student; they change when the answer does."""
    number = int.from_bytes(hashlib.sha256("\0".join((lab, student, answer)).encode(errors="replace")).digest())
    letters = []
    for _ in range(LENGTH):
        number, rest = divmod(number, len(LETTERS))
        letters.append(LETTERS[rest])
    return "".join(letters)


def _near(source: NotebookNode, submitted: NotebookNode, question: NotebookNode, answer: NotebookNode) -> Iterator[str]:
    """The texts from the question's cell to the next one that is the lab's own."""
    ids, texts = {cell.id for cell in source.cells}, {cell.source.strip() for cell in source.cells}
    inside = False
    for cell in submitted.cells:
        if _is(cell, question) or _is(cell, answer) or question.source.strip() in cell.source:
            inside = True
            yield cell.source
        elif cell.get("id") in ids or cell.source.strip() in texts or grader(cell):
            inside = False
        elif inside and cell.cell_type != "code":
            yield cell.source


def _is(cell: NotebookNode, wanted: Mapping[str, Any]) -> bool:
    """By nbgrader's name, or else by the cell's own."""
    name = wanted["metadata"].get("nbgrader", {}).get("grade_id")
    return grader(cell).get("grade_id") == name if name and grader(cell) else cell.get("id") == wanted["id"]


def _own(text: str, question: NotebookNode) -> str:
    """A text without what the lab gives."""
    given = {line.strip() for line in question.source.splitlines() if line.strip()} | {STUB}
    return "\n".join(line for line in text.splitlines() if line.strip() not in given).strip()
