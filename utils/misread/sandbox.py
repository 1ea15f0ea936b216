"""Call a student's function safely: on copies, within a time limit, with its output kept and its errors
caught.

The time limit uses the POSIX interval timer in the main thread. Elsewhere (Windows, another thread) the
function runs in a thread of its own that is abandoned, and asked to stop, when time is up. Neither can stop
a loop inside compiled code, nor one that catches every exception."""

import contextlib
import ctypes
import io
import linecache
import signal
import sysconfig
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from . import values
from .near_names import near_name

SECONDS = 5.0  # for one call; an answer needs milliseconds
OUTPUT = 64 * 1024  # characters that are kept of what one call (or, in grading, one cell) prints
_PACKAGES = str(Path(__file__).parents[1])  # the engine, and the course that it checks: never the student's line
_LIBRARIES = (_PACKAGES, str(Path(torch.__file__).parent), *map(sysconfig.get_path, ("stdlib", "purelib")))


class Capped(io.StringIO):
    """Keeps the beginning of what is written: an answer that prints without end fills no memory."""

    def write(self, text: str) -> int:
        room = OUTPUT - self.tell()
        super().write(text[: max(room, 0)])
        return len(text)


class TimeIsUp(BaseException):
    """Not an Exception, so that `except Exception` in the student's code doesn't swallow it."""


@dataclass(frozen=True)
class Failure:
    """What went wrong while the student's function ran, and where."""

    error: BaseException
    text: str
    function: str
    line: int | None
    code: str

    @property
    def timed_out(self) -> bool:
        return isinstance(self.error, TimeIsUp)

    @property
    def unwritten(self) -> bool:
        """A deliberate `raise NotImplementedError`, not one out of torch."""
        deliberate = not self.code or self.code.startswith("raise")
        return deliberate and isinstance(self.error, NotImplementedError)


@dataclass(frozen=True)
class Run:
    """One call: pristine arguments; the plain result, or the failure; the arguments afterwards; what was
    printed.

    `value` is what is compared: the result, in the exercise's canonical form where it has one. `autograd`:
    the way in which torch was asked for gradients, where an exercise wants them found by hand.
    """

    args: tuple
    result: Any = None
    value: Any = None
    failure: Failure | None = None
    raw: Any = None
    after: tuple = ()
    printed: str = ""
    autograd: str = ""
    kept: dict = field(default_factory=dict, compare=False, repr=False)  # what else was worked out for this call

    @property
    def timed_out(self) -> bool:
        return self.failure is not None and self.failure.timed_out

    @cached_property
    def reading(self) -> int:
        """How hard the arguments are to read."""
        return values.reading(self.args)

    @cached_property
    def changed(self) -> list[int]:
        """Which arguments were written into."""
        pairs = enumerate(zip(self.args, self.after, strict=False))
        data = [(i, values.plain(a), values.plain(b)) for i, (a, b) in pairs if not callable(a)]
        return [i for i, before, after in data if not values.same(before, after)]


def run(function: Callable, args: tuple, canonical: Callable | None = None) -> Run:
    """Call `function` on a copy of `args`."""
    given, printed = values.clone(args), Capped()
    found, failure = guarded(_called, (function, given), printed)
    if failure is not None:
        return Run(args, failure=failure, printed=printed.getvalue())
    raw, result = found
    value, failure = guarded(canonical, (result, *values.clone(args))) if canonical else (result, None)
    value = result if failure is not None else value
    return Run(args, result, value, None, raw, given, printed.getvalue())


def _called(function: Callable, args: Sequence) -> tuple[Any, Any]:
    """What a function gives back, as it is and made plain: under one guard, because a guard takes time."""
    raw = function(*args)
    try:
        return raw, values.plain(raw)
    except Exception:  # a list that holds itself, a class that cannot be hashed
        return raw, values.Strange(raw)


def guarded(function: Callable, args: Sequence, printed: io.StringIO | None = None) -> tuple:
    """`(result, None)` or `(None, Failure)`. Global randomness, the default dtype, whether torch keeps gradients,
    warnings, printing are left as they were.

    What goes to `stderr` is dropped, as in grading.
    """
    randomness = torch.default_generator.get_state()
    dtype, keeps_gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.default_generator.manual_seed(0)
    try:
        with (
            contextlib.redirect_stdout(printed or Capped()),
            contextlib.redirect_stderr(Capped()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            return within(SECONDS, function, args), None
    except (Exception, SystemExit, TimeIsUp) as error:
        return None, failure_of(error)
    finally:
        torch.default_generator.set_state(randomness)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(keeps_gradients)


def within(seconds: float, function: Callable, args: Sequence) -> Any:
    """`function(*args)`, or TimeIsUp after `seconds`, or later while other programs keep the processor
    busy."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        return _with_alarm(_Clock(seconds), function, args)
    return _in_thread(_Clock(seconds), function, args)


class _Clock:
    """A slow machine is not a loop without end: time is up when it was spent computing, or four times
    over."""

    def __init__(self, seconds: float):
        self.seconds, self.wall, self.used = seconds, time.monotonic(), time.process_time()

    def passed(self) -> float:
        return time.monotonic() - self.wall

    def is_up(self) -> bool:
        busy = time.process_time() - self.used > self.seconds / 2
        return self.passed() >= self.seconds and (busy or self.passed() >= 4 * self.seconds)


def _with_alarm(clock: _Clock, function: Callable, args: Sequence) -> Any:
    running = True

    def ring(number, frame):
        if running and clock.is_up():
            raise TimeIsUp  # and again at the next ring, if a bare except has swallowed it

    handler = signal.signal(signal.SIGALRM, ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, clock.seconds, clock.seconds / 5)
    try:
        return function(*args)
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if remaining:  # somebody else's alarm was set: give it back what is left of its time
            signal.setitimer(signal.ITIMER_REAL, max(remaining - clock.passed(), 1e-3), interval)


def _in_thread(clock: _Clock, function: Callable, args: Sequence) -> Any:
    outcome: dict[str, Any] = {}

    def work() -> None:
        try:
            outcome["value"] = function(*args)
        except BaseException as error:  # carried over to the caller's thread
            outcome["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive() and not clock.is_up():
        thread.join(clock.seconds / 5)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimeIsUp))
        raise TimeIsUp
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def failure_of(error: BaseException) -> Failure:
    """Find the last line of the student's own code in the traceback, or in `where` if it ran in another process."""
    try:
        said = str(error).strip()[:600]
    except Exception:
        said = ""
    found: tuple[str, int | None, str] = ("", None, "")
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not code.co_filename.startswith(_LIBRARIES):
            text = linecache.getline(code.co_filename, step.tb_lineno, step.tb_frame.f_globals).strip()
            found = (code.co_name, step.tb_lineno, text if len(text) < 80 else text[:77] + "...")
        step = step.tb_next
    where = getattr(error, "where", None)
    if where is None and type(error) is NameError and (near := near_name(error)):  # with `where` it was said there
        said += f". Did you mean `{near}`?"
    return Failure(error.with_traceback(None), said or "(no text)", *(where or found))
