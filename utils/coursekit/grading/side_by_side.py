"""A whole class: the submissions of a lab are graded apart from each other, in parallel; what is done stays done."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from attnbook.interrupts import deaf_children
from coursekit import CourseError
from coursekit.grading.given import given, lay_out
from coursekit.grading.records import FAULT, Grade, Job, current, digest, store
from coursekit.grading.submission import CannotGradeError, Submission, cells_to_run, parts_of, read_submission
from coursekit.notebooks import read

KILLED = "the process that grades was killed, perhaps by the system for want of memory"
NO_POINTS = (
    "nothing was graded: the lab's own solution, which is always graded first, lost {lost} of {possible} points, so "
    "something is wrong here and not with the students' answers:\n{said}"
)


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
