"""Solutions and hidden tests must not be readable in the student's copy of a lab."""

from collections.abc import Iterable

from coursekit.notebooks import code_cells, read, was_run
from coursekit.project import Lab
from coursekit.regions import LIKE_A_MARK, Region, regions
from coursekit.textquestion import is_written

# Characters. A short line such as `return weights` gives nothing away; one like a whole formula does.
TELLING = {"SOLUTION": 30, "HIDDEN TESTS": 12}


def leaks(lab: Lab) -> list[str]:
    """What a student could read that only the source may hold, in words."""
    if not lab.released.is_file():
        return []
    released, source = read(lab.released), read(lab.source)
    text = lab.released.read_text(encoding="utf-8")
    problems = [f"the mark {mark[0]!r} is in the student's copy" for mark in LIKE_A_MARK.finditer(text)]
    if was_run(released):
        problems.append("the student's copy holds outputs")
    shown = [_strip(cell.source.splitlines()) for cell in released.cells]
    for cell in code_cells(source):
        for region in regions(cell.source):
            what = f"{region.kind.lower()} of cell {cell.id}"
            problems += [f"{what} is in the student's copy: {line}" for line in _leaked(region, shown)]
    for cell in filter(is_written, source.cells):
        answer = Region("SOLUTION", cell.source.splitlines())
        problems += [f"the answer of cell {cell.id} is in the student's copy: {x}" for x in _leaked(answer, shown)]
    return problems


def _leaked(region: Region, shown: list[list[str]]) -> list[str]:
    """The telling lines that are shown, or the whole region where it stands as one block."""
    secret = _strip(region.lines)
    lines = {line for cell in shown for line in cell}
    found = [line for line in secret if len(line) >= TELLING[region.kind] and line in lines]
    block = "\n".join(secret)
    if found or len(block) < TELLING["HIDDEN TESTS"]:
        return found
    return [" / ".join(secret)] if any(block in "\n".join(cell) for cell in shown) else []


def _strip(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]
