"""One warm process for all tests that run foreign code: importing torch takes it seconds."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest
from skips import skip_for_want_of

from coursekit import CourseError
from coursekit.grading import isolation, side_by_side
from coursekit.grading.apart import Warm
from coursekit.grading.given import given, lay_out
from coursekit.grading.remote import Session


@pytest.fixture(scope="session")
def view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what answers to labs 2, 12 and 13 may import."""
    names, folder = dict(given("lab02")), tmp_path_factory.mktemp("view")
    for module, more in [*given("lab12").items(), *given("lab13").items()]:
        names[module] = [*names.get(module, []), *more]
    lay_out(names, folder)
    return folder


@pytest.fixture(scope="session")
def warm(view: Path) -> Iterator[Warm]:
    """A warm process without isolation: it runs on every machine with `os.fork`."""
    with Warm(view, isolated=False) as process:
        yield process


@pytest.fixture(scope="session")
def isolated(view: Path) -> Iterator[Warm]:
    """A warm process in bubblewrap, or the reason why there is none."""
    if reason := isolation.lacking():
        skip_for_want_of("isolation", f"no isolation on this machine: {reason}")
    with Warm(view) as process:
        yield process


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch, warm: Warm) -> list[str]:
    """Grades without a worker, with the one warm process, and keeps the list of those that were graded."""
    began: list[str] = []

    class Here(Executor):
        def __init__(self, *_):
            monkeypatch.setattr(side_by_side, "_warm", warm)

        def submit(self, function, job):
            done = Future()
            began.extend([job.student] if function is side_by_side._grade else [])
            try:
                done.set_result(function(job))
            except CourseError as error:
                done.set_exception(error)
            return done

    monkeypatch.setattr(side_by_side, "ProcessPoolExecutor", Here)
    return began


@pytest.fixture
def session(warm: Warm) -> Iterator[Callable[..., Session]]:
    """session(source, ...): a submission whose cells these are, in a process of its own."""
    yield from _sessions(warm)


@pytest.fixture
def contained(isolated: Warm) -> Iterator[Callable[..., Session]]:
    """The same in bubblewrap."""
    yield from _sessions(isolated)


def _sessions(warm: Warm) -> Iterator[Callable[..., Session]]:
    begun: list[Session] = []

    def begin(*sources: str, **settings: float) -> Session:
        begun.append(Session(warm.submission, [(f"cell {i}", text) for i, text in enumerate(sources)], **settings))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()
