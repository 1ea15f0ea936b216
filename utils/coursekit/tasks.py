"""The tools that build, test and open the course: one table for the Makefile, for course.py, and for Windows.

Nothing here needs more than Python itself, so that whoever only reads the book can build it."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coursekit import CourseError
from coursekit.environment import printed_by, settings_with

Command = Sequence[str]
Stage = tuple[Command, ...]  # commands that run side by side

BOOK = (
    "jupyter-book", "build", ".", "--config", "book/_config.yml", "--toc", "book/_toc.yml",
    "--path-output", "book", "-W", "--keep-going", "-n",
)  # fmt: skip
FIRST_PAGE = Path("book/_build/html/index.html")
RUFF = ("ruff", "check", ".")
FORMAT = ("ruff", "format", "--check", ".")
TYPES = ("mypy",)  # of what, stands in pyproject.toml
VERIFY = ("python", "-m", "coursekit", "verify", "--no-run")
# One worker more than the system counts processors, each with one thread, because tests wait: for a browser, for a
# process that starts or ends, for a limit of time. Each worker imports torch, so there are at most eight. A notebook
# stays whole in one worker, and so in one kernel.
WORKERS = min((os.cpu_count() or 1) + 1, 8)
PYTEST = ("pytest", "-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder")

STYLE: tuple[Stage, ...] = ((RUFF,), (FORMAT,))
QUICK: Command = (*PYTEST, "-m", "not slow and not book", "tests")
# Nearly all tests do without the built book, so it is built, and types are checked, beside them.
WITHOUT_BOOK: Command = (
    *PYTEST, "--nbval-lax", "--nbval-cell-timeout=300", "-m", "not book", "chapters", "solutions", "tests",
)  # fmt: skip
OF_BOOK = ("tests/book", "tests/coursekit/grading/test_reading.py", "tests/test_house.py")  # to collect all takes long
WITH_BOOK: Command = (*PYTEST, "-m", "book", *OF_BOOK)

TASKS: dict[str, tuple[Stage, ...]] = {
    "book": ((BOOK,),),
    "lint": (*STYLE, (TYPES,)),
    "check": (*STYLE, (QUICK, TYPES, VERIFY)),
    "test": (*STYLE, (WITHOUT_BOOK, TYPES, BOOK), (WITH_BOOK,)),
}
LEFT_OUT = "check leaves out: slow tests, all notebooks' runs, the built book. `make test` runs everything."
ROOT_REFUSED = (
    "Jupyter does not start for the administrator (root), because a notebook could then change anything on this "
    "machine. Start it as an ordinary user; or, inside a container, run `coursekit lab --allow-root`."
)


def run_task(name: str, root: Path, arguments: Sequence[str] = ()) -> int:
    """Runs the commands of a task in the folder `root`; returns 0, or the status of the first that fails, whose stage
    is the last one that is run. Where there are `arguments`, pytest runs with these, in place of the task.

    Raises CourseError for a tool that the environment lacks."""
    # Where bytecode was not to be kept, each of some hundred processes would compile the packages and their tests anew.
    settings = environment() | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    if name == "check":
        say(LEFT_OUT)
    stages = ((("pytest", *arguments),),) if arguments else TASKS[name]
    return next(filter(None, (run_stage(stage, root, settings) for stage in stages)), 0)


def run_stage(stage: Stage, root: Path, settings: dict[str, str]) -> int:
    """Runs commands side by side; returns the status of the first of them that failed, else 0.

    What the first one prints is seen as it comes, what another prints when it ends."""
    first, *others = stage
    with ThreadPoolExecutor(max(1, len(others))) as pool:
        beside = [pool.submit(call, other, root, settings, kept=True) for other in others]
        statuses = [call(first, root, settings), *(status.result() for status in beside)]
    return next(filter(None, statuses), 0)


def open_lab(root: Path, allow_root: bool = False, browser: bool = True, port: int | None = None) -> int:
    """Starts JupyterLab on the folder work/ and waits until it ends; returns its status.

    Its root is the course's, so that the labs' links to chapters lead somewhere."""
    command = ["jupyter-lab", f"--ServerApp.root_dir={root}", "--LabApp.default_url=/lab/tree/work"]
    command += ["--allow-root"] if allow_root else []
    command += [] if browser else ["--no-browser"]
    command += [f"--port={port}"] if port is not None else []
    return call(command, root, {"OMP_NUM_THREADS": "1"} | environment())


def refuse_root(allow_root: bool) -> None:
    """Raises CourseError for the administrator of a machine, whom Jupyter refuses with less explanation."""
    if not allow_root and hasattr(os, "geteuid") and os.geteuid() == 0:  # Windows has no such number
        raise CourseError(ROOT_REFUSED)


def call(command: Command, root: Path, settings: dict[str, str], kept: bool = False) -> int:
    """Prints one command, runs it in the folder `root`, and returns its status.

    What it prints is `kept` until it ends, where something else runs beside it. Raises KeyboardInterrupt as
    :func:`coursekit.environment.printed_by`."""
    program = _program(command[0], settings["PATH"])
    if not kept:
        say(f"$ {shlex.join(command)}")
    out, err = (subprocess.PIPE, subprocess.STDOUT) if kept else (None, None)
    process = subprocess.Popen([program, *command[1:]], cwd=root, env=settings, stdout=out, stderr=err)
    printed = printed_by(process)
    if kept:
        say(f"$ {shlex.join(command)}\n{printed.decode('utf-8', errors='replace').rstrip()}")
    status = process.returncode
    return status if status >= 0 else 128 - status  # a signal's number, as a shell would give it


def say(text: str) -> None:
    """Prints a line or more in one piece; `print` writes its end apart, and other commands may print between."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def environment() -> dict[str, str]:
    """What each tool is started with, this environment's own ones first."""
    return settings_with(*_own_folders())


def _own_folders() -> list[str]:
    """Where this environment's programs are: two folders with conda on Windows, else one and the same."""
    return list(dict.fromkeys([str(Path(sys.executable).parent), sysconfig.get_path("scripts")]))


def _program(name: str, path: str) -> str:
    if name == "python":
        return sys.executable
    found = shutil.which(name, path=path)
    if found is None:
        raise CourseError(
            f"{name} is not installed in the environment of {sys.executable}: use the course's environment, "
            "which README.md says how to set up"
        )
    return found
