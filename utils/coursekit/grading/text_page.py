"""`text-LAB.html`: all answers to a lab's text question side by side, without names, below the rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from coursekit.grading.offline import HEAD
from coursekit.grading.text_table import Entry
from coursekit.grading.written import name_of
from coursekit.notebooks import write_bytes
from coursekit.textquestion import TextQuestion

LONGEST = 6000  # characters of one answer that are shown

PAGE = (
    HEAD
    + """<title>Text question: {lab}</title>
<style>
body {{ max-width: 80rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }}
body {{ color: #1a1a1a; background: #fff; }}
header {{ max-width: 50rem; }}
blockquote {{ margin: 1rem 0; padding-left: 1rem; border-left: 0.3rem solid #767676; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid #ccc; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 1rem; }}
article {{ padding: 0 1rem; border: 1px solid #767676; overflow: hidden; }}
article p {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
h2 {{ font-size: 1rem; }}
</style>
</head>
<body>
<header>
<h1>Text question: {lab}</h1>
<blockquote>{question}</blockquote>
<table><tr><th>Points</th><th>An answer at this level</th></tr>{levels}</table>
<p>{state} Write points and, if you like, a comment into <code>text-{lab}.csv</code>, in the row that begins with the
letters above the answer; the next <code>coursekit grade</code> takes them. Names are left out here, so that you read
the answer and not the student.</p>
</header>
<main>
{answers}
</main>
</body>
</html>
"""
)


def write_page(
    path: Path, lab: str, question: TextQuestion, answers: Mapping[str, str], entries: Mapping[str, Entry]
) -> None:
    """Write the page of a lab; both mappings have students as keys, and the order is that of `entries`."""
    write_bytes(page(lab, question, answers, entries).encode(errors="replace"), path)


def page(lab: str, question: TextQuestion, answers: Mapping[str, str], entries: Mapping[str, Entry]) -> str:
    """The page: question, rubric, and the answers, those in which nothing was written at the end."""
    levels = "".join(f"<tr><td>{points}</td><td>{escape(example)}</td></tr>" for points, example in question.levels)
    same = _same(question, answers, entries)
    shown = [
        _article(entries[student], answers[student], entries[student].answer != name_of(lab, student, answers[student]),
                 same.get(student, ""))
        for student in sorted((s for s in entries if s in answers), key=lambda student: not answers[student])
    ]  # fmt: skip
    unread = sum(entry.points is None for entry in entries.values())
    state = f"{len(shown)} answers, {unread} of them not read yet."
    about = {"lab": escape(lab), "question": escape(question.question), "levels": levels, "state": state}
    return PAGE.format(**about, answers="\n".join(shown))


def _article(entry: Entry, answer: str, changed: bool, same: str) -> str:
    text = escape(answer[:LONGEST]) or "<em>Nothing was written.</em>"
    if len(answer) > LONGEST:
        text += f"</p><p><strong>Cut off here: the answer has {len(answer):,} characters.</strong>"
    notes = [f"Read: {entry.points:g} points. {escape(entry.comment)}" if entry.points is not None else "", same]
    if changed:
        notes.append("It was changed after it was read. To give other points, change them in the table.")
    notes = [f"<p><strong>{note.strip()}</strong></p>" for note in notes if note]
    return f"<article><h2>{escape(entry.answer)}</h2><p>{text}</p>{''.join(notes)}</article>"


def _same(question: TextQuestion, answers: Mapping[str, str], entries: Mapping[str, Entry]) -> dict[str, str]:
    """For each student whose words are another's, or those of the book's examples: a sentence about it."""
    holders: dict[str, list[str]] = {}
    for points, example in question.levels:
        holders.setdefault(_bare(example), []).append(
            f"the book’s example for {points} point{'' if points == 1 else 's'}"
        )
    for student, entry in entries.items():
        if answers.get(student):
            holders.setdefault(_bare(answers[student]), []).append(escape(entry.answer))
    found = {}
    for student, entry in entries.items():
        others = [name for name in holders.get(_bare(answers.get(student, "")), ()) if name != escape(entry.answer)]
        if others:
            found[student] = f"The same words as {_some(others)}."
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _bare(text: str) -> str:
    """The letters and digits alone."""
    return "".join(sign for sign in text[:LONGEST].casefold() if sign.isalnum())
