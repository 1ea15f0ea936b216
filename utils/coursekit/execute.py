"""Running notebooks from top to bottom, and storing what they show in a form that stays the same."""

import asyncio
import atexit
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from nbclient import NotebookClient
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat import NotebookNode, from_dict
from traitlets.config import Config

from coursekit import CourseError
from coursekit.environment import settings_with
from coursekit.notebooks import code_cells, normalise, read, write
from coursekit.sockets import private_sockets

LIMIT = 90  # seconds on two cores, for any notebook
CELL_TIMEOUT = 600
# A traceback that nobody reads takes a second to lay out; what failed, and how, is kept of each error anyway.
QUIET = ["--IPKernelApp.log_level=40", "--InteractiveShell.xmode=Minimal"]


class Interruptible(asyncio.SelectorEventLoop):
    """nbclient's own handler of Ctrl-C ends the kernel and runs on; without it, Ctrl-C ends the run and its kernel."""

    def add_signal_handler(self, *_: object) -> NoReturn:
        """Raises RuntimeError, as everywhere outside of a main thread, which nbclient is prepared for."""
        raise RuntimeError("this loop leaves signals alone")


@dataclass
class Run:
    """What came of running one notebook: the seconds it took and the cells that failed, as id -> error."""

    notebook: NotebookNode
    seconds: float
    failures: dict[str, NotebookNode] = field(default_factory=dict)


def run_notebook(notebook: NotebookNode, folder: Path, timeout: int = CELL_TIMEOUT) -> Run:
    """Runs a copy of the notebook in `folder`, through its end even where cells fail.

    Raises CourseError when the kernel dies or a cell takes longer than `timeout` seconds."""
    notebook, _ = ClearOutputPreprocessor().preprocess(from_dict(notebook), {})
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as settings, asyncio.Runner(loop_factory=Interruptible) as runner:
        client = NotebookClient(
            notebook, kernel_name="python3", timeout=timeout, allow_errors=True, record_timing=False,
            resources={"metadata": {"path": str(folder)}}, extra_arguments=QUIET,
            config=Config(KernelManager=private_sockets(settings)),
        )  # fmt: skip
        try:
            runner.run(_to_the_end(client, _environment(settings)))
        except (RuntimeError, TimeoutError) as error:  # nbclient's DeadKernelError is a RuntimeError
            atexit.unregister(client._cleanup_kernel)  # which fails at the exit where a kernel could not begin
            raise CourseError(f"the kernel died or hung: {error}") from error
    return Run(notebook, time.perf_counter() - started, _failures(notebook))


async def _to_the_end(client: NotebookClient, environment: dict[str, str]) -> None:
    run = asyncio.ensure_future(client.async_execute(env=environment))
    try:
        await asyncio.shield(run)
    except asyncio.CancelledError:  # by Ctrl-C: a kernel that is busy would not hear a softer word
        client.shutdown_kernel = "immediate"
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        raise


def execute(path: Path, timeout: int = CELL_TIMEOUT) -> float:
    """Runs the notebook at `path` and stores it with its outputs, normalised; returns the seconds it took.

    Raises CourseError, and leaves the file as it was, when a cell fails."""
    run = run_notebook(read(path), path.parent, timeout)
    failed = [cell for cell in code_cells(run.notebook) if cell.id in run.failures]
    if failed:
        raise CourseError(_describe(failed[0], run.failures[failed[0].id]))
    write(normalise(run.notebook), path)
    return run.seconds


def _environment(settings: str) -> dict[str, str]:
    """One thread, since sums in another order end in another digit; and no personal start-up files."""
    return {"OMP_NUM_THREADS": "1", **settings_with(Path(sys.executable).parent), "IPYTHONDIR": settings}


def _failures(notebook: NotebookNode) -> dict[str, NotebookNode]:
    errors = {}
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                errors[cell.id] = output
    return errors


def _describe(cell: NotebookNode, error: NotebookNode) -> str:
    code = "\n".join(f"    {line}" for line in cell.source.splitlines())
    return f"cell {cell.id} fails, nothing was written\n{code}\n    -> {error.ename}: {error.evalue}"
