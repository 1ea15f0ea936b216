"""A whole class: the submissions of a lab are graded apart from each other, in parallel; what is done stays done."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import attnbook
from attnbook.interrupts import deaf_children
from coursekit import CourseError
from coursekit.grading.given import given, lay_out
from coursekit.grading.isolation import PACKAGES
from coursekit.grading.names import submissions
from coursekit.grading.submission import (
    CannotGradeError,
    Submission,
    cells_to_run,
    notebooks_in,
    parts_of,
    read_submission,
)
from coursekit.notebooks import read, write_bytes
from coursekit.project import folders

FAULT = "the grader itself failed; the next run tries again:"
KILLED = "the process that grades was killed, perhaps by the system for want of memory"
NO_POINTS = (
    "nothing was graded: the lab's own solution, which is always graded first, lost {lost} of {possible} points, so "
    "something is wrong here and not with the students' answers:\n{said}"
)
NOT_RUN = "it is new or changed, and was not run yet"
SHARED = ("magics", "notebooks", "unsolved", "work")  # modules of coursekit that tell what of a notebook is run
VERSION = 1  # of what is written about a submission; another one is graded again


@dataclass(frozen=True)
class Job:
    """One submission to be graded: the student's name, their folder, the lab's source, and where its grade goes."""

    student: str
    folder: Path
    source: Path
    grade: Path

    @property
    def lab(self) -> str:
        """The lab's name."""
        return self.source.stem

    @property
    def checks(self) -> str:
        """The name of the lab's checks, "lab02"."""
        return self.lab.split("_", 1)[0]


@dataclass(frozen=True)
class Grade:
    """What is known about one submission. `refused`: why it could not be graded; then there are no marks."""

    student: str
    lab: str
    digest: str = ""
    refused: str = ""
    notes: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    marks: list[dict[str, Any]] = field(default_factory=list)
    late: dict[str, Any] | None = None  # what `deadlines.lateness` found; None until it was marked
    text: dict[str, Any] | None = None  # points (None: not read), of and comment of the text question, if it is used
    version: int = VERSION

    @property
    def earned(self) -> float | None:
        """The points of all exercises, or None for a submission that could not be graded."""
        return None if self.refused else sum(mark["points"] for mark in self.marks)

    @property
    def earned_with_text(self) -> float:
        """The points of exercises and text question, as far as they are known, before anything is taken off."""
        read = self.text["points"] if self.text else None
        return (self.earned or 0.0) + (read or 0.0)

    @property
    def points(self) -> float | None:
        """What is left of those of the exercises if it was handed in late."""
        return self._kept(self.earned)

    @property
    def text_points(self) -> float | None:
        """What is left of the points of the text question; None where nobody has read the answer, or asked for one."""
        return self._kept(self.text["points"]) if self.text else None

    @property
    def total(self) -> float | None:
        """The sum of both, or None as long as one of them is not known."""
        points, text = self.points, self.text_points
        return None if points is None or text is None else round(points + text, 2)

    def _kept(self, points: float | None) -> float | None:
        share = self.late["kept"] if self.late else 1.0
        return None if points is None else round(share * points, 2)

    @property
    def possible(self) -> float | None:
        """The points that the lab has, or None where that is not known."""
        return sum(mark["of"] for mark in self.marks) if self.marks else None


def jobs_of(course: Path, lab: str) -> list[Job]:
    """All submissions of a lab in the folder of a term. Raises CourseError where there is no such lab, or none."""
    source = course / "source" / lab / f"{lab}.ipynb"
    if not source.is_file():
        known = ", ".join(folder.name for folder in folders(course / "source")) or "none"
        raise CourseError(f"{course} has no source of {lab!r}; sources there: {known}. `coursekit term` makes them")
    found = submissions(course, lab)
    if not found:
        raise CourseError(
            f"nobody has handed in {lab}: in {course}, there is nothing in downloaded/{lab}/ and no folder "
            f"submitted/NAME/{lab}/"
        )
    return [Job(name, place, source, course / "graded" / name / f"{lab}.json") for name, place in found.items()]


def grade_all(jobs: list[Job], workers: int = 2, isolated: bool = True) -> Iterator[Grade]:
    """Grade what is new or changed, in parallel, and give each grade when it is there; the others come first.

    Each grade is stored as soon as it is known, so that an interrupted run goes on where it stopped. Raises CourseError
    where the lab's own solution, which is graded before all others, does not get all of its points."""
    known = {job.student: current(job) for job in jobs}
    yield from (grade for grade in known.values() if grade is not None)
    waiting = [job for job in jobs if known[job.student] is None]
    if not waiting:
        return
    with TemporaryDirectory() as folder, ExitStack() as pools, _nobody_waiting():
        lay_out(given(waiting[0].checks), Path(folder))

        def begin() -> ProcessPoolExecutor:
            context = multiprocessing.get_context("spawn")
            pool = pools.enter_context(ProcessPoolExecutor(1, context, _prepare, (Path(folder), isolated)))
            with deaf_children():
                pool.submit(int, 0)  # it begins its process now
            return pool

        first = begin()
        try:
            first.submit(_prove, waiting[0]).result()
        except BrokenProcessPool:
            raise CourseError(f"nothing was graded, for with the lab's own solution {KILLED}") from None
        yield from _side_by_side(waiting, [first, *(begin() for _ in range(min(workers, len(waiting)) - 1))], begin)


def _side_by_side(jobs: list[Job], free: list[ProcessPoolExecutor], begin: Callable) -> Iterator[Grade]:
    """Grade with pools of one worker each, so that it is known whose submission a killed worker had."""
    waiting, running = list(reversed(jobs)), dict[Future, tuple[Job, ProcessPoolExecutor]]()
    while waiting or running:
        while waiting and free:
            job, pool = waiting.pop(), free.pop()
            running[pool.submit(_grade, job)] = job, pool
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job, pool = running.pop(future)
            try:
                found = future.result()
            except BrokenProcessPool:
                pool, found = begin(), Grade(job.student, job.lab, refused=f"{FAULT} {KILLED}")
                store(job, found)
            free.append(pool)
            yield found


def current(job: Job) -> Grade | None:
    """What an earlier run found, or None if there was none or something has changed since."""
    known = stored(job)
    return known if known is not None and known.digest == digest(job) else None


def grades_so_far(jobs: list[Job]) -> list[Grade]:
    """What is known about each submission; one that must be run first is refused, with this reason."""
    return [_so_far(job, stored(job)) for job in jobs]


def _so_far(job: Job, known: Grade | None) -> Grade:
    if known is not None and (known.digest == digest(job) or known.refused.startswith(FAULT)):
        return known
    return Grade(job.student, job.lab, refused=NOT_RUN)


def store(job: Job, grade: Grade) -> None:
    """Keep a grade for the next step, and for the next run."""
    write_bytes(json.dumps(asdict(grade), indent=1).encode(), job.grade)


def stored(job: Job) -> Grade | None:
    """What an earlier run found, or None."""
    try:
        found = Grade(**json.loads(job.grade.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.version == VERSION else None


def digest(job: Job) -> str:
    """Changes when the submission, the lab's source, its checks or the grader does."""
    found = hashlib.sha256(job.source.read_bytes())
    found.update(what_judges(job.checks).encode())
    for path in notebooks_in(job.folder):
        found.update(path.name.encode())
        if path.is_file() and not path.is_symlink():
            found.update(path.read_bytes())
    return found.hexdigest()


@cache
def what_judges(lab: str) -> str:
    """A hash of all that a verdict depends on but the submission: the lab's checks, the engine and the grader."""
    labs, kit = PACKAGES / "attnlabs", PACKAGES / "coursekit"
    folders = [PACKAGES / "misread", *(labs / name for name in ("families", "fakes", lab)), kit / "grading"]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml")]
    found = hashlib.sha256(attnbook.__version__.encode())
    for path in sorted([*paths, *(kit / f"{name}.py" for name in SHARED)]):
        found.update(path.relative_to(PACKAGES).as_posix().encode() + path.read_bytes())
    return found.hexdigest()


_setting: tuple[Path, bool]  # of each worker: what its process for answers sees, and whether that is isolated
_warm: Any = None  # each worker has one


def _prepare(view: Path, isolated: bool) -> None:
    global _setting
    _setting = view, isolated
    # Ctrl-C is for the grader, which ends its workers; what a worker starts hears it again, as any program does
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_the_grader, daemon=True).start()


@contextmanager
def _nobody_waiting() -> Iterator[None]:
    """After an interruption nobody waits for a notebook that is half graded."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise


def _end_with_the_grader() -> None:
    """A worker would wait for work for ever if the process that gives it was killed."""
    if grader := multiprocessing.parent_process():
        grader.join()
        os._exit(1)


def _running() -> Any:
    """This worker's process for answers; a new one where there is none, or where it has ended."""
    global _warm
    from coursekit.grading.apart import Warm

    if _warm is None or _warm.ended:
        _warm = Warm(*_setting)
    return _warm


def _grade(job: Job) -> Grade:
    try:
        found = graded(job, _running())
    except Exception as error:  # a fault of the grader's own: the others are still to be graded, and this one again
        found = Grade(job.student, job.lab, refused=f"{FAULT} {type(error).__name__}: {error}")
    if _warm is not None and _warm.ended:
        found = Grade(job.student, job.lab, refused=f"{FAULT} the process for answers has ended")
    store(job, found)
    return found


def _prove(job: Job) -> None:
    """Grade the lab's own solution as any submission. Raises CourseError unless it gets all of its points."""
    source = read(job.source)
    cells, answers, _ = cells_to_run(source, source)
    found = _marked(job, Submission(cells, answers), _running())
    lost = [mark for mark in found.marks if mark["points"] < mark["of"]]
    if lost:
        told = [f"{name} stopped with an error: {text}" for name, text in found.errors.items()]
        said = "\n".join([*told, lost[0]["message"]])
        raise CourseError(NO_POINTS.format(lost=sum(m["of"] for m in lost), possible=found.possible, said=said))


def graded(job: Job, warm: Any) -> Grade:
    """The grade of one submission, with a process of `warm` for it."""
    read_now = digest(job)
    try:
        submission = read_submission(job.folder, read(job.source), job.lab)
    except CannotGradeError as error:
        return Grade(job.student, job.lab, read_now, str(error))
    return replace(_marked(job, submission, warm), digest=read_now)


def _marked(job: Job, submission: Submission, warm: Any) -> Grade:
    from coursekit.grading.marking import mark
    from coursekit.grading.remote import Session

    session = Session(warm.submission, submission.cells)
    try:
        marks = mark(job.checks, parts_of(read(job.source)), submission, session)
    finally:
        session.close()
    errors = {name: f"{error.get('type')}: {error.get('text')}" for name, error in session.errors.items()}
    found = [asdict(one) for one in marks]
    return Grade(job.student, job.lab, notes=submission.notes, errors=errors, marks=found)
