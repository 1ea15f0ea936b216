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


class Shell:
    """What `get_ipython()` gives. Methods that are not written here do nothing."""

    captured = Captured

    def run_line_magic(self, name: str, line: str = "", *_: Any) -> Any:
        """`%time` runs its line where it stands and gives back its value, and `%pwd` the folder; others do nothing."""
        if name == "time":
            caller = sys._getframe(1)
            return _run(line, caller.f_globals, caller.f_locals)
        return os.getcwd() if name == "pwd" else None

    def getoutput(self, *_: Any, **__: Any) -> list[str]:
        """`!command` is not run, so there are no lines."""
        return []

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


NAMES = {"get_ipython": get_ipython, "display": display}
