"""A cell run too early: say which one to run first, under Python's own message."""

import sys
from collections.abc import Iterable
from typing import Any


def get_ipython() -> Any:
    """The shell of the notebook that runs; ``None`` outside of one."""
    ipython = sys.modules.get("IPython")  # every notebook has imported it
    return ipython and ipython.get_ipython()


def advice(name: str, exercises: Iterable[str]) -> str:
    """What to do about a `name` that is not defined, in a notebook whose lab has these `exercises`."""
    if name in exercises:
        return f"{name} is an exercise of this lab: run the cell with `def {name}` first, then this one again."
    return f"{name} is made in a cell above: run the cells from the top, in order, then this one again."


def watch(exercises: Iterable[str]) -> None:
    """In a notebook, put `advice` under every NameError from now on. Elsewhere: nothing."""
    shell, names = get_ipython(), list(exercises)
    if shell is None:
        return

    def explain(shell, kind, error, traceback, tb_offset=None):
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        if error.name:
            print(advice(error.name, names))

    shell.set_custom_exc((NameError,), explain)
