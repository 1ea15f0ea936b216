"""nbgrader's commands as a person types them, each in a fork of one process that has imported it.

The import takes up to three seconds, and most commands less than one. Where there are no forks (Windows) each command
is a fresh process, as ever.
"""

import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import warm_kernels

import coursekit.no_grammars  # noqa: F401 (saves two seconds, also where each command is a fresh process)

FORKS = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT = multiprocessing.get_context("forkserver" if FORKS else "spawn")
if FORKS:
    CONTEXT.set_forkserver_preload(["coursekit.no_grammars", "nbgrader.apps.nbgraderapp"])


def nbgrader(folder: Path, *words: str, status: int = 0, warm: bool = False, **settings: str) -> str:
    """Runs one command in a folder, with more settings in its environment; returns what it logged.

    Args:
        status: with which it must end. warm: whether its kernels are forks of a process that has imported torch."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # it calls alembic by its name
    with TemporaryDirectory() as place:
        log = Path(place) / "log"
        arguments = words, folder, {**os.environ, "PATH": path, **settings}, log, warm
        process = CONTEXT.Process(target=_run, args=arguments)
        process.start()
        process.join()
        said = log.read_text(encoding="utf-8")
    assert process.exitcode == status, said[-3000:]
    return said


def _run(words: Sequence[str], folder: Path, settings: dict[str, str], log: Path, warm: bool) -> None:
    os.environ.clear()
    os.environ.update(settings)
    os.chdir(folder)
    file = os.open(log, os.O_WRONLY | os.O_CREAT)
    for standard in (1, 2):
        os.dup2(file, standard)
    if warm:
        warm_kernels.install()
    from nbgrader.apps.nbgraderapp import main

    sys.argv = ["nbgrader", *words]
    main()
