"""What a student gets back: one page without scripts, which opens without a network."""

from __future__ import annotations

from html import escape
from pathlib import Path

from coursekit.grading.course import Grade, Job
from coursekit.notebooks import write_bytes

LONGEST = 6000  # characters of one message

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{lab}: {student}</title>
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


def write_feedback(job: Job, grade: Grade) -> Path:
    """Write the page of one submission beside its grade."""
    path = job.grade.parents[2] / "feedback" / job.student / f"{job.lab}.html"
    write_bytes(page(grade).encode(), path)
    return path


def page(grade: Grade) -> str:
    """The page: points and message of each exercise; or why the notebook could not be graded."""
    about = {"lab": escape(grade.lab), "student": escape(grade.student)}
    if grade.refused:
        text = f"<p>This notebook could not be graded, and there is no grade yet: {escape(grade.refused)}.</p>"
        return PAGE.format(**about, total="not graded", content=text)
    possible = sum(mark["of"] for mark in grade.marks)
    parts = [_table(grade), *(_notes(grade)), *(_exercise(mark) for mark in grade.marks)]
    return PAGE.format(**about, total=f"{grade.points:g} of {possible:g} points", content="\n".join(parts))


def _table(grade: Grade) -> str:
    rows = "".join(
        f"<tr><td>{escape(mark['exercise'])}</td><td>{mark['points']:g} of {mark['of']:g}</td></tr>"
        for mark in grade.marks
    )
    return f"<table><tr><th>Exercise</th><th>Points</th></tr>{rows}</table>"


def _notes(grade: Grade) -> list[str]:
    lines = [*grade.notes, *(f"{name} stopped with an error: {text}" for name, text in grade.errors.items())]
    return [f"<p>{escape(line[:LONGEST])}</p>" for line in lines]


def _exercise(mark: dict) -> str:
    text = escape(mark["message"][:LONGEST])
    helped = ", ".join(mark["helpers"])
    with_ours = (
        f"<p>It was judged with the right version of {escape(helped)}, because yours is wrong.</p>" if helped else ""
    )
    return f"<h2>{escape(mark['exercise'])}</h2>\n{with_ours}<pre>{text}</pre>"
