"""What the book's page of known mistakes lists, filled into `book/mistakes.md` when the book is built."""

import re
from html import escape

from coursekit.mistakes.families import Entry, Family, exercises, widespread
from coursekit.mistakes.known import Known, known_mistakes
from coursekit.notebooks import read
from coursekit.project import Lab, Project
from coursekit.teaching.sentences import sentences

EXAMPLES = 3  # of each family, from different labs
ENOUGH = 6  # words of a first sentence that can stand alone


def mistakes_places(project: Project) -> dict[str, str]:
    """What stands at each place of ``book/mistakes.md``, for the labs that the project has."""
    listed = known_mistakes(project)
    known = {lab: listed.labs[lab.number] for lab in project.labs if lab.number in listed.labs}
    entries = [(lab.number, exercise, name) for lab in known for exercise, found in known[lab].items()
               for name in found.mistakes]  # fmt: skip
    kinds = widespread(entries)
    return {
        "mistakes": f"{len(entries):,}",
        "exercises": str(exercises(entries)),
        "most": in_words(len(kinds)),
        "rows": "\n".join(_row(family, members) for family, members in kinds),
        "kinds": "\n".join(_family(family, members, known) for family, members in kinds),
        "general": str(listed.general),
        "labs": "\n".join(_lab(lab, listed) for lab, listed in known.items()),
    }


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


def _family(family: Family, members: list[Entry], known: dict[Lab, dict[str, Known]]) -> str:
    """A family's section: what lies behind it, and examples from different labs in the checks' own words."""
    said = {(lab.number, exercise, name): message for lab in known for exercise, found in known[lab].items()
            for name, message in found.mistakes.items()}  # fmt: skip
    shown: dict[str, str] = {}
    for lab, exercise, name in members:
        words = _plain(said[lab, exercise, name])
        if lab not in shown and words not in "\n".join(shown.values()):
            shown[lab] = f"- Lab {int(lab[3:])}, `{exercise}`: {words}"
    spread = list(shown.values())
    chosen = [spread[at * (len(spread) - 1) // max(EXAMPLES - 1, 1)] for at in range(min(EXAMPLES, len(spread)))]
    examples = "\n".join(dict.fromkeys(chosen))
    return f"### {family.title}\n\n{family.about}\n\n{examples}\n"


def _lab(lab: Lab, listed: dict[str, Known]) -> str:
    """A lab's section, folded: each exercise with its mistakes."""
    title, count = read(lab.source).metadata.attnbook.title, sum(len(found.mistakes) for found in listed.values())
    with_some = {name: found for name, found in listed.items() if found.mistakes}
    parts = [f"### Lab {int(lab.number[3:])}: {title}\n", '<details class="answer">']
    parts.append(f"<summary>{count} mistakes in {len(with_some)} exercises</summary>\n")
    for name, found in with_some.items():
        parts += [f"`{name}`\n", *(line(*known) for known in found.mistakes.items()), ""]
    return "\n".join([*parts, "</details>\n"])
