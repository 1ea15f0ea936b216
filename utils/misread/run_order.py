"""A cell run too early, or a name mistyped: say under Python's own message which cell to run, or which name is near."""

import sys
from collections.abc import Iterable
from typing import Any

from .near_names import near_name


def get_ipython() -> Any:
    """The shell of the notebook that runs; ``None`` outside of one."""
    ipython = sys.modules.get("IPython")  # every notebook has imported it
    return ipython and ipython.get_ipython()


def advice(name: str, exercises: Iterable[str], near: str = "") -> str:
    """What to do about a `name` that is not defined, in a notebook whose lab has these `exercises`.

    `near` is a name that was perhaps meant."""
    if name in exercises:
        return f"{name} is an exercise of this lab: run the cell with `def {name}` first, then this one again."
    above = f"{name} is made in a cell above: run the cells from the top, in order, then this one again."
    return f"Did you mean {near}? If not, {above}" if near else above


def watch(exercises: Iterable[str]) -> None:
    """In a notebook, put `advice` under every NameError from now on. Elsewhere: nothing."""
    shell, names = get_ipython(), list(exercises)
    if shell is None:
        return

    def explain(shell, kind, error, traceback, tb_offset=None):
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        if error.name:
            print(advice(error.name, names, near_name(error, names)))

    shell.set_custom_exc((NameError,), explain)
