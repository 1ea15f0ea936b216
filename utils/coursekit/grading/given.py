"""What there is of the book's packages while a lab is graded: what `given.toml` lists for it, and what that needs.

The process that runs students' functions finds these definitions and no others, neither in its memory nor on its disk.
The references of the checks are not among them, nor are the package's own versions of what the lab asks for. For
whatever else a cell imports from them there are stand-ins that do nothing, see `left_out`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from coursekit import ROOMS
from coursekit.grading.isolation import PACKAGES
from coursekit.grading.slices import Slices

TABLE = Path(__file__).with_suffix(".toml")
ANSWERING = ("coursekit.grading.apart", "wait_for_submissions")


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def given(lab: str) -> dict[str, list[str]]:
    """The names that answers to a lab ("lab02") may import, by module; none for a lab that the table does not know."""
    return _table().get(lab, {})


def lay_out(names: Mapping[str, Sequence[str]], folder: Path) -> None:
    """Write the packages into a folder, as answers see them.

    Args:
        names: by module, what is given.

    Raises:
        ImportError: if something is listed that is not there.
    """
    slices = Slices(PACKAGES, *ROOMS)
    slices.add(*ANSWERING)
    for module, listed in names.items():
        for name in listed:
            slices.add(module, name)
    # Each package is there, though empty, or a process that is not isolated would find the one that is installed.
    sources = dict.fromkeys(ROOMS, "") | slices.sources()
    packages = {*ROOMS, *(module.rpartition(".")[0] for module in sources)}
    for module, text in sources.items():
        path = folder.joinpath(*module.split("."))
        path = path / "__init__.py" if module in packages else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
