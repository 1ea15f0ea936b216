"""The Markdown of a chapter, cut into what can be on a slide: headings, paragraphs, formulas, lists, tables, boxes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FENCE = re.compile(r"^(:{3,}|`{3,})(?:\{([\w:-]+)\}\s*(.*))?$")
OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
LABEL = re.compile(r"^\(([\w-]+)\)=\s*$")
HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
FORMULA_END = re.compile(r"\$\$\s*(?:\(([\w-]+)\))?\s*$")
ITEM = re.compile(r"^(?:[-*]|\d+\.)\s")


@dataclass(frozen=True)
class Block:
    """A piece of Markdown.

    Fields:
        kind: heading, paragraph, formula, list, table, box (a directive), or html.
        text: a heading's or paragraph's text, a formula without its dollars, a list or table as it stands, or what is
            inside a box.
        level: of a heading. label: of a heading or formula. title: a box's first line. name: the directive's.
        options: the directive's, such as ``class``.
    """

    kind: str
    text: str
    level: int = 0
    label: str = ""
    title: str = ""
    name: str = ""
    options: dict[str, str] = field(default_factory=dict)


def blocks(text: str) -> list[Block]:
    """The blocks of a Markdown cell, in order. A label belongs to the heading that follows it."""
    lines, found, label = text.splitlines(), [], ""
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        if mark := LABEL.match(lines[at]):
            label, at = mark[1], at + 1
            continue
        end = _end(lines, at)
        found.append(_block(lines[at:end], label))
        label, at = "", end
    return found


def _end(lines: list[str], at: int) -> int:
    """The line behind the block that begins at line `at`."""
    first = lines[at].strip()
    if fence := FENCE.match(first):
        closes = (i for i in range(at + 1, len(lines)) if lines[i].strip() == fence[1])
        return next(closes, len(lines) - 1) + 1
    if first.startswith("$$"):
        if first != "$$" and FORMULA_END.search(first[2:]):
            return at + 1
        return next((i for i in range(at + 1, len(lines)) if FORMULA_END.search(lines[i])), len(lines) - 1) + 1
    if first.startswith("<details"):
        return next((i for i in range(at, len(lines)) if "</details>" in lines[i]), len(lines) - 1) + 1
    if HEADING.match(first):
        return at + 1
    return _paragraph_end(lines, at, is_list=bool(ITEM.match(first)))


def _paragraph_end(lines: list[str], at: int, is_list: bool) -> int:
    for end in range(at + 1, len(lines)):
        line = lines[end]
        if is_list:
            goes_on = not line.strip() or line.startswith(" ") or ITEM.match(line)
            if not goes_on:
                return end
        elif not line.strip() or FENCE.match(line.strip()) or HEADING.match(line) or line.strip().startswith("$$"):
            return end
    return len(lines)


def _block(lines: list[str], label: str) -> Block:
    first, text = lines[0].strip(), "\n".join(lines).strip()
    if fence := FENCE.match(first):
        return _box(fence, lines)
    if first.startswith("$$"):
        mark = FORMULA_END.search(text[2:])
        return Block("formula", text[2:].strip() if mark is None else text[2:][: mark.start()].strip(),
                     label=(mark and mark[1]) or "")  # fmt: skip
    if first.startswith("<details"):
        return Block("html", text)
    if heading := HEADING.match(first):
        return Block("heading", heading[2], len(heading[1]), label)
    kind = "list" if ITEM.match(first) else "table" if first.startswith("|") else "paragraph"
    return Block(kind, text if kind != "paragraph" else " ".join(text.split()))


def _box(fence: re.Match, lines: list[str]) -> Block:
    inside = lines[1:-1] if lines[-1].strip() == fence[1] else lines[1:]
    options = {}
    while inside and (option := OPTION.match(inside[0])):
        options[option[1]] = option[2]
        inside = inside[1:]
    return Block("box", "\n".join(inside).strip(), title=fence[3] or "", name=fence[2] or "", options=options)


def items(text: str) -> list[str]:
    """The items of a list, each with its continuation lines and without its sign."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if ITEM.match(line):
            found.append([ITEM.sub("", line, count=1)])
        elif found and line.strip():
            found[-1].append(line.strip())
    return [" ".join(lines) for lines in found]


def inner(block: Block) -> Iterator[Block]:
    """The blocks in a box; a code fence has none."""
    if block.name:
        yield from blocks(block.text)
