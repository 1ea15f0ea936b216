"""A table of what the course holds: chapters and labs, counted. Nothing in it changes from run to run."""

import re
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from coursekit.labrules import points_by_exercise, points_of
from coursekit.notebooks import code_cells, images, prose, read
from coursekit.project import Lab, Project

PAGE = Path("book/status.md")
CLAIM = re.compile(r"^\s*claim\(", re.MULTILINE)
EXERCISE = re.compile(r"^(?::{3,}|`{3,})\{exercise(?:-start)?\}", re.MULTILINE)


class ChapterRow(NamedTuple):
    """One chapter, counted."""

    title: str
    file: str
    minutes: int
    words: int
    figures: int
    claims: int
    exercises: int


class LabRow(NamedTuple):
    """One lab, counted; known mistakes come from the lab's checks."""

    title: str
    file: str
    minutes: int
    exercises: int
    points: int | float
    properties: int
    mistakes: int


def chapter_row(project: Project, path: Path) -> ChapterRow:
    """Counts a chapter."""
    notebook = read(path)
    about, cells = _about(notebook), code_cells(notebook)
    return ChapterRow(
        title=about.get("title", path.stem),
        file=project.relative(path),
        minutes=about.get("minutes", 0),
        words=len(prose(notebook).split()),
        figures=sum(map(images, cells)),
        claims=sum(len(CLAIM.findall(cell.source)) for cell in cells),
        exercises=len(EXERCISE.findall(prose(notebook))),
    )


def lab_row(project: Project, lab: Lab, catalogue: dict) -> LabRow:
    """Counts a lab; `catalogue` is what `attnlabs.catalogue()` gives."""
    notebook = read(lab.source)
    checks = (catalogue.get(lab.number) or catalogue.get(lab.name) or {}).values()
    return LabRow(
        title=_about(notebook).get("title", lab.name),
        file=project.relative(lab.released),
        minutes=_about(notebook).get("minutes", 0),
        exercises=sum(points > 0 for points in points_by_exercise(notebook).values()),
        points=points_of(notebook),
        properties=sum(len(exercise.properties) for exercise in checks),
        mistakes=sum(len(exercise.mistakes) for exercise in checks),
    )


def status_page(project: Project) -> str:
    """The page `book/status.md`."""
    from attnlabs import catalogue

    chapters = [chapter_row(project, path) for path in project.chapters]
    known = catalogue()
    labs = [lab_row(project, lab, known) for lab in project.labs]
    return "\n".join([
        "# What the course holds", "",
        "Counted by `coursekit status --write` from the notebooks and the checks themselves, so it says what",
        "is there and not what was planned. Minutes are estimates for one reader, without machine time.", "",
        "## Chapters", "",
        *table(["Chapter", "Minutes", "Words", "Figures", "Claims", "Exercises"], chapters), "",
        "A *claim* is a statement of the text that a cell asserts again in every test run.", "",
        "## Labs", "",
        *table(["Lab", "Minutes", "Exercises", "Points", "Properties checked", "Known mistakes"], labs), "",
        "A *known mistake* is a wrong answer that its check recognises and calls by name.", "",
    ])  # fmt: skip


def table(heads: list[str], rows: list[ChapterRow] | list[LabRow]) -> list[str]:
    """A Markdown table with a row of sums; titles link to their pages."""
    lines = ["| " + " | ".join(heads) + " |", "|:--" + "|--:" * (len(heads) - 1) + "|"]
    for row in rows:
        lines.append(_line(f"[{row.title}](../{row.file})", row[2:]))
    sums = [sum(column) for column in zip(*(row[2:] for row in rows), strict=True)]
    return lines + ([_line(f"**All {len(rows)}**", sums)] if rows else [])


def plain(page: str) -> str:
    """The page as one reads it in a terminal: without links, bold type and alignment lines."""
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    return re.sub(r"^\|:--.*\n", "", page.replace("**", ""), flags=re.MULTILINE)


def _line(title: str, numbers: tuple | list) -> str:
    return f"| {title} | " + " | ".join(f"{number:,g}" for number in numbers) + " |"


def _about(notebook: NotebookNode) -> dict:
    return notebook.metadata.get("attnbook", {})
