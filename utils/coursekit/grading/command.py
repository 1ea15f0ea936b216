"""`coursekit grade`: collect, judge, write feedback, export; an interrupted run goes on where it stopped."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from coursekit.grading.course import Grade, grade_all, jobs_of
from coursekit.grading.export import table
from coursekit.grading.feedback import write_feedback
from coursekit.grading.isolation import refuse_without_isolation
from coursekit.notebooks import write_bytes


def grade_lab(course: Path, lab: str, workers: int, isolated: bool, kind: str) -> list[Grade]:
    """Grade what is new in a lab's submissions, write each student's page, and the table of grades.

    Raises CourseError where nothing is handed in, or where foreign code could do damage (see `isolation`)."""
    jobs = {job.student: job for job in jobs_of(course, lab)}
    if isolated:
        refuse_without_isolation()
    grades = []
    with tqdm(total=len(jobs), unit="notebook", desc=lab, file=sys.stderr, disable=None) as bar:
        for grade in grade_all(list(jobs.values()), workers, isolated):
            write_feedback(jobs[grade.student], grade)
            grades.append(grade)
            bar.update()
    write_bytes(table(grades, kind).encode(), course / f"grades-{lab}.csv")
    return sorted(grades, key=lambda grade: grade.student)


def summary(grades: Sequence[Grade]) -> str:
    """What a teacher wants to know first: how many, who was not graded and why, and which answers are the book's."""
    graded = [grade for grade in grades if not grade.refused]
    lines = [f"{len(graded)} of {len(grades)} graded"]
    lines += [f"not graded: {grade.student}: {grade.refused}" for grade in grades if grade.refused]
    for grade in graded:
        for mark in grade.marks:
            if mark["likeness"]:
                lines.append(f"look at it yourself: {grade.student}, {mark['exercise']}: the answer {mark['likeness']}")
    return "\n".join(lines)


def mistakes(grades: Sequence[Grade]) -> list[tuple[str, str, int]]:
    """What the class got wrong: (exercise, mistake, how many students), in the lab's order, the commonest first."""
    found = Counter((m["exercise"], m["mistake"]) for g in grades for m in g.marks if m["mistake"])
    order = list(dict.fromkeys(m["exercise"] for g in grades for m in g.marks))
    listed = [(exercise, mistake, count) for (exercise, mistake), count in found.items()]
    return sorted(listed, key=lambda row: (order.index(row[0]), -row[2], row[1]))
