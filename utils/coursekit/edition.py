"""What must hold of a chapter in the form of the third edition: the idea in front, the evidence behind.

A chapter says that it has this form: its metadata hold `"edition": 3`. For the others, the same limits are a note.
"""

import re

from nbformat import NotebookNode

from coursekit.minutes import minutes_of
from coursekit.notebooks import prose
from coursekit.sections import anchors, only, section
from coursekit.size import size_of, too_much, words_in

TODAY, MOST_WORDS_TODAY = "Where this lives today", 200
HURRY = re.compile(r"\*\*In a hurry:\*\*[^\n]*")
ONE_LINK = re.compile(r"\[([^\]]+)\]\(#([\w-]+)\)")
SAID = re.compile(r"\((\d+) minutes\)")


def is_third(notebook: NotebookNode) -> bool:
    """Whether a chapter says that it has the form of the third edition."""
    return notebook.metadata.get("attnbook", {}).get("edition") == 3


def undeclared(notebook: NotebookNode) -> bool:
    """Whether a chapter has the section that this edition adds, but does not say that it has the form."""
    return section(notebook, TODAY) is not None and not is_third(notebook)


def edition_problems(notebook: NotebookNode) -> list[str]:
    """Where a chapter of the third edition is too long, does not help a reader in a hurry, or says nothing of today."""
    if not is_third(notebook):
        return []
    problems = hurry_problems(notebook)
    if over := too_much(size_of(notebook)):
        problems.append(f"over one sitting by {over}: shorten it, or move some of it to its evidence page")
    if (today := section(notebook, TODAY)) is None:
        problems.append(f"has no section {TODAY!r}")
    elif (words := words_in(today.text)) > MOST_WORDS_TODAY:
        problems.append(f"{TODAY!r} has {words} words; the limit is {MOST_WORDS_TODAY}")
    return problems


def hurry_problems(notebook: NotebookNode) -> list[str]:
    """What is wrong with the line that begins with "In a hurry", which names the sections to read."""
    lines = HURRY.findall(prose(notebook))
    if len(lines) != 1:
        return [f'has {len(lines)} lines that begin with "**In a hurry:**"; one is wanted, in the box of goals']
    links, there = ONE_LINK.findall(lines[0]), anchors(notebook)
    lost = [target for _, target in links if target not in there]
    problems = [f'"In a hurry" links to #{target}, which is no section here' for target in lost]
    if not links:
        problems.append('"In a hurry" links to no section: write [its heading](#its-heading)')
    takes = minutes_of(only(notebook, {target for _, target in links})).reading
    if (said := SAID.search(lines[0])) is None:
        problems.append(f'"In a hurry" does not say how long its sections take: ({takes} minutes)')
    elif abs(int(said[1]) - takes) > max(3, takes // 4):
        problems.append(f'"In a hurry" says {said[1]} minutes; by coursekit.minutes its sections take {takes}')
    return problems
