"""Marks at the sections that the line "In a hurry" names: on the page, and in its table of contents.

A chapter writes that line once, with links to its sections; which sections bear the mark follows from the links.
"""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

LINE = "In a hurry:"
MARK = (
    '<span class="hurry-mark" title="for readers in a hurry"><span aria-hidden="true">»</span>'
    '<span class="said"> (for readers in a hurry)</span></span>'
)
EXPLAINED = ' <span class="hurry-explained">The mark <span aria-hidden="true">»</span> stands at these sections.</span>'


def marked(body: str, contents: str) -> tuple[str, str]:
    """A page's body and its table of contents with their marks; without such a line both stay as they are."""
    if LINE not in body:
        return body, contents
    page, table = BeautifulSoup(body, "html.parser"), BeautifulSoup(contents, "html.parser")
    begin = page.find("strong", string=LINE)
    if begin is None:
        return body, contents
    if not (sections := sections_of(page, begin)):
        return body, contents
    for section in sections:
        heading = section.find(["h2", "h3"])
        link = heading.find("a", class_="headerlink")
        (link.insert_before if link else heading.append)(new(MARK))
        for entry in table.select(f'a[href="#{section["id"]}"]'):
            entry.append(new(MARK))
    begin.insert_before(new(f"{MARK} "))
    begin.find_parent("p").append(new(EXPLAINED))
    return str(page), str(table)


def sections_of(page: BeautifulSoup, begin: Tag) -> list[Tag]:
    """The sections that the links behind the line's beginning lead to, by their own names or by their labels."""
    places = [page.find(id=link["href"][1:]) for link in begin.find_next_siblings("a", href=lambda to: to[:1] == "#")]
    found = [place if place.name == "section" else place.find_parent("section") for place in places if place]
    return list({section["id"]: section for section in found}.values())


def new(html: str) -> BeautifulSoup:
    """Some HTML as a piece of a page."""
    return BeautifulSoup(html, "html.parser")


def add_marks(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Mark the page that is about to be written."""
    if doctree is not None and "body" in context:
        context["body"], context["toc"] = marked(context["body"], context.get("toc", ""))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what: before the theme, which at 500 makes its table of contents of `toc`."""
    app.connect("html-page-context", add_marks, priority=490)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
