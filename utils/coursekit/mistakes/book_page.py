"""The book's page of the mistakes that the checks know: `coursekit status --write` makes it anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.mistakes.families import Entry, Family, exercises, widespread
from coursekit.notebooks import read
from coursekit.project import Lab, Project
from coursekit.teaching.sentences import sentences

if TYPE_CHECKING:
    from attnlabs import Listed

PAGE = Path("book/mistakes.md")
EXAMPLES = 3  # of each family, from different labs
ENOUGH = 6  # words of a first sentence that can stand alone
INTRODUCTION = """\
# Mistakes that students make

The checks of the labs know {mistakes:,} wrong answers to {exercises} exercises. Each of them was written down as a
small wrong function, with a message for the student who makes the same mistake, and each test run proves that its
check still recognises it. This page lists all of them: first the {most} most widespread kinds, with what lies behind
each and what helps in a lecture, and then lab by lab. `coursekit status --write` makes the page from the checks.

*Widespread* means here in how many exercises the checks know a mistake of this kind. Nobody has counted how many
students make it; for your own class, `coursekit mistakes` does ([How to use this book](how_to_use.md)). If you are
solving a lab, read its list afterwards.

## The {most} most widespread kinds

```{{table}} The most widespread kinds of mistakes: how many the checks know, and in how many exercises and labs.
:name: tab-mistakes-kinds

| kind | mistakes | exercises | labs |
|:--|--:|--:|--:|
{rows}
```
"""
BY_LAB = """\
## By lab

Each line begins with the name under which a check reports the mistake, and says what the student did. In the notebook
the check goes on: it says what was wanted and why, and shows the smallest input on which the answer goes wrong. Beside
these, the checks recognise {general} general mistakes in every exercise in which they can be made, such as a forgotten
`return`, a result of another type, an input that was written into, or a gradient that was cut.
"""


def mistakes_page(project: Project) -> str:
    """The page ``book/mistakes.md``, for the labs that the project has."""
    from attnlabs import catalogue  # which brings torch along

    listed_by_lab = catalogue()
    known = {lab: listed_by_lab[lab.number] for lab in project.labs if lab.number in listed_by_lab}
    entries = [(lab.number, name, found.name) for lab in known for name, listed in known[lab].items()
               for found in listed.mistakes]  # fmt: skip
    kinds = widespread(entries)
    general = {name for listed in known.values() for exercise in listed.values() for name in exercise.general}
    rows = "\n".join(_row(family, members) for family, members in kinds)
    numbers = {"mistakes": len(entries), "exercises": exercises(entries), "most": in_words(len(kinds))}
    parts = [INTRODUCTION.format(**numbers, rows=rows)]
    parts += [_family(family, members, known) for family, members in kinds]
    parts += [BY_LAB.format(general=len(general)), *(_lab(lab, listed) for lab, listed in known.items())]
    return "\n".join(parts)


def in_words(number: int) -> str:
    """*twenty* for 20; other numbers in digits."""
    return "twenty" if number == 20 else str(number)


def line(name: str, message: str) -> str:
    """One mistake: its name, and the sentence that says what the student did."""
    return f"- **{_plain(name)}.** {_plain(first_sentence(message))}"


def first_sentence(message: str) -> str:
    """What the student did: the first sentence, or two where the first is very short."""
    parts = sentences(message)
    return " ".join(parts[: 2 if len(parts[0].split()) < ENOUGH else 1])


def _plain(text: str) -> str:
    """A message as Markdown that means nothing else: signs of HTML and of formulas are kept from working."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else _harmless(piece) for piece in pieces)


def _harmless(text: str) -> str:
    return escape(text, quote=False).replace("$", r"\$").replace("](", r"]\(")


def _row(family: Family, members: list[Entry]) -> str:
    labs = len({lab for lab, _, _ in members})
    return f"| {family.title} | {len(members)} | {exercises(members)} | {labs} |"


def _family(family: Family, members: list[Entry], known: Mapping[Lab, Mapping[str, Listed]]) -> str:
    """A family's section: what lies behind it, and examples from different labs in the checks' own words."""
    said = {(lab.number, name, found.name): found.message for lab in known for name, listed in known[lab].items()
            for found in listed.mistakes}  # fmt: skip
    shown: dict[str, str] = {}
    for lab, exercise, name in members:
        words = _plain(said[lab, exercise, name])
        if lab not in shown and words not in "\n".join(shown.values()):
            shown[lab] = f"- Lab {int(lab[3:])}, `{exercise}`: {words}"
    spread = list(shown.values())
    chosen = [spread[at * (len(spread) - 1) // max(EXAMPLES - 1, 1)] for at in range(min(EXAMPLES, len(spread)))]
    examples = "\n".join(dict.fromkeys(chosen))
    return f"### {family.title}\n\n{family.about}\n\n{examples}\n"


def _lab(lab: Lab, listed: Mapping[str, Listed]) -> str:
    """A lab's section, folded: each exercise with its mistakes."""
    title, count = read(lab.source).metadata.attnbook.title, sum(len(found.mistakes) for found in listed.values())
    with_some = {name: found for name, found in listed.items() if found.mistakes}
    parts = [f"### Lab {int(lab.number[3:])}: {title}\n", '<details class="answer">']
    parts.append(f"<summary>{count} mistakes in {len(with_some)} exercises</summary>\n")
    for name, found in with_some.items():
        parts += [f"`{name}`\n", *(line(known.name, known.message) for known in found.mistakes), ""]
    return "\n".join([*parts, "</details>\n"])
