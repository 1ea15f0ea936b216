"""`coursekit grade`: six steps, all at once or each alone; an interrupted run goes on where it stopped."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from coursekit.grading import collect, deadlines, texts
from coursekit.grading.export import table
from coursekit.grading.feedback import write_feedback
from coursekit.grading.isolation import refuse_without_forks, refuse_without_isolation
from coursekit.grading.records import Grade, Job, current, grades_so_far, jobs_of, store
from coursekit.grading.roster import FILE as ROSTER
from coursekit.grading.roster import attendance
from coursekit.grading.side_by_side import grade_all
from coursekit.grading.submission import CannotGradeError, find_notebook, parts_of, read_submission
from coursekit.notebooks import read, write_bytes
from coursekit.work import STUB

NOT_MARKED = "it was run, but not marked yet"
NOTHING = "no notebook was handed in"
OWN_DEADLINE = f"has a deadline of their own in {deadlines.FILE}, and no notebook"
SAME_NAME = "several students have this name; look for the notebook yourself"


@dataclass(frozen=True)
class Order:
    """What a teacher asked for: the term's folder, a lab, and how. `book` is the address of the built book."""

    term: Path
    lab: str
    workers: int = 2
    isolated: bool = True
    kind: str = "csv"
    book: str = ""


def grade_lab(order: Order, only: str | None = None) -> Iterator[str]:
    """Take the steps in turn, or one alone, and yield what a teacher should read of each.

    Raises CourseError where nothing is handed in, where foreign code could do damage (see `isolation`), and for a
    deadline that cannot be understood."""
    deadlines.deadlines(order.term)  # a wrong line is said now, and not after everything was run
    attendance(order.term, order.lab)
    texts.refuse_wrong_points(order.term, order.lab)
    for step in STEPS.values() if only is None else [(STEPS | MORE)[only]]:
        yield from step(order)


def collected(order: Order) -> Iterator[str]:
    """Copy what is new in downloaded/LAB/ to submitted/, and say who has handed in, and what was not taken."""
    found = collect.collect(order.term, order.lab)
    yield from (f"collect: {line}" for line in found.told)
    jobs, new = jobs_of(order.term, order.lab), found.new
    yield f"collect: {len(jobs)} have handed in" + (f", {len(new)} of them anew: {', '.join(new)}" if new else "")
    there = attendance(order.term, order.lab)
    if there.absent:
        yield f"  nothing from {', '.join(sorted(there.absent))}"
    yield from (f"  not in {ROSTER}: {name}" for name in there.strangers)
    yield from (f"  {name}: {SAME_NAME}" for name in sorted(there.doubtful))


def checked(order: Order) -> Iterator[str]:
    """Read each notebook without running anything: what is missing, what was mended, what cannot be graded."""
    jobs = jobs_of(order.term, order.lab)
    told = [line for job in jobs for line in _look(job)]
    yield f"check: {_count(len(jobs), 'notebook')} read, {_count(len(told), 'remark')}"
    yield from (f"  {line}" for line in told)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _look(job: Job) -> Iterator[str]:
    source = read(job.source)
    try:
        found = read_submission(job.folder, source, job.lab)
    except CannotGradeError as error:
        yield f"{job.student}: cannot be graded: {error}"
        return
    yield from (f"{job.student}: {note}" for note in found.notes)
    unwritten = [part.exercise for part in parts_of(source) if STUB in found.answers.get(part.exercise, "")]
    if unwritten:
        yield f"{job.student}: not written yet: {', '.join(unwritten)}"


def run(order: Order) -> Iterator[str]:
    """Run and judge what is new or changed, each submission apart; the only step in which foreign code runs."""
    jobs = jobs_of(order.term, order.lab)
    refuse_without_forks()
    if order.isolated:
        refuse_without_isolation()
    waiting = [job for job in jobs if current(job) is None]
    with tqdm(total=len(waiting), unit="notebook", desc=order.lab, file=sys.stderr, disable=None) as bar:
        for _ in grade_all(waiting, order.workers, order.isolated):
            bar.update()
    yield f"run: {_count(len(waiting), 'notebook')}, and {len(jobs) - len(waiting)} that had not changed"


def mark(order: Order) -> Iterator[str]:
    """Take off what lateness costs, by deadlines.csv, and lay out what a person must read."""
    due = deadlines.deadlines(order.term)
    jobs = jobs_of(order.term, order.lab)
    for job, grade in zip(jobs, grades_so_far(jobs), strict=True):
        if not grade.refused:
            deadline = due.get((job.lab, job.student)) or due.get((job.lab, ""))
            when, known = deadlines.handed_in(job.folder, find_notebook(job.folder, job.lab)[0])
            store(job, replace(grade, late=deadlines.lateness(deadline, when, known)))
    yield from texts.lay_out(order.term, jobs)
    grades = marked(order.term, jobs)
    dated = any(lab == order.lab for lab, _ in due)
    late = [f"{grade.student} ({grade.late['days']})" for grade in grades if grade.late and grade.late["days"]]
    said = f"late, in started days: {', '.join(late) or 'nobody'}" if dated else f"no deadline in {deadlines.FILE}"
    yield f"mark: {said}"
    unknown = {student for lab, student in due if lab == order.lab} - {"", *(job.student for job in jobs)}
    yield from (f"  {name}: {OWN_DEADLINE}" for name in sorted(unknown))
    yield summary(grades)
    yield from (f"  {exercise}: {mistake}: {count}" for exercise, mistake, count in mistakes(grades))


def marked(term: Path, jobs: list[Job]) -> list[Grade]:
    """The grades as they are exported; what was not marked yet is refused, with this reason."""
    grades = [
        grade if grade.refused or grade.late else Grade(grade.student, grade.lab, refused=NOT_MARKED)
        for grade in grades_so_far(jobs)
    ]
    return texts.with_texts(term, jobs, grades)


def feedback(order: Order) -> Iterator[str]:
    """Write each student's page."""
    jobs = jobs_of(order.term, order.lab)
    for job, grade in zip(jobs, marked(order.term, jobs), strict=True):
        write_feedback(job, grade, order.book)
    yield f"feedback: {_count(len(jobs), 'page')}, feedback/NAME/{order.lab}.html"


def export(order: Order) -> Iterator[str]:
    """Write the table of grades; who handed in nothing has an empty cell, as who could not be graded."""
    found = attendance(order.term, order.lab)
    nothing = dict.fromkeys(found.absent, NOTHING) | dict.fromkeys(found.doubtful, SAME_NAME)
    grades = marked(order.term, jobs_of(order.term, order.lab))
    grades += [Grade(name, order.lab, refused=why) for name, why in nothing.items()]
    people = [*found.people.items(), *found.absent.items(), *found.doubtful.items()]
    known = {name: {"Student": person.name, **person.about} for name, person in people if person}
    name = f"grades-{order.lab}.csv"
    write_bytes(table(grades, order.kind, known).encode(), order.term / name)
    blank = sum(grade.points is None for grade in grades)
    yield f"export: {name}, {len(grades)} students, {blank} without a grade{texts.state(grades)}"


def likeness(order: Order) -> Iterator[str]:
    """Compare the students' answers with each other, and write the pairs that are alike."""
    from coursekit.grading.likeness import LEAST, write_likeness

    pairs = write_likeness(jobs_of(order.term, order.lab))
    alike = [pair for pair in pairs if max(pair.text, pair.names) >= LEAST]
    yield f"likeness: {len(alike)} of {len(pairs)} pairs are alike by {LEAST:.0%} or more: likeness-{order.lab}.html"


def gradebook(order: Order) -> Iterator[str]:
    """Take what was read of the text question in formgrader, and write all points into nbgrader's gradebook."""
    from coursekit.grading.gradebook import read_by_hand, write_gradebook

    jobs = jobs_of(order.term, order.lab)
    if taken := texts.take(order.term, jobs, read_by_hand(order.term, jobs)):
        yield f"text: points of {taken} answers were taken from nbgrader's gradebook into text-{order.lab}.csv"
    count = write_gradebook(order.term, jobs, marked(order.term, jobs))
    yield f"gradebook: {count} of {len(jobs)} submissions are in nbgrader's gradebook"


Step = Callable[[Order], Iterator[str]]
STEPS: dict[str, Step] = {
    "collect": collected, "check": checked, "run": run, "mark": mark, "feedback": feedback, "export": export,
}  # fmt: skip
MORE: dict[str, Step] = {"likeness": likeness, "gradebook": gradebook}  # never taken unasked


def summary(grades: Sequence[Grade]) -> str:
    """What a teacher wants to know first: how many, who was not graded and why, and which answers are the book's."""
    graded = [grade for grade in grades if not grade.refused]
    lines = [f"{len(graded)} of {len(grades)} graded"]
    lines += [f"not graded: {grade.student}: {grade.refused}" for grade in grades if grade.refused]
    for grade in graded:
        alike: dict[str, list[str]] = {}
        for mark in grade.marks:
            alike.setdefault(mark["likeness"], []).append(mark["exercise"])
        alike.pop("", None)
        lines += [f"look at it yourself: {grade.student}, {', '.join(n)}: the answer {why}" for why, n in alike.items()]
    return "\n".join(lines)


def mistakes(grades: Sequence[Grade]) -> list[tuple[str, str, int]]:
    """What the class got wrong: (exercise, mistake, how many students), in the lab's order, the commonest first."""
    found = Counter((m["exercise"], m["mistake"]) for g in grades for m in g.marks if m["mistake"])
    order = list(dict.fromkeys(m["exercise"] for g in grades for m in g.marks))
    listed = [(exercise, mistake, count) for (exercise, mistake), count in found.items()]
    return sorted(listed, key=lambda row: (order.index(row[0]), -row[2], row[1]))
