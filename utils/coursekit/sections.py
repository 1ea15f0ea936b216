"""The sections of a notebook, and all that a link can lead to in it: labels, headings, figures, exercises."""

import re
from typing import NamedTuple

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from coursekit.notebooks import code_cells, prose

CODE = re.compile(r"^(```+|~~~+)(?!\{).*?^\1", re.DOTALL | re.MULTILINE)  # a comment in it would look like a heading
HEADING = re.compile(r"^(?:\(([\w-]+)\)=\n+)?(#{1,3}) +(.+?) *$", re.MULTILINE)
LABEL = re.compile(r"^\(([\w-]+)\)=$|^:(?:label|name): *([\w-]+)|\$\$ *\(([\w-]+)\)", re.MULTILINE)


class Section(NamedTuple):
    """A section below the title: the label in front of its heading (or ""), its heading, its text."""

    label: str
    title: str
    text: str


def sections(notebook: NotebookNode) -> list[Section]:
    """The sections of the second level, in order; those of the third are part of them."""
    text = CODE.sub("", prose(notebook))
    heads = [found for found in HEADING.finditer(text) if found[2] == "##"]
    starts = [found.start() for found in heads] + [len(text)]
    return [
        Section(head[1] or "", head[3], text[head.end() : end]) for head, end in zip(heads, starts[1:], strict=True)
    ]


def section(notebook: NotebookNode, title: str) -> Section | None:
    """The section with this heading; None where there is none."""
    return next((one for one in sections(notebook) if one.title == title), None)


def only(notebook: NotebookNode, targets: set[str]) -> NotebookNode:
    """A notebook of the sections that links to `targets` lead to, each with its parts of deeper levels."""
    cells, depth = [], 0  # of the section that is being kept; 0 outside of all
    for cell in notebook.cells:
        prose_alone = CODE.sub(lambda found: " " * len(found[0]), cell.source)  # of the same length
        heads = list(HEADING.finditer(prose_alone)) if cell.cell_type == "markdown" else []
        ends = [head.start() for head in heads] + [len(cell.source)]
        if depth and ends[0]:
            cells.append(cell if not heads else new_markdown_cell(cell.source[: ends[0]]))
        for head, end in zip(heads, ends[1:], strict=True):
            if depth == 0 or len(head[2]) <= depth:
                depth = len(head[2]) if {head[1], slug(head[3])} & targets else 0
            if depth:
                cells.append(new_markdown_cell(cell.source[head.start() : end]))
    return new_notebook(cells=cells)


def anchors(notebook: NotebookNode) -> set[str]:
    """What may stand behind the # of a link to the notebook: its labels, and its headings as `slug` writes them."""
    text = CODE.sub("", prose(notebook))
    labels = {label for found in LABEL.findall(text) for label in found if label}
    figures = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "") for cell in code_cells(notebook)}
    return labels | figures - {""} | {slug(heading) for _, _, heading in HEADING.findall(text)}


def slug(heading: str) -> str:
    """What MyST makes of a heading as the end of an address (`myst_heading_anchors`): what-costs-what."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
