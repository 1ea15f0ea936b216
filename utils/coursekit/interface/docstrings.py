"""From the docstrings of this house to reStructuredText, as Sphinx reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

LISTED = {"Args": "Arguments", "Fields": "Fields", "Attributes": "Attributes", "Raises": "Raises"}  # of names
TOLD = {"Returns": "Returns", "Yields": "Yields"}
ENTRY = re.compile(r"([\w*\\][\w*\\., ]*): +(.*)")
# What stays as it is: literals, roles with what they name, and emphasis. A single pair of backticks is a literal, too;
# and signs are marks of reStructuredText that docstrings mean as they are.
WORDS = re.compile(
    r"(?P<kept>``.+?``|:[a-z]+:`[^`]+`|(?<![\w*])\*\w(?:[^*\n]*[\w.!?])?\*(?![\w*]))"
    r"|`(?P<code>[^`]+)`|(?P<sign>[|*]|(?<=\w)_(?!\w))",
    re.DOTALL,
)


def reworded(docstring: str) -> str:
    """A docstring in reStructuredText: its sections Args, Fields, Returns and Raises become lists of fields."""
    lines, made = plain(docstring).splitlines(), []
    while lines:
        line = lines.pop(0)
        title = line.removesuffix(":")
        if line.endswith(":") and title in LISTED | TOLD:
            inside = []
            while lines and (lines[0].startswith(" ") or not lines[0]):
                inside.append(lines.pop(0))
            made += ["", *_field(title, inside), ""]
        else:
            made.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made)).strip()


def first_sentence(docstring: str) -> str:
    """What a docstring says first, in one line of reStructuredText."""
    paragraph = " ".join(plain(docstring.split("\n\n")[0]).split())
    sentence = re.match(r"(?:``.*?``|`.*?`|.)*?(?:[.!?](?= [A-Z`]|$)|$)", paragraph)
    return sentence[0].rstrip(":") if sentence else paragraph


def _field(title: str, lines: Sequence[str]) -> Iterator[str]:
    """A section as a field: its text, or a list of its names."""
    depth = min(len(line) - len(line.lstrip()) for line in lines if line)
    yield f":{(LISTED | TOLD)[title]}:"
    for line in lines:
        line = line[depth:]
        entry = ENTRY.fullmatch(line) if title in LISTED else None
        if entry:
            yield f"   * **{entry[1]}**: {entry[2]}"
        else:
            yield f"     {line.lstrip()}" if title in LISTED else f"   {line}"


def plain(text: str) -> str:
    """A text in which backticks mean code, and signs that reStructuredText would read as marks are themselves."""
    runs = [(is_code, list(lines)) for is_code, lines in groupby(_told(text), key=lambda line: line[1])]
    pieces = ["\n".join(line for line, _ in lines) for _, lines in runs]
    return "\n".join(
        piece if is_code else WORDS.sub(_kept, piece) for piece, (is_code, _) in zip(pieces, runs, strict=True)
    )


def _kept(found: re.Match[str]) -> str:
    if found["sign"]:
        return f"\\{found['sign']}"
    return f"``{found['code']}``" if found["code"] else found[0]


def _told(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to an example, or to a block of code behind `::`."""
    example, block = False, None
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        if line.strip():
            block = None if block is not None and depth <= block else block
            example = example or line.lstrip().startswith(">>>")
        else:
            example = False  # what an example prints ends with an empty line
        yield line, example or (block is not None and bool(line.strip()))
        if line.rstrip().endswith("::"):
            block = depth
