"""Marks at the sections that the line "In a hurry" names: on the page, and in its table of contents.

A chapter writes that line once, with links to its sections; which sections bear the mark follows from the links.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

LINE_OF_LINKS = re.compile(r"<strong>In a hurry:</strong>.*?</p>", re.DOTALL)
LINK = re.compile(r'<a [^>]*href="#([^"]+)"')
TAG = re.compile(r'<(?:(?P<section>section)\b|(?P<end>/section)|\w+)(?:[^>]*?\bid="(?P<id>[^"]+)")?[^>]*>')
MARK = (
    '<span class="hurry-mark" title="for readers in a hurry"><span aria-hidden="true">»</span>'
    '<span class="said"> (for readers in a hurry)</span></span>'
)
EXPLAINED = ' <span class="hurry-explained">The mark <span aria-hidden="true">»</span> stands at these sections.</span>'


def marked(body: str, contents: str) -> tuple[str, str]:
    """A page's body and its table of contents with their marks; without such a line both stay as they are.

    The HTML is what Sphinx writes, so it is cut as text: to parse each page takes a tenth of the book's build."""
    line = LINE_OF_LINKS.search(body)
    if not line or not (sections := sections_of(body, LINK.findall(line[0]))):
        return body, contents
    said = line[0].replace("<strong>", f"{MARK} <strong>", 1).removesuffix("</p>") + f"{EXPLAINED}</p>"
    body = body[: line.start()] + said + body[line.end() :]
    for section in sections:
        heading = re.compile(
            rf'(<section [^>]*\bid="{re.escape(section)}".*?)(<a class="headerlink"|</h[23]>)', re.DOTALL
        )
        body = heading.sub(lambda found: f"{found[1]}{MARK}{found[2]}", body, count=1)
        entry = re.compile(rf'(<a [^>]*href="#{re.escape(section)}".*?)(</a>)', re.DOTALL)
        contents = entry.sub(lambda found: f"{found[1]}{MARK}{found[2]}", contents)
    return body, contents


def sections_of(body: str, anchors: list[str]) -> list[str]:
    """The innermost sections in which these anchors stand, by their own names: a label stands inside of its section."""
    open_sections: list[str] = []
    found: dict[str, str] = {}
    for tag in TAG.finditer(body):
        if tag["section"]:
            open_sections.append(tag["id"] or "")
        elif tag["end"]:
            open_sections.pop()
        if tag["id"] in anchors and open_sections:
            found[tag["id"]] = open_sections[-1]
    return list(dict.fromkeys(found[anchor] for anchor in anchors if anchor in found))


def add_marks(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Mark the page that is about to be written."""
    if doctree is not None and "body" in context:
        context["body"], context["toc"] = marked(context["body"], context.get("toc", ""))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what: before the theme, which at 500 makes its table of contents of `toc`."""
    app.connect("html-page-context", add_marks, priority=490)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
