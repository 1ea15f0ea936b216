"""Jobs in processes of their own: a few side by side, each heard of while it works, and all ended at once if need be.

The standard library's pool of processes waits for running jobs when it is interrupted, which takes a minute here.
"""

import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from typing import Any, NamedTuple

from tqdm import tqdm

from attnbook.interrupts import deaf_children
from attnbook.training.progress import listening

TICK = 0.2  # seconds until we look again whether somebody wants us to stop
CANCELLED, FAILED = 130, 1  # status of the command: 128 + SIGINT, as shells have it; and something broke


class Stopped(Exception):  # noqa: N818 (it says what happened)
    """A run that ended before its time. ``status`` is what the command ends with."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason, status)  # both, so that it can be pickled
        self.status = status

    def __str__(self) -> str:
        return self.args[0]


class Event(NamedTuple):
    """What is heard of a job: that it ``started``, has come so many ``steps`` far, is ``finished`` with a result.

    With steps comes a ``note`` of the training, such as its loss. A ``tick`` of no job comes a few times a second.
    """

    kind: str
    job: Any = None
    value: Any = None
    note: str = ""


def run_jobs(work: Callable, jobs: Sequence, workers: int) -> Generator[Event, None, None]:
    """Do ``work(job)`` for each job, ``workers`` of them side by side, and tell what happens.

    Close it (``contextlib.closing``) if you leave it early: that ends the processes.

    Args:
        work: a function of a module, or a ``partial`` of one; processes start afresh and import it.
        jobs: with ``model`` and ``seed``, to be named by.

    Raises:
        Stopped: if SIGINT (Ctrl-C) or SIGTERM came, a job raised an error, or its process died. No process is left.
    """
    waiting = deque(jobs)
    team: list[_Worker] = []
    with stop_signals() as stopped:
        try:
            while len(team) < workers and waiting:
                team.append(_Worker(work))
                yield team[-1].take(waiting.popleft())
            while busy := [worker for worker in team if worker.job is not None]:
                failures = []
                for worker in _ready(busy):
                    try:
                        yield worker.hear()
                    except Stopped as failure:
                        failures.append(failure)  # another job may have finished at the same time
                if failures:
                    raise failures[0]
                for worker in team:
                    if worker.job is None and waiting and not stopped():
                        yield worker.take(waiting.popleft())
                if stopped() and (waiting or any(worker.job is not None for worker in team)):
                    raise Stopped("Cancelled.", CANCELLED)
                yield Event("tick")
        finally:
            _end(team)


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Note SIGINT and SIGTERM in this block instead of falling over them; gives a function: has one come?

    Where a signal is ignored (a job in the background of a script) it stays so, and outside of the main thread, where
    Python allows no handlers, nothing changes.
    """
    came: list[int] = []
    numbers = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Worker:
    """A process that does one job after another, seen from outside."""

    def __init__(self, work: Callable) -> None:
        context = get_context("spawn")
        self.job: Any = None
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with deaf_children():
            self.process.start()
        theirs.close()  # the child has its own; with ours open we wouldn't hear that it died

    def take(self, job) -> Event:
        """Give it a job."""
        self.job = job
        try:
            self.pipe.send(job)
        except OSError as error:
            raise self._died() from error
        return Event("started", job)

    def hear(self) -> Event:
        """What it has to say; there must be something."""
        job = self.job
        try:
            kind, value, *note = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if kind == "failed":
            message, trace = value
            reason = f"The training of {job.model} with seed {job.seed} failed: {message}."
            raise Stopped(reason, FAILED) from _Trace(trace)
        if kind == "finished":
            self.job = None
        return Event(kind, job, value, *note)

    def _died(self) -> Stopped:
        self.process.join(10)  # it has closed its end, but Python and torch may take a while to leave
        code = self.process.exitcode
        how = f"with status {code}" if code is None or code >= 0 else f"by signal {-code}"
        hint = "; the system may have run out of memory: try --workers 1" if code in (-9, 137) else ""
        job = self.job
        return Stopped(f"The process that trained {job.model} with seed {job.seed} was ended {how}{hint}.", FAILED)


class _Trace(Exception):  # noqa: N818 (it holds one)
    """The trace of an error in another process, to be shown as the cause of ours."""


def _ready(busy: list[_Worker]) -> list[_Worker]:
    pipes = connection.wait([worker.pipe for worker in busy], TICK)
    return [worker for worker in busy if worker.pipe in pipes]


def _end(team: list[_Worker]) -> None:
    for worker in team:
        worker.process.kill()  # it has nothing to put in order, and would not hear a softer word while it computes
    for worker in team:
        worker.process.join()
        worker.pipe.close()


def _serve(pipe, work: Callable) -> None:
    """What happens inside a process: job after job, until it is ended or nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; our parent ends us
    tqdm.set_lock(threading.RLock())  # its usual lock lies in the system, where a process that is killed leaves it
    with suppress(EOFError, BrokenPipeError):  # the parent is gone, and so are we
        while True:
            job = pipe.recv()
            try:
                with listening(lambda steps, note: pipe.send(("steps", steps, note))):
                    result = work(job)
                pipe.send(("finished", result))
            except Exception as error:
                pipe.send(("failed", (f"{type(error).__name__}: {error}".rstrip(".: "), traceback.format_exc())))
