"""Which answers of a class are alike: `copydetect` compares them pairwise, and a teacher reads the pairs.

Only what students wrote is compared: the lines that a lab gives them are left out. The book's own solution takes part
as one more student.
"""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any

from nbformat import NotebookNode

from attnbook.extras import needed_from
from coursekit import CourseError
from coursekit.grading.export import harmless
from coursekit.grading.offline import HEAD
from coursekit.grading.records import Job
from coursekit.grading.submission import CannotGradeError, Submission, cells_to_run, read_submission
from coursekit.notebooks import grader, is_answer, read, write_bytes
from coursekit.regions import given_lines
from coursekit.work import STUB

BOOK = "the book's solution"
LENGTH = 25  # characters that must agree in a row, copydetect's own choice; every such piece is compared
SHOWN = 20  # pairs on the page; the table has all of them
LEAST = 0.5  # likeness of a pair that is shown

PAGE = (
    HEAD
    + """<title>Likeness: {lab}</title>
<style>
body {{ max-width: 75rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; color: #1a1a1a; }}
div {{ display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }}
pre {{ overflow-x: auto; padding: 0.8rem; background: #f4f4f4; font-size: 0.85rem; }}
mark {{ background: #ffe08a; }}
</style>
</head>
<body>
<h1>Likeness of answers: {lab}</h1>
<p>Two numbers stand at each pair: the share of the code that is the same character by character, and the share that is
the same when all names are exchanged for one letter. Half of all pairs of this class have less than {text:.0%} and
{names:.0%}. Right answers to a short exercise look alike, so a likeness proves nothing: read the code, above all
comments, odd names and common mistakes, and speak with the students before you conclude anything.</p>
{pairs}
</body>
</html>
"""
)


@dataclass(frozen=True)
class Pair:
    """Two students, and how alike their answers are: with names as they stand, and with names exchanged (0 to 1)."""

    one: str
    other: str
    text: float
    names: float


def write_likeness(jobs: list[Job]) -> list[Pair]:
    """Compare all submissions of a lab and write likeness-LAB.html and .csv; returns the pairs, the most alike first.

    Raises CourseError where copydetect is not installed, and says how it is."""
    prints = {student: _fingerprints(text) for student, text in answers_of(jobs).items()}
    pairs = [_pair(one, other, prints) for one, other in combinations(prints, 2)]
    pairs.sort(key=lambda pair: (-pair.text - pair.names, pair.one, pair.other))
    folder, lab = jobs[0].grade.parents[2], jobs[0].lab
    write_bytes(_table(pairs).encode(), folder / f"likeness-{lab}.csv")
    write_bytes(_page(lab, pairs, prints).encode(), folder / f"likeness-{lab}.html")
    return pairs


def answers_of(jobs: list[Job]) -> dict[str, str]:
    """What each student wrote, all exercises of a lab in one text; nothing of those whose notebook cannot be read."""
    source = read(jobs[0].source)
    _, answers, _ = cells_to_run(source, source)
    found = {BOOK: own_lines(source, answers)}
    for job in jobs:
        try:
            submission: Submission = read_submission(job.folder, source, job.lab)
        except CannotGradeError:
            continue
        found[job.student] = own_lines(source, submission.answers)
    return {student: text for student, text in found.items() if text}


def own_lines(source: NotebookNode, answers: dict[str, str]) -> str:
    """The lines of answers that the lab does not give, below the name of each exercise."""
    parts = []
    for cell in filter(is_answer, source.cells):
        name = str(grader(cell)["grade_id"]).split("-", 1)[1]
        given = {line.strip() for line in given_lines(cell)} | {STUB, "# YOUR CODE HERE", ""}
        own = [line for line in answers.get(name, "").splitlines() if line.strip() not in given]
        own = [line for line in own if not line.strip().startswith("### ")]
        if own:
            parts.append("\n".join([f"# {name}", *own]))
    return "\n\n".join(parts)


def _fingerprints(text: str) -> tuple[Any, Any]:
    """Of a text as it stands, and with its names exchanged."""
    try:
        with needed_from("teach"):
            from copydetect import CodeFingerprint
    except ModuleNotFoundError as error:
        raise CourseError(str(error)) from None
    plain = CodeFingerprint("answers.py", LENGTH, 1, filter=False, fp=io.StringIO(text))
    return plain, CodeFingerprint("answers.py", LENGTH, 1, language="python", fp=io.StringIO(text))


def _pair(one: str, other: str, prints: dict[str, tuple[Any, Any]]) -> Pair:
    from copydetect import compare_files

    shares = [statistics.mean(compare_files(a, b)[1]) for a, b in zip(prints[one], prints[other], strict=True)]
    return Pair(one, other, *(min(float(share), 1.0) for share in shares))


def _table(pairs: list[Pair]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["one", "other", "same text", "same with names exchanged"])
    for pair in pairs:
        writer.writerow([harmless(pair.one), harmless(pair.other), f"{pair.text:.2f}", f"{pair.names:.2f}"])
    return text.getvalue()


def _page(lab: str, pairs: list[Pair], prints: dict[str, tuple[Any, Any]]) -> str:
    middle = {name: statistics.median([getattr(pair, name) for pair in pairs] or [0.0]) for name in ("text", "names")}
    alike = [pair for pair in pairs if max(pair.text, pair.names) >= LEAST][:SHOWN]
    parts = "\n".join(part for pair in alike for part in _shown(pair, prints))
    return PAGE.format(lab=escape(lab), **middle, pairs=parts or f"<p>No pair reaches {LEAST:.0%}.</p>")


def _shown(pair: Pair, prints: dict[str, tuple[Any, Any]]) -> Iterator[str]:
    from copydetect import compare_files
    from copydetect.utils import highlight_overlap

    one, other = prints[pair.one][1], prints[pair.other][1]
    _, _, slices = compare_files(one, other)
    marked = [
        highlight_overlap(whole.raw_code, part, "<mark>", "</mark>", escape_html=True)[0]
        if part.size
        else escape(whole.raw_code)
        for whole, part in zip((one, other), slices, strict=True)
    ]
    yield f"<h2>{escape(pair.one)} and {escape(pair.other)}: {pair.text:.0%} and {pair.names:.0%}</h2>"
    yield "<div>" + "".join(f"<pre>{text}</pre>" for text in marked) + "</div>"
