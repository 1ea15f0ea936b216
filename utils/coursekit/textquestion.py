"""The text question that a lab asks: it stands in the lab's source, with a model answer and weaker ones.

Nothing here needs more than the standard library, because the teacher's guide is made from it when the book is built.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit import CourseError

STUB = "YOUR ANSWER HERE"  # what nbgrader leaves of a written answer
NAME = "text_question"  # of the question's cell; the answer's grade id is labNN-text_question
QUESTION = re.compile(r"^> (\S.*)$", re.MULTILINE)
LEVEL = re.compile(r"^- \*\*(\d+) points?:\*\* (\S.*)$", re.MULTILINE)
INTRODUCTION = re.compile(r"^\*This is a model answer.*$", re.MULTILINE)
SHAPE = (
    "a text question is one line that begins with '> ', and its answer cell holds a model answer, a line "
    "'*This is a model answer, …*', and levels like '- **2 points:** an example'"
)


@dataclass(frozen=True)
class TextQuestion:
    """A question, the points of the model answer, and (points, example) of each level, the best first."""

    question: str
    points: float
    levels: tuple[tuple[int, str], ...]

    @property
    def model(self) -> str:
        """The answer that earns all points."""
        return self.levels[0][1]


def text_question(cells: Iterable[Mapping[str, Any]]) -> TextQuestion | None:
    """The text question of a lab's source, from its cells, or None.

    Raises CourseError, which shows what is wanted, for cells that cannot be understood."""
    asked = ""
    for cell in cells:
        if is_written(cell):
            return _understood(asked, _source(cell), cell["metadata"]["nbgrader"].get("points"))
        if cell["cell_type"] == "markdown":
            asked = _source(cell)
    return None


def question_of_file(path: Path) -> TextQuestion | None:
    """The text question of the lab in a file; the same as `text_question`, without Jupyter's packages."""
    return text_question(json.loads(path.read_text(encoding="utf-8"))["cells"])


def is_written(cell: Mapping[str, Any]) -> bool:
    """Whether students write in this cell what a person grades."""
    marks = cell["metadata"].get("nbgrader", {})
    return bool(marks.get("grade") and marks.get("solution"))


def _understood(question: str, answer: str, points: Any) -> TextQuestion:
    asked = QUESTION.findall(question)
    parts = INTRODUCTION.split(answer)
    lower = [(int(number), example) for number, example in LEVEL.findall(answer)]
    if len(asked) != 1 or len(parts) != 2 or not parts[0].strip() or not isinstance(points, int | float):
        raise CourseError(SHAPE)
    levels = ((int(points), " ".join(parts[0].split())), *lower)
    if [number for number, _ in levels] != list(range(int(points), -1, -1)):
        raise CourseError(f"the levels of the text question must have the points {int(points)} to 0, one each")
    return TextQuestion(asked[0], float(points), levels)


def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])
