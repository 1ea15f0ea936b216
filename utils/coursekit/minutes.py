"""How long a page takes its reader, by one rule, from what stands on it; nobody types these minutes in.

A page is read at 180 words per minute, and then looked at: its figures, formulas, code and printed results take longer
than their words. Exercises count apart, with their texts and answers. The machine's time is not among it.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from coursekit.notebooks import code_cells, images, prose, read
from coursekit.size import HIDDEN, words_in

# Adults read English non-fiction silently at 238 words per minute, and those whose second language it is more slowly
# (Brysbaert 2019, a meta-analysis of 190 studies). This book has many such readers, and its subject is technical, so
# we take three quarters of it, the lower end of the range in which most adults read (175 to 300).
WORDS_PER_MINUTE = 180
# Our own estimates, in seconds: nobody has measured them for such pages. A figure's caption counts by its words, too.
SECONDS_PER_FIGURE, SECONDS_PER_LIVE_FIGURE = 30, 120
SECONDS_PER_FORMULA, SECONDS_PER_SYMBOL = 20, 2  # displayed, and within a line
SECONDS_PER_LINE = 3  # of code that is not folded, and of printed results
# An exercise takes five minutes per dot of its difficulty, and half as much again where code is to be written.
MINUTES_PER_DOT, CODE_FACTOR = 5, 1.5

EXERCISE = re.compile(r"^(:{3,}|`{3,})\{exercise(?:-start)?\}([^\n]*)(.*?)^\1 *$", re.DOTALL | re.MULTILINE)
ANSWER = re.compile(r"<details.*?</details>", re.DOTALL)
FORMULA, SYMBOL = re.compile(r"\$\$.+?\$\$", re.DOTALL), re.compile(r"\$[^$\n]+\$")
LIVE = re.compile(r"^(?::{3,}|`{3,})\{live\}", re.MULTILINE)  # a live figure that belongs to no cell
NO_CODE, NO_OUTPUT = {"hide-cell", "hide-input", "remove-cell", "remove-input"}, HIDDEN
CLAIM = "✓ claim: "  # such lines are folded on the page


class Minutes(NamedTuple):
    """Whole minutes for one reader: to read a page, and to solve its exercises."""

    reading: int
    exercises: int

    def __str__(self) -> str:
        solving = f", {self.exercises} minutes for the exercises" if self.exercises else ""
        return f"{self.reading} minutes to read{solving}"


def minutes_of(notebook: NotebookNode) -> Minutes:
    """The minutes that a notebook's page takes."""
    text = ANSWER.sub("", EXERCISE.sub("", prose(notebook)))
    seconds = 60 * words_in(text) / WORDS_PER_MINUTE + sum(map(_seconds_of_cell, code_cells(notebook)))
    in_lines, displayed = FORMULA.subn("", text)
    seconds += SECONDS_PER_FORMULA * displayed + SECONDS_PER_SYMBOL * len(SYMBOL.findall(in_lines))
    seconds += SECONDS_PER_LIVE_FIGURE * len(LIVE.findall(text))
    solving = sum(minutes_of_exercise(title) for _, title, _ in EXERCISE.findall(prose(notebook)))
    return Minutes(math.ceil(seconds / 60), math.ceil(solving))


def page_minutes(path: Path) -> Minutes:
    """The minutes that the notebook at `path` takes. Raises CourseError for a file that is none."""
    return minutes_of(read(path))


def minutes_of_exercise(title: str) -> float:
    """The minutes of an exercise by what stands behind its title, such as "A first one · code, ●●"."""
    return MINUTES_PER_DOT * max(1, title.count("●")) * (CODE_FACTOR if re.search(r"·[^·]*\bcode\b", title) else 1)


def _seconds_of_cell(cell: NotebookNode) -> float:
    """What a reader looks at in a code cell: its code, what it prints, its figure with the caption."""
    tags, lines = set(cell.metadata.get("tags", ())), 0
    if not NO_CODE & tags:
        lines += _lines(cell.source)
    if NO_OUTPUT & tags:
        return SECONDS_PER_LINE * lines
    lines += sum(_lines(_text_of(output)) for output in cell.outputs)
    if not images(cell):
        return SECONDS_PER_LINE * lines
    caption = words_in(cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", ""))
    looking = SECONDS_PER_LIVE_FIGURE if "live" in cell.metadata else SECONDS_PER_FIGURE
    return SECONDS_PER_LINE * lines + looking + 60 * caption / WORDS_PER_MINUTE


def _text_of(output: NotebookNode) -> str:
    """What an output shows as text; a picture's name is not shown."""
    data = output.get("data", {})
    return (
        output.get("text", "")
        if output.output_type == "stream"
        else data.get("text/plain", "") * (not any(kind.startswith("image/") for kind in data))
    )


def _lines(text: str) -> int:
    return sum(bool(line.strip()) and not line.startswith(CLAIM) for line in text.splitlines())
