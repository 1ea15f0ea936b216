"""What `coursekit exam` does: it makes an exam and its solutions in a folder."""

import secrets
from pathlib import Path

from coursekit.exams.paper import Paper, compose
from coursekit.exams.writing import exam_notebook, exam_page, solutions_page
from coursekit.notebooks import write_bytes

GUESSABLE = 12  # a seed with fewer characters is soon tried out


def make_exam(name: str, seed: str | None, folder: Path) -> tuple[Paper, list[Path]]:
    """Writes exam.html, exam.ipynb and solutions.html; without a seed it makes one that nobody guesses.

    Raises CourseError as :func:`coursekit.exams.paper.compose`."""
    paper = compose(name, secrets.token_hex(16) if seed is None else seed)
    files = {"exam.html": exam_page(paper), "exam.ipynb": exam_notebook(paper), "solutions.html": solutions_page(paper)}
    for file, content in files.items():
        write_bytes(content.encode("utf-8"), folder / file)
    return paper, [folder / file for file in files]


def report(paper: Paper, written: list[Path]) -> str:
    """What was made, and what to keep to oneself."""
    lines = [f"{path}: written" for path in written]
    lines.append(f"{paper.title}: {len(paper.items)} questions, {paper.points} points, {paper.minutes} minutes")
    lines.append(f"seed {paper.seed!r}: keep it and solutions.html to yourself, since the seed makes both again")
    if len(paper.seed) < GUESSABLE:
        lines.append(f"this seed is easily guessed: for a real exam take one of {GUESSABLE} characters or more")
    return "\n".join(lines)
