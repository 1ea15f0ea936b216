"""Which notebooks and modules import what, and which chapter shows a name's source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coursekit import ROOMS

IMPORT = re.compile(r"^ *from ([\w.]+) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)
SHOWN = re.compile(r"\bshow_source\(\s*(\w+)")
LABEL = re.compile(r"^\(([\w-]+)\)=\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Use:
    """The first place of a notebook at which a name is used, or its source shown.

    Fields:
        page: the notebook, without its ending, from the root. section: the label before it, or nothing.
        shown: whether its source is shown there, and so explained.
    """

    page: str
    section: str
    shown: bool


def imported(text: str) -> dict[str, tuple[str, str]]:
    """What a text of Python imports from where: by the name that it gets there, (module, name)."""
    found = {}
    for module, many, few in IMPORT.findall(text):
        for entry in re.sub(r"#.*", "", many or few).split(","):
            words = entry.split()
            if words:
                found[words[-1]] = (module, words[0])
    return found


def uses_of(notebook: Path, page: str) -> Iterator[tuple[tuple[str, str], Use]]:
    """What a notebook imports and uses, as ((module, name), use); each name once."""
    names: dict[str, tuple[str, str]] = {}
    uses: dict[tuple[str, str], Use] = {}
    section = ""
    for kind, text in cells(notebook):
        if kind == "markdown":
            section = (LABEL.findall(text) or [section])[-1]
            continue
        names |= imported(text)
        shown = set(SHOWN.findall(text))
        called = set(re.findall(r"\w+", IMPORT.sub("", text)))
        for name in names.keys() & (called | shown):
            key, use = names[name], Use(page, section, name in shown)
            if key not in uses or (use.shown and not uses[key].shown):
                uses[key] = use
    yield from uses.items()


def cells(notebook: Path) -> tuple[tuple[str, str], ...]:
    """The cells of a notebook: kind and text. It is parsed again only when it has changed."""
    return _cells(notebook, notebook.stat().st_mtime_ns)


@cache
def _cells(notebook: Path, changed: int) -> tuple[tuple[str, str], ...]:
    read = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return tuple((cell["cell_type"], "".join(cell["source"])) for cell in read)


def wanted_by_others(utils: Path, notebooks: Iterable[Path]) -> set[tuple[str, str]]:
    """What notebooks, READMEs and modules import from a package that is not their own, as (module, name)."""
    found: set[tuple[str, str]] = set()
    for notebook in notebooks:
        code = "\n".join(text for kind, text in cells(notebook) if kind == "code")
        found |= set(imported(code).values())
    for room in ROOMS:
        for file in (utils / room).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            found |= {(module, name) for module, name in imported(text).values() if module.split(".")[0] != room}
        for file in (utils / room).glob("README.md"):
            found |= set(imported(file.read_text(encoding="utf-8")).values())
    return {(module, name) for module, name in found if module.split(".")[0] in ROOMS}
