"""What a student gets back: one page without scripts, which opens without a network."""

from __future__ import annotations

from html import escape
from pathlib import Path

from coursekit.grading.deadlines import sentence
from coursekit.grading.offline import HEAD
from coursekit.grading.reading import behind, section
from coursekit.grading.records import Grade, Job
from coursekit.notebooks import write_bytes

LONGEST = 6000  # characters of one message

PAGE = (
    HEAD
    + """<title>{lab}: {student}</title>
<style>
body {{ max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }}
body {{ color: #1a1a1a; background: #fff; }}
pre {{ overflow-x: auto; padding: 0.8rem; background: #f4f4f4; font-size: 0.9rem; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid #ccc; }}
</style>
</head>
<body>
<h1>{lab}</h1>
<p>{student}: {total}</p>
{content}
</body>
</html>
"""
)


def write_feedback(job: Job, grade: Grade, book: str = "") -> Path:
    """Write the page of one submission beside its grade; `book` is the address of the built book, if there is one."""
    path = job.grade.parents[2] / "feedback" / job.student / f"{job.lab}.html"
    write_bytes(page(grade, book).encode(), path)
    return path


def page(grade: Grade, book: str = "") -> str:
    """The page: points, message and what to read again of each exercise; or why the notebook could not be graded."""
    about = {"lab": escape(grade.lab), "student": escape(grade.student)}
    if grade.refused:
        text = f"<p>This notebook could not be graded, and there is no grade yet: {escape(grade.refused)}.</p>"
        return PAGE.format(**about, total="not graded", content=text)
    late = f"<p>{escape(sentence(grade.late, grade.earned_with_text))}</p>" if grade.late else ""
    parts = [late, _table(grade), *_notes(grade), *(_exercise(mark, grade.lab, book) for mark in grade.marks)]
    return PAGE.format(**about, total=_total(grade), content="\n".join([*parts, _text(grade)]))


def _total(grade: Grade) -> str:
    """The points of all that was graded, the text question among it once somebody has read the answer."""
    if grade.text and grade.total is not None:
        return f"{grade.total:g} of {(grade.possible or 0) + grade.text['of']:g} points"
    points = f"{grade.points:g} of {grade.possible or 0:g} points"
    return f"{points}; the text question is not read yet" if grade.text else points


def _table(grade: Grade) -> str:
    rows = "".join(
        f"<tr><td>{escape(mark['exercise'])}</td><td>{mark['points']:g} of {mark['of']:g}</td></tr>"
        for mark in grade.marks
    )
    if grade.text:
        points = grade.text["points"]
        read = "not read yet" if points is None else f"{points:g} of {grade.text['of']:g}"
        rows += f"<tr><td>Text question</td><td>{read}</td></tr>"
    return f"<table><tr><th>Exercise</th><th>Points</th></tr>{rows}</table>"


def _notes(grade: Grade) -> list[str]:
    lines = [*grade.notes, *(f"{name} stopped with an error: {text}" for name, text in grade.errors.items())]
    return [f"<p>{escape(line[:LONGEST])}</p>" for line in lines]


def _exercise(mark: dict, lab: str, book: str) -> str:
    text = escape(mark["message"][:LONGEST])
    helped = ", ".join(mark["helpers"])
    with_ours = (
        f"<p>It was judged with the right version of {escape(helped)}, because yours is wrong.</p>" if helped else ""
    )
    again = "" if mark["points"] == mark["of"] else _read_again(lab, mark, book)
    return f"<h2>{escape(mark['exercise'])}</h2>\n{with_ours}<pre>{text}</pre>{again}"


def _read_again(lab: str, mark: dict, book: str) -> str:
    """Where the book teaches the exercise, and what lies behind the mistake, with links if the book has an address."""
    places = (section(lab, mark["exercise"]), behind(lab, mark["mistake"]))
    links = dict.fromkeys(place.link(book) for place in places if place is not None)
    return f"<p>Read again: {', and '.join(links)}.</p>" if links else ""


def _text(grade: Grade) -> str:
    """What the person who read the answer wrote about it."""
    comment = grade.text["comment"] if grade.text else ""
    return f"<h2>Text question</h2>\n<pre>{escape(comment[:LONGEST])}</pre>" if comment else ""
