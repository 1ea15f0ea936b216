"""Which room may import which: ``utils/README.md`` says it, and here the code is held to it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UTILS = ROOT / "utils"
PAGE = (UTILS / "README.md").read_text(encoding="utf-8")
COMMANDS = {"experiments", "generate", "pretrained"}  # nothing imports them


def _rows(heading: str) -> list[list[str]]:
    """The cells of a table of the page, by the heading of its first column."""
    table = PAGE.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def _names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


MAY_IMPORT = {_names(row[0])[0]: set(_names(row[1])) for row in _rows("room")}
ORDER = [name for row in _rows("room of `attnbook`") for name in _names(row[0])]


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules of this house that a file imports anywhere, by their full names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in found if name.split(".")[0] in MAY_IMPORT)


def test_the_page_names_every_room():
    assert MAY_IMPORT.keys() == {path.parent.name for path in UTILS.glob("*/__init__.py")}
    rooms = {path.parent.name for path in (UTILS / "attnbook").glob("*/__init__.py")}
    modules = {path.stem for path in (UTILS / "attnbook").glob("[a-z]*.py")}
    assert set(ORDER) == rooms | modules - COMMANDS


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_the_page_allows(room):
    allowed = MAY_IMPORT[room] | {room}
    wrong = [
        f"{path.relative_to(UTILS).as_posix()} imports {name}"
        for path in sorted((UTILS / room).rglob("*.py"))
        for name in _imported(path)
        if name.split(".")[0] not in allowed
    ]
    assert wrong == []


def test_no_room_imports_one_that_imports_it():
    assert [(a, b) for a, others in MAY_IMPORT.items() for b in others if a in MAY_IMPORT[b]] == []


def test_in_the_subject_each_room_imports_only_those_before_it():
    wrong = []
    for path in sorted((UTILS / "attnbook").glob("*/**/*.py")) + sorted((UTILS / "attnbook").glob("[a-z]*.py")):
        here = path.relative_to(UTILS / "attnbook").parts[0].removesuffix(".py")
        for name in _imported(path):
            there = name.split(".")[1]
            before = there == here or here in COMMANDS or ORDER.index(there) < ORDER.index(here)
            wrong += [] if before else [f"{here} imports {name}"]
    assert wrong == []
