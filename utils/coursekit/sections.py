"""The sections of a notebook, and all that a link can lead to in it: labels, headings, figures, exercises."""

import re
from typing import NamedTuple

from nbformat import NotebookNode

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
    ends = [found.start() for found in heads[1:]] + [len(text)]
    return [Section(head[1] or "", head[3], text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]


def section(notebook: NotebookNode, title: str) -> Section | None:
    """The section with this heading; None where there is none."""
    return next((one for one in sections(notebook) if one.title == title), None)


def anchors(notebook: NotebookNode) -> set[str]:
    """What may stand behind the # of a link to the notebook: its labels, and its headings as `slug` writes them."""
    text = CODE.sub("", prose(notebook))
    labels = {label for found in LABEL.findall(text) for label in found if label}
    figures = {cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "") for cell in code_cells(notebook)}
    return labels | figures - {""} | {slug(heading) for _, _, heading in HEADING.findall(text)}


def slug(heading: str) -> str:
    """What MyST makes of a heading as the end of an address (`myst_heading_anchors`): what-costs-what."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
