"""What there is of attnbook while a lab is graded: what `given.toml` lists for it, and what that needs.

The process that runs students' functions finds these definitions and no others, neither in its memory nor on its disk.
The references of the checks are not among them, nor are the package's own versions of what the lab asks for.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from coursekit.grading.slices import Slices
from coursekit.grading.submission import parsed
from coursekit.notebooks import code_cells

TABLE = Path(__file__).with_suffix(".toml")
PACKAGES = Path(__file__).resolve().parents[2]  # attnbook and coursekit lie side by side
ANSWERING = ("coursekit.grading.apart", "wait_for_submissions")
LEFT_OUT = ("coursekit.grading.left_out", "left_out")


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def given(lab: str) -> dict[str, list[str]]:
    """The names that answers to a lab ("lab02") may import, by module; none for a lab that the table does not know."""
    return _table().get(lab, {})


def imports(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """What a notebook imports from attnbook: (module, name)."""
    for cell in code_cells(notebook):
        for node in ast.walk(parsed(cell.source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "attnbook":
                yield from ((node.module or "", alias.name) for alias in node.names)


def lay_out(names: Mapping[str, Sequence[str]], notebook: NotebookNode, folder: Path) -> None:
    """Write both packages into a folder, as the answers to a lab see them.

    Args:
        names: by module, what is given. notebook: the lab; what it imports beyond that does nothing.

    Raises:
        ImportError: if something is listed that is not there.
    """
    slices = Slices(PACKAGES, "attnbook", "coursekit")
    wanted = [(module, name) for module, listed in names.items() for name in listed]
    for module, name in (ANSWERING, LEFT_OUT, *wanted):
        slices.add(module, name)
    idle = [pair for pair in dict.fromkeys(imports(notebook)) if not slices.holds(*pair)]
    sources = slices.sources()
    for module, name in idle:
        for package in _above(module):
            sources.setdefault(package, "")
        sources[module] += f"from {LEFT_OUT[0]} import {LEFT_OUT[1]}\n{name} = left_out({f'{module}.{name}'!r})\n"
    packages = {package for module in sources for package in list(_above(module))[1:]}
    for module, text in sources.items():
        path = folder.joinpath(*module.split("."))
        path = path / "__init__.py" if module in packages else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _above(module: str) -> Iterator[str]:
    """A module and the packages that it lies in."""
    while module:
        yield module
        module = module.rpartition(".")[0]
