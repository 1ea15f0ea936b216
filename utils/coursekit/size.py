"""How long a chapter is for its reader, and where it is longer than one sitting allows.

The limits hold for chapters. The evidence for a chapter has none, because nobody reads it from end to end.
"""

import re
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from coursekit.notebooks import code_cells, images, prose, read
from coursekit.project import is_evidence

HIDDEN = {"hide-cell", "hide-output", "remove-cell", "remove-output"}
# What stands in a notebook's text and is no word of it: code, formulas, options, labels, the addresses of links.
NO_WORDS = re.compile(
    r"```.*?```|\$\$.*?\$\$( \([\w-]+\))?|\$[^$\n]+\$"
    r"|^:[^\n]*$|^\([\w-]+\)=$|\{\w+(:\w+)?\}(`[^`]*`)?|(?<=\])\([^)\s]*\)",
    re.DOTALL | re.MULTILINE,
)


class Size(NamedTuple):
    """What a reader meets in a chapter. As `LARGEST` it is what one sitting of half an hour allows."""

    words: int
    printed: int  # blocks of text under a cell
    figures: int

    def __str__(self) -> str:
        return ", ".join(_counted(*one) for one in zip(self, NAMES, strict=True))


LARGEST, NAMES = Size(words=3500, printed=15, figures=8), ("word", "printed block", "figure")


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}{'s' * (number != 1)}"


def size_of(notebook: NotebookNode) -> Size:
    """Count what the built page shows: words of the prose, formulas and code apart, and outputs that are not hidden."""
    shown = [cell for cell in code_cells(notebook) if not HIDDEN & set(cell.metadata.get("tags", ()))]
    printed = sum(any(one.output_type == "stream" or _only_text(one) for one in cell.outputs) for cell in shown)
    return Size(words_in(prose(notebook)), printed, sum(images(cell) > 0 for cell in shown))


def words_in(markdown: str) -> int:
    """How many words of some Markdown are read: not its code, formulas, options, labels and addresses."""
    return len(re.findall(r"[^\W_][\w’'-]*", NO_WORDS.sub(" ", markdown)))


def _only_text(output: NotebookNode) -> bool:
    """Whether an output is a result that is shown as text, because it has no better form."""
    return set(output.get("data", {})) == {"text/plain"}


def too_much(size: Size) -> str:
    """What of a size is too much for one sitting, in words; nothing where all fits."""
    both = zip(size, LARGEST, NAMES, strict=True)
    return " and ".join(_counted(found - most, name) for found, most, name in both if found > most)


def size_in_words(path: Path) -> str:
    """The size of a chapter, and after "over:" what is too much for one sitting."""
    size = size_of(read(path))
    over = too_much(size)
    return str(size) if is_evidence(path) or not over else f"{size} (over one sitting by {over})"
