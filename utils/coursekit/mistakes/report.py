"""`coursekit mistakes`: what a class gets wrong, as lines for a terminal and as one page with a figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from coursekit.mistakes.book_page import first_sentence
from coursekit.mistakes.tally import Seen, Tally
from coursekit.notebooks import write_bytes

BARS, TALKED_ABOUT = 15, 6  # of the figure, and of what to say
ROW, LEFT, WIDTH, RIGHT = 30, 430, 420, 120  # pixels: a bar's row, its name, the longest bar, its number


def write_report(term: Path, tallies: Sequence[Tally], book: str | None) -> Path:
    """Write ``mistakes.html`` into the term's folder."""
    path = term / "mistakes.html"
    write_bytes(report(tallies, book).encode(), path)
    return path


def report(tallies: Sequence[Tally], book: str | None = None) -> str:
    """The page: for each lab a figure, a table by exercise, and what to say in the next lecture."""
    text = (files("coursekit") / "templates" / "mistakes.html").read_text(encoding="utf-8")
    return Template(text).substitute(labs="\n".join(lab_section(one, book) for one in tallies))


def lab_section(one: Tally, book: str | None) -> str:
    """One lab of the page."""
    parts = [f"<h2>{escape(one.lab)}</h2>", f"<p>{escape(summary(one))}</p>"]
    if one.seen:
        parts += [bars(one.seen), table(one.seen), *to_say(one.seen, book)]
    return "\n".join(parts)


def summary(one: Tally) -> str:
    """How many notebooks this rests on, and what was not written."""
    text = f"{_count(one.graded, 'notebook was', 'notebooks were')} graded"
    if one.not_graded:
        text += f", and {one.not_graded} could not be"
    text += "." if one.seen else ". No mistake was found."
    if one.unwritten:
        listed = ", ".join(f"{exercise} ({students})" for exercise, students in one.unwritten.items())
        text += f" Not written yet, by number of students: {listed}."
    return text


def lines(one: Tally) -> list[str]:
    """The same for a terminal: a table by exercise."""
    told = [f"{one.lab}: {summary(one)}"]
    for seen in one.seen:
        told.append(f"  {seen.exercise}: {seen.name}: {seen.students} ({seen.share:.0%})")
        told.append(f"      {first_sentence(seen.message)}")
    return told


def commonest(seen: Sequence[Seen], most: int) -> list[Seen]:
    """Those that most students made, the commonest first; equal ones in the lab's order."""
    return sorted(seen, key=lambda one: -one.students)[:most]


def bars(seen: Sequence[Seen]) -> str:
    """Horizontal bars in one dark grey, with the number of students behind each: legible without colours."""
    shown = commonest(seen, BARS)
    longest = max(one.students for one in shown)
    rows = "".join(_bar(at, one, longest) for at, one in enumerate(shown))
    told = "; ".join(f"{one.exercise}, {one.name}: {one.students}" for one in shown)
    alt = f"Bars of the commonest mistakes, by number of students out of {shown[0].of}. {told}."
    size = f'viewBox="0 0 {LEFT + WIDTH + RIGHT} {ROW * len(shown) + 10}"'
    caption = f"The {len(shown)} commonest mistakes" if len(shown) > 1 else "The only mistake"
    return (
        f'<figure><svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(alt)}">{rows}</svg>'
        f"<figcaption>{caption}: how many of {shown[0].of} students are concerned.</figcaption></figure>"
    )


def _bar(at: int, one: Seen, longest: int) -> str:
    name, top = f"{one.exercise}: {one.name}", ROW * at + 5
    name = name if len(name) <= 58 else f"{name[:57]}…"
    length = WIDTH * one.students / longest
    middle = top + ROW / 2 + 1
    return (
        f'<text x="{LEFT - 10}" y="{middle:g}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{ROW - 8}" fill="#444"/>'
        f'<text x="{LEFT + length + 8:.1f}" y="{middle:g}">{one.students} ({one.share:.0%})</text>'
    )


def table(seen: Sequence[Seen]) -> str:
    """By exercise: the mistake's name, what the student did, how many, and which share."""
    rows = "".join(
        f"<tr><td><code>{escape(one.exercise)}</code></td><td>{escape(one.name)}</td>"
        f"<td>{escape(first_sentence(one.message))}</td><td>{one.students}</td><td>{one.share:.0%}</td></tr>"
        for one in seen
    )
    names = ("Exercise", "Mistake", "What the student did", "Students", "Share")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    caption = "<caption>All mistakes, by exercise</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def to_say(seen: Sequence[Seen], book: str | None) -> list[str]:
    """What to say in the next lecture: the check's own words, and the section to read again."""
    parts = ["<h3>What to say in the next lecture</h3>"]
    for one in commonest(seen, TALKED_ABOUT):
        who = f"{one.students} of {one.of}"
        parts.append(f"<h4><code>{escape(one.exercise)}</code>: {escape(one.name)} ({who})</h4>")
        parts.append(f"<p>{escape(one.message)}</p>")
        if one.read is not None:
            parts.append(f"<p>To read again: {one.read.link(book)}.</p>")
    return parts


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
