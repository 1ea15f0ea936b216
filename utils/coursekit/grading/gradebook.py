"""Points and comments for nbgrader's gradebook, so that formgrader and `nbgrader export` show them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.grading.names import spelt
from coursekit.grading.records import Grade, Job
from coursekit.grading.submission import find_notebook, parsed_notebook, parts_of
from coursekit.notebooks import code_cells, grader, is_answer, is_graded, read, write
from coursekit.textquestion import is_written

UNKNOWN = "the gradebook does not know {lab} yet: run `nbgrader generate_assignment {lab}` in {folder} first"


def write_gradebook(term: Path, jobs: list[Job], grades: Sequence[Grade]) -> int:
    """Write the grades of a lab; returns how many. Points that somebody gave by hand stay.

    Raises CourseError if the assignment was never made with nbgrader, which stores its cells in the gradebook."""
    from nbgrader.api import Gradebook, MissingEntry

    settings, source = _settings(term), read(jobs[0].source)
    exercises, text = _exercises(source), _text_cell(source)
    graded = [(job, grade) for job, grade in zip(jobs, grades, strict=True) if not grade.refused]
    with warnings.catch_warnings(), Gradebook(settings.db_url, settings.course_id) as book:
        warnings.simplefilter("ignore")  # nbgrader's own, about how it adds a submission
        try:
            book.find_notebook(jobs[0].lab, jobs[0].lab)
        except MissingEntry:
            raise CourseError(UNKNOWN.format(lab=jobs[0].lab, folder=term)) from None
        for job, grade in graded:
            student = _known_as(book, job.student)
            _write(book, replace(grade, student=student), exercises)
            _write_text(book, replace(grade, student=student), text)
            _show(term, replace(job, student=student))
    return len(graded)


def read_by_hand(term: Path, jobs: list[Job]) -> dict[str, tuple[float, str]]:
    """Points and comment that somebody gave in formgrader for the answer to the text question, by student."""
    from nbgrader.api import Gradebook, MissingEntry

    settings, lab, name = _settings(term), jobs[0].lab, _text_cell(read(jobs[0].source))
    found: dict[str, tuple[float, str]] = {}
    with warnings.catch_warnings(), Gradebook(settings.db_url, settings.course_id) as book:
        warnings.simplefilter("ignore")
        for student in [job.student for job in jobs if name]:
            known = _known_as(book, student)
            try:
                points = book.find_grade(name, lab, lab, known).manual_score
                comment = book.find_comment(name, lab, lab, known).manual_comment or ""
            except MissingEntry:
                continue
            if points is not None:
                found[student] = float(points), comment
    return found


def _known_as(book: Any, student: str) -> str:
    """A student's name as it is stored in the gradebook, where nbgrader took it from a folder; else as it is."""
    stored = [one.id for one in book.students if spelt(one.id) == student]
    return student if student in stored or not stored else str(stored[0])


def _text_cell(source: NotebookNode) -> str:
    """nbgrader's name of the cell in which the text question is answered, if there is one."""
    return next((str(grader(cell)["grade_id"]) for cell in source.cells if is_written(cell)), "")


def _settings(term: Path) -> Any:
    """nbgrader's own view of the folder: where the gradebook is, and the name under which it is run."""
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import Config, PyFileConfigLoader

    path = term / "nbgrader_config.py"
    config = PyFileConfigLoader(path.name, path=str(term)).load_config() if path.is_file() else Config()
    return CourseDirectory(config=config, root=str(term.resolve()))


def _exercises(source: NotebookNode) -> dict[str, str]:
    """The exercise of each graded cell and of each answer, by nbgrader's name of the cell."""
    checks = [grader(cell)["grade_id"] for cell in source.cells if is_graded(cell)]
    found = {name: part.exercise for name, part in zip(checks, parts_of(source), strict=True)}
    answers = [grader(cell)["grade_id"] for cell in source.cells if is_answer(cell)]
    return found | {name: str(name).split("-", 1)[1] for name in answers}


def _write(book: Any, grade: Grade, exercises: dict[str, str]) -> None:
    marks = {mark["exercise"]: mark for mark in grade.marks}
    book.update_or_create_student(grade.student)
    when = {"timestamp": grade.late["handed_in"]} if grade.late else {}
    book.update_or_create_submission(grade.lab, grade.student, **when)
    notebook = book.find_submission_notebook(grade.lab, grade.lab, grade.student)
    read = (grade.text or {}).get("points") or 0.0
    lost = (grade.earned or 0.0) + read - (grade.points or 0.0) - (grade.text_points or 0.0)
    notebook.late_submission_penalty = round(lost, 2)
    for entry in notebook.grades:
        mark = marks.get(exercises.get(entry.name, ""))
        if mark:
            entry.needs_manual_grade = entry.manual_score is not None and entry.auto_score != mark["points"]
            entry.auto_score = mark["points"]
    for comment in notebook.comments:
        mark = marks.get(exercises.get(comment.name, ""))
        comment.auto_comment = mark["message"] if mark else comment.auto_comment
    book.db.commit()


def _write_text(book: Any, grade: Grade, name: str) -> None:
    """What was read of the text question; an answer that nobody has read is one that formgrader lists."""
    from nbgrader.api import MissingEntry

    about = grade.text or {"points": None, "comment": ""}
    try:
        entry = book.find_grade(name, grade.lab, grade.lab, grade.student)
    except MissingEntry:
        return  # the lab asks none, or the assignment was made before it did
    entry.manual_score = entry.manual_score if about["points"] is None else about["points"]
    entry.needs_manual_grade = entry.manual_score is None
    comment = book.find_comment(name, grade.lab, grade.lab, grade.student)
    comment.manual_comment = about["comment"] or comment.manual_comment
    book.db.commit()


def _show(term: Path, job: Job) -> None:
    """Lay down what formgrader shows: the notebook as it was handed in, without outputs, which could be anything."""
    path = find_notebook(job.folder, job.lab)[0]
    notebook = parsed_notebook(path)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    write(notebook, term / "autograded" / job.student / job.lab / f"{job.lab}.ipynb")
