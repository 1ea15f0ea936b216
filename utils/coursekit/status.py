"""What the course holds, counted: chapters and labs. Nothing of it changes from run to run."""

import re
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from coursekit.labrules import points_by_exercise, points_of
from coursekit.minutes import EXERCISE, minutes_of
from coursekit.mistakes.known import Known, known_mistakes
from coursekit.notebooks import code_cells, images, prose, read
from coursekit.project import Lab, Project
from coursekit.size import words_in

CLAIM = re.compile(r"^\s*claim\(", re.MULTILINE)


class ChapterRow(NamedTuple):
    """One chapter, counted; its minutes are to read it, and to solve its exercises."""

    title: str
    file: str
    reading: int
    solving: int
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
    cells, minutes = code_cells(notebook), minutes_of(notebook)
    return ChapterRow(
        title=_about(notebook).get("title", path.stem),
        file=project.relative(path),
        reading=minutes.reading,
        solving=minutes.exercises,
        words=words_in(prose(notebook)),
        figures=sum(map(images, cells)),
        claims=sum(len(CLAIM.findall(cell.source)) for cell in cells),
        exercises=len(EXERCISE.findall(prose(notebook))),
    )


def lab_row(project: Project, lab: Lab, known: dict[str, Known]) -> LabRow:
    """Counts a lab, with what is known of its exercises."""
    notebook = read(lab.source)
    return LabRow(
        title=_about(notebook).get("title", lab.name),
        file=project.relative(lab.released),
        minutes=_about(notebook).get("minutes", 0),
        exercises=sum(points > 0 for points in points_by_exercise(notebook).values()),
        points=points_of(notebook),
        properties=sum(exercise.properties for exercise in known.values()),
        mistakes=sum(len(exercise.mistakes) for exercise in known.values()),
    )


def status_places(project: Project) -> dict[str, str]:
    """What stands at each place of the page `book/status.md`: the table of chapters, and that of labs."""
    known = known_mistakes(project).labs
    chapters = [chapter_row(project, path) for path in project.chapters]
    labs = [lab_row(project, lab, known.get(lab.number, {})) for lab in project.labs]
    return {
        "chapters": "\n".join(
            table(["Chapter", "Minutes to read", "to solve", "Words", "Figures", "Claims", "Exercises"], chapters)
        ),
        "labs": "\n".join(
            table(["Lab", "Minutes", "Exercises", "Points", "Properties checked", "Known mistakes"], labs)
        ),
    }


def table(heads: list[str], rows: list[ChapterRow] | list[LabRow]) -> list[str]:
    """A Markdown table with a row of sums; titles link to their pages."""
    lines = ["| " + " | ".join(heads) + " |", "|:--" + "|--:" * (len(heads) - 1) + "|"]
    for row in rows:
        lines.append(_line(f"[{row.title}](../{row.file})", row[2:]))
    sums = [sum(column) for column in zip(*(row[2:] for row in rows), strict=True)]
    return lines + ([_line(f"**All {len(rows)}**", sums)] if rows else [])


def plain(markdown: str) -> str:
    """Tables as one reads them in a terminal: without links, bold type and alignment lines."""
    markdown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"^\|:--.*\n", "", markdown.replace("**", ""), flags=re.MULTILINE)


def _line(title: str, numbers: tuple | list) -> str:
    return f"| {title} | " + " | ".join(f"{number:,g}" for number in numbers) + " |"


def _about(notebook: NotebookNode) -> dict:
    return notebook.metadata.get("attnbook", {})
