"""The teacher's guide: its graph of chapters, syllabi and text questions, from the notebooks when the book is built.

Minutes are computed from the notebooks, questions stand in them, and the graph in `attnpages/figures/chapters/ch00.py`,
so nothing stands twice. The package itself is not imported, because a book is built without PyTorch.
"""

from __future__ import annotations

import ast
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from coursekit.minutes import page_minutes
from coursekit.notebooks import read
from coursekit.project import is_evidence
from coursekit.textquestion import question_of_file

ROOT = Path(__file__).resolve().parents[2]
PLAN = "book/teaching/syllabi.yml"
MAP = "utils/attnpages/figures/chapters/ch00.py"
STAR = "★"  # a chapter that every course needs
WIDTH, HEIGHT, GAP_X, GAP_Y = 250, 62, 14, 30  # a chapter's box in the graph, and the space between boxes, in pixels


class Chapter(NamedTuple):
    """A chapter as a teacher plans it; minutes are None, and files empty, while it is not written."""

    number: int
    title: str
    column: float
    row: float
    file: str = ""
    reading: int | None = None
    exercises: int | None = None
    lab: str = ""
    lab_minutes: int | None = None


class Week(NamedTuple):
    """A row of a syllabus: what is read, done and handed in, and the minutes before, in and after the meeting."""

    topic: str
    work: str
    before: int
    meeting: int
    after: int


def _constants(root: Path) -> dict[str, ast.expr]:
    """What the map's module gives to its names, unevaluated."""
    tree = ast.parse((root / MAP).read_text(encoding="utf-8"))
    found: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign | ast.Assign) and statement.value is not None:
            target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
            if isinstance(target, ast.Name):
                found[target.id] = statement.value
    return found


def arrows(root: Path = ROOT) -> tuple[tuple[int, int], ...]:
    """The arrows of the map: from a chapter to one that needs it."""
    return ast.literal_eval(_constants(root)["ARROWS"])


def needed(number: int, root: Path = ROOT) -> set[int]:
    """All chapters from which arrows lead to this one, directly or through others."""
    before = {start for start, end in arrows(root) if end == number}
    return before.union(*(needed(one, root) for one in before))


def _with_minutes(chapter: Chapter, root: Path) -> Chapter:
    """The chapter with its files and minutes, as far as they are there."""
    for path in sorted((root / "chapters").glob(f"{chapter.number:02}_*.ipynb")):
        if is_evidence(path):
            continue
        chapter = chapter._replace(file=path.relative_to(root).as_posix(), **page_minutes(path)._asdict())
    for path in sorted((root / "labs").glob(f"lab{chapter.number:02}_*/*.ipynb")):
        lab = path.relative_to(root).as_posix()
        chapter = chapter._replace(lab=lab, lab_minutes=read(path).metadata["attnbook"]["minutes"])
    return chapter


@cache
def chapters(root: Path = ROOT) -> dict[int, Chapter]:
    """All chapters of the map by number, and the map itself as number 0."""
    boxes = ast.literal_eval(ast.unparse(_constants(root)["CHAPTERS"]).replace("Chapter(", "("))
    found = {number: Chapter(number, box[1], box[3], box[4]) for number, box in boxes.items()}
    found = {0: Chapter(0, "The map", 1, -1), **found}
    return {number: _with_minutes(chapter, root) for number, chapter in found.items()}


@cache
def plan(root: Path = ROOT) -> dict[str, Any]:
    """The data of the syllabi."""
    return yaml.safe_load((root / PLAN).read_text(encoding="utf-8"))


def weeks(name: str, root: Path = ROOT) -> list[Week]:
    """The rows of one syllabus. Raises KeyError for a syllabus, chapter or milestone that is not there."""
    return [_week(entry, plan(root), chapters(root)) for entry in plan(root)["syllabi"][name]["weeks"]]


def _week(entry: dict, data: dict, known: dict[int, Chapter]) -> Week:
    """One row: reading before; the lecture and the lab's beginning in the meeting; the rest of the lab after it."""
    read = [known[number] for number in entry.get("read", [])]
    labs = [known[number] for number in entry.get("labs", [])]
    project = data["project"][entry["project"]] if "project" in entry else 0
    in_class = data["in_class"] if labs and "instead" not in entry else 0
    after = sum(lab.lab_minutes - in_class + data["text_question"] for lab in labs) + project
    before = sum(chapter.reading for chapter in read) + entry.get("revise", 0)
    return Week(_topic(entry, read), _work(entry, labs), before, data["meeting"], after)


def _topic(entry: dict, read: list[Chapter]) -> str:
    """What is read, with a star where every course needs it, and the sections that must be read."""
    stars = [f"{STAR} " if one.number in plan()["must"] else "" for one in read]
    parts = [f"{star}[{one.number}. {one.title}](../../{one.file})" for star, one in zip(stars, read, strict=True)]
    must = ", ".join(f"{{ref}}`{label}`" for label in entry.get("sections", []))
    parts += [entry["instead"]] if "instead" in entry else []
    return "; ".join(parts) + (f". Above all: {must}" if must else "")


def _work(entry: dict, labs: list[Chapter]) -> str:
    """The lab that is begun in the meeting and handed in a week later, and the project's milestone."""
    parts = [f"[Lab {one.number:02}](../../{one.lab}) and its text question" for one in labs]
    parts += [f"milestone {entry['project']} of the project"] if "project" in entry else []
    return "; ".join(parts) or "nothing"


def syllabus_table(name: str, caption: str) -> str:
    """A syllabus as a Markdown table with a row of sums."""
    rows = weeks(name)
    lines = [
        f"```{{table}} {caption}", f":name: tab-syllabus-{name}", "",
        "| Week | Read before the meeting | Begun in the meeting, handed in a week later | Before | In | After |",
        "|--:|:--|:--|--:|--:|--:|",
    ]  # fmt: skip
    for number, row in enumerate(rows, start=1):
        lines.append(f"| {number} | {row.topic} | {row.work} | {row.before} | {row.meeting} | {row.after} |")
    before, meeting, after = (sum(getattr(row, part) for row in rows) for part in ("before", "meeting", "after"))
    hours = round((before + meeting + after) / 60)
    lines += [f"| | **All {len(rows)} weeks, {hours} hours** | | {before:,} | {meeting:,} | {after:,} |", "```"]
    return "\n".join(lines)


def chapter_table() -> str:
    """All chapters with what they need, their minutes and their lab's, as a Markdown table."""
    lines = [
        "```{table} Chapters, what each needs directly, and minutes for one student.",
        ":name: tab-teaching-chapters", "",
        "| Chapter | Needs | Reading | Exercises | Lab |", "|:--|:--|--:|--:|--:|",
    ]  # fmt: skip
    for one in chapters().values():
        star = f"{STAR} " if one.number in plan()["must"] else ""
        title = f"[{one.number}. {one.title}](../../{one.file})" if one.file else f"{one.number}. {one.title} (planned)"
        before = ", ".join(str(start) for start, end in sorted(arrows()) if end == one.number) or "–"
        minutes = ("–" if n is None else str(n) for n in (one.reading, one.exercises, one.lab_minutes))
        lines.append(f"| {star}{title} | {before} | " + " | ".join(minutes) + " |")
    return "\n".join([*lines, "```"])


def graph() -> str:
    """The chapters as boxes with their minutes, and arrows from each to those that need it, in the page's own ink."""
    boxes = [one for one in chapters().values() if one.number]
    width = 3 * WIDTH + 2 * GAP_X + 2
    height = int(max(one.row for one in boxes) + 1) * (HEIGHT + GAP_Y) - GAP_Y + 2
    marks = "".join([*(_arrow(*pair) for pair in arrows()), *map(_box, boxes)])
    in_order = sorted(arrows(), key=lambda pair: pair[1])
    said = "; ".join(f"Chapter {end} needs Chapter {start}" for start, end in in_order)
    return (
        '<div class="concept-map" style="overflow-x:auto">'
        f'<svg viewBox="0 0 {width} {height}" style="min-width:680px;width:100%;max-width:{width}px" role="img" '
        f'aria-label="The chapters as boxes with arrows. {escape(said)}." fill="none" stroke="currentColor" '
        'font-family="inherit"><defs><marker id="teaching-tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor" stroke="none"/></marker></defs>'
        f"{marks}</svg></div>"
    )


def _corner(one: Chapter) -> tuple[float, float]:
    return 1 + one.column * (WIDTH + GAP_X), 1 + one.row * (HEIGHT + GAP_Y)


def _box(one: Chapter) -> str:
    """A box: thick where every course needs the chapter, dashed while it is planned."""
    x, y = _corner(one)
    must = one.number in plan()["must"]
    edge = "3" if must else "1.2" if one.file else '1.2" stroke-dasharray="5 4'
    times = f"{one.reading + one.exercises} min, lab {one.lab_minutes} min" if one.file and one.lab else "planned"
    text = f'<text x="{x + WIDTH / 2}" text-anchor="middle" fill="currentColor" stroke="none" y="'
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" stroke-width="{edge}"/>'
        f'{text}{y + 26}" font-size="17" font-weight="bold">{STAR + " " if must else ""}{one.number}. '
        f'{escape(one.title)}</text>{text}{y + 49}" font-size="14">{times}</text>'
    )


def _arrow(start: int, end: int) -> str:
    """From the bottom of one box to the top of another, or from edge to edge within a row."""
    (x0, y0), (x1, y1) = _corner(chapters()[start]), _corner(chapters()[end])
    x0, x1 = x0 + WIDTH / 2, x1 + WIDTH / 2
    if y0 == y1:
        sign = 1 if x1 > x0 else -1
        path = f"M{x0 + sign * WIDTH / 2} {y0 + HEIGHT / 2}H{x1 - sign * WIDTH / 2}"
    elif x0 == x1:
        path = f"M{x0} {y0 + HEIGHT}V{y1}"
    else:
        path = f"M{x0} {y0 + HEIGHT}V{y0 + HEIGHT + GAP_Y / 2}H{x1}V{y1}"
    return f'<path d="{path}" marker-end="url(#teaching-tip)"/>'


def question(number: str, root: Path = ROOT) -> str:
    """The text question of a lab (`02`), which must ask one, and its rubric, in Markdown."""
    if (asked := question_of_file(source_of(number, root))) is None:
        raise ValueError(f"lab {number} asks no text question")
    rows = [f"| {points} | {example} |" for points, example in asked.levels]
    caption = f"```{{table}} Rubric of the text question of Lab {number}, with an example of an answer at each level."
    heads = ["| Points | An answer at this level |", "|--:|:--|"]
    return "\n".join([f"> {asked.question}", "", caption, f":name: tab-text-{number}", "", *heads, *rows, "```"])


def source_of(number: str, root: Path = ROOT) -> Path:
    """The solved notebook of a lab, by its number."""
    return next((root / "solutions").glob(f"lab{number}_*/lab{number}_*.ipynb"))


class _Made(SphinxDirective):
    """A directive whose content is Markdown that a function writes."""

    def parsed(self, markdown: str) -> list[nodes.Node]:
        """The nodes of some Markdown; the page is built anew when the plan changes, or a notebook with its minutes."""
        notebooks = [file for chapter in chapters().values() for file in (chapter.file, chapter.lab) if file]
        for path in (PLAN, MAP, *notebooks):
            self.env.note_dependency(str(ROOT / path))
        box = nodes.Element()
        self.state.nested_parse(StringList(markdown.splitlines()), self.content_offset, box)
        return box.children


class SyllabusTable(_Made):
    """`{teaching-syllabus} NAME` with the option `caption`: the table of one syllabus."""

    required_arguments = 1
    option_spec = {"caption": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The table."""
        return self.parsed(syllabus_table(self.arguments[0], self.options["caption"]))


class Question(_Made):
    """`{text-question} NN`: the text question of a lab, with its rubric."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The question and its table."""
        self.env.note_dependency(str(source_of(self.arguments[0])))
        return self.parsed(question(self.arguments[0]))


class ChapterTable(_Made):
    """`{teaching-chapters}`: what each chapter needs, and its minutes."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        return self.parsed(chapter_table())


class Graph(SphinxDirective):
    """`{teaching-graph}`: which chapter needs which, as a picture."""

    def run(self) -> list[nodes.Node]:
        """The picture, as HTML."""
        return [nodes.raw("", graph(), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("teaching-syllabus", SyllabusTable)
    app.add_directive("teaching-chapters", ChapterTable)
    app.add_directive("teaching-graph", Graph)
    app.add_directive("text-question", Question)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
