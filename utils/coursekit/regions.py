"""Solution and hidden-test regions in a lab's source: reading them, and refusing crooked ones."""

import re
from typing import NamedTuple

from nbformat import NotebookNode

from coursekit.notebooks import grader, is_answer, is_graded

MARK = re.compile(r"^\s*###\s*(BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$")
LIKE_A_MARK = re.compile(r"(BEGIN|END)\s+(SOLUTION|HIDDEN|MARK\s*SCHEME)", re.IGNORECASE)


class Region(NamedTuple):
    """What stands between one pair of marks."""

    kind: str  # SOLUTION or HIDDEN TESTS
    lines: list[str]


def regions(source: str) -> list[Region]:
    """The regions of a cell. Raises ValueError where marks are unclosed, nested, crossed or misspelt."""
    found: list[Region] = []
    open_kind, lines = None, []
    for number, line in enumerate(source.splitlines(), start=1):
        mark = MARK.match(line)
        if not mark and LIKE_A_MARK.search(line):
            raise ValueError(f"line {number} looks like a mark; marks look like '### BEGIN SOLUTION'")
        if not mark:
            lines.append(line)
        elif mark[1] == "BEGIN":
            if open_kind:
                raise ValueError(f"line {number} begins {mark[2]} inside of {open_kind}; regions don't nest")
            open_kind, lines = mark[2], []
        else:
            if open_kind != mark[2]:
                raise ValueError(f"line {number} ends {mark[2]}, but {open_kind or 'nothing'} was begun")
            found.append(Region(open_kind, lines))
            open_kind, lines = None, []
    if open_kind:
        raise ValueError(f"### BEGIN {open_kind} is never closed: '### END {open_kind}' is missing")
    return found


def region_problem(cell: NotebookNode) -> str | None:
    """What is wrong with the cell's regions, in words, or None."""
    try:
        kinds = {region.kind for region in regions(cell.source)}
    except ValueError as error:
        return str(error)
    if "SOLUTION" in kinds and not is_answer(cell):
        return "a solution stands in a cell that is no answer cell: students would get it"
    if "HIDDEN TESTS" in kinds and not is_graded(cell):
        return "hidden tests stand in a cell that is not graded: students would get them"
    if cell.cell_type == "code" and is_answer(cell) and "SOLUTION" not in kinds:
        return "an answer cell needs a solution region inside its function, so that it runs unsolved"
    return None


def given_lines(cell: NotebookNode) -> list[str]:
    """The lines of a cell that students get: those outside of all regions (none of a written answer).

    nbgrader's ClearSolutions puts a stub in place of each region; here the question is what stands beside the stubs.
    """
    if is_answer(cell) and grader(cell).get("grade"):
        return []
    given, inside = [], False
    for line in cell.source.splitlines():
        mark = MARK.match(line)
        if mark:
            inside = mark[1] == "BEGIN"
        elif not inside:
            given.append(line)
    return given
