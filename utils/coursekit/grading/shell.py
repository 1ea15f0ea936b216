"""What Jupyter puts into each notebook's names, for the process that runs answers, where there is no Jupyter.

It does as little as lets a cell run: what a magic, a command or a display shows is nothing that points are given for.
It is run beside a student's code, and needs nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

LOOP = asyncio.Runner()  # one for all cells: what one of them begins, a later one may await


class Captured:
    """What `%%capture name` leaves under its name: nothing was printed, nothing is shown."""

    stdout = stderr = ""
    outputs: tuple = ()

    def show(self) -> None:
        """Show nothing."""

    __call__ = show


class Lines(list):
    """What `x = !command` leaves: as if the command had written one empty line. See `IPython.utils.text.SList`."""

    def __init__(self) -> None:
        super().__init__([""])
        self.l = self.list = list(self)
        self.s = self.spstr = self.n = self.nlstr = ""
        self.p = self.paths = list[Any]()

    def grep(self, *_: Any, **__: Any) -> Lines:
        """The lines that hold something, or of each line some of its words."""
        return Lines()

    fields = grep


class Timed:
    """What `%timeit -o` leaves: nothing was timed, and all took one second, so that times can be divided."""

    average = stdev = best = worst = compile_time = 1.0
    loops = repeat = 1
    all_runs = timings = (1.0,)


def _env(line: str) -> Any:
    """All variables, or one of them, which may be empty; none is set."""
    return os.environ.get(line, "") if line else dict(os.environ)


VALUES: dict[str, Callable[[str], Any]] = {
    "pwd": lambda _: os.getcwd(),
    "env": _env,
    "timeit": lambda _: Timed(),
    "sx": lambda _: Lines(),
    "system": lambda _: Lines(),
    "who_ls": lambda _: [],
}


class Shell:
    """What `get_ipython()` gives. Methods that are not written here do nothing."""

    captured = Captured

    def run_line_magic(self, name: str, line: str = "", *_: Any) -> Any:
        """`%time` runs its line where it stands and gives back its value; of others, some give back a value."""
        if name == "time":
            caller = sys._getframe(1)
            return _run(line, caller.f_globals, caller.f_locals)
        return VALUES[name](line.strip()) if name in VALUES else None

    def getoutput(self, *_: Any, **__: Any) -> Lines:
        """`!command` is not run."""
        return Lines()

    def __getattr__(self, name: str) -> Callable[..., None]:
        return display


def _run(line: str, *names: Any) -> Any:
    """The value of an expression, or None after a statement."""
    try:
        code = compile(line, "<%time>", "eval")
    except SyntaxError:
        return exec(compile(line, "<%time>", "exec"), *names)
    return eval(code, *names)


def display(*_: Any, **__: Any) -> None:
    """Show nothing."""


SHELL = Shell()


def get_ipython() -> Shell:
    """The one of this process, as `%magic` and `!command` are calls of it."""
    return SHELL


NAMES: dict[str, Any] = {"get_ipython": get_ipython, "display": display}
NAMES |= {"In": [""], "Out": {}, "_": "", "__": "", "___": ""}  # as before the first cell: nothing is kept
