"""How long a page takes, under its title and on the cards of the title page: computed, and typed in nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from coursekit.evidence import chapter_of
from coursekit.minutes import page_minutes
from coursekit.project import Project, is_evidence

TITLE_PAGE = "book/index"
CHAPTER = re.compile(r"(?:chapters|\.\./chapters)/(\d\d_\w+)(?:\.html)?")


def line(root: Path, name: str) -> str:
    """What stands under a page's title: its minutes, and on evidence whom it is for, with the way to its chapter."""
    path = root / "chapters" / f"{name}.ipynb"
    minutes = f"About {page_minutes(path)}."
    if is_evidence(path):
        chapter = chapter_of(path)
        link = f'<a href="{chapter.stem}.html">Chapter {int(chapter.stem[:2])}</a>'
        minutes = f"For sceptics: evidence for {link}. {minutes}"
    return f'<p class="page-minutes">{minutes}</p>'


def with_minutes_on_cards(body: str, root: Path) -> str:
    """The title page, where each card of a chapter ends with the chapter's minutes."""
    page = BeautifulSoup(body, "html.parser")
    for card in page.select(".sd-card"):
        link = card.find("a", class_="sd-stretched-link")
        found = CHAPTER.fullmatch(link.get("href", "")) if link else None
        if found:
            words = page.new_tag("p", attrs={"class": "sd-card-text page-minutes"})
            words.append(str(page_minutes(root / "chapters" / f"{found[1]}.ipynb")))
            card.find(class_="sd-card-body").append(words)
    return str(page)


def add_minutes(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Put the minutes where they belong on the page that is about to be written."""
    if doctree is None:
        return
    found = CHAPTER.fullmatch(pagename)
    if found:
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{line(Path(app.srcdir), found[1])}", 1)
    elif pagename == TITLE_PAGE:
        context["body"] = with_minutes_on_cards(context["body"], Path(app.srcdir))


def depend_on_chapters(app: Sphinx, docname: str, source: list[str]) -> None:
    """The title page is built anew when a chapter has changed."""
    if docname == TITLE_PAGE:
        for path in Project(Path(app.srcdir)).chapters:
            app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what: the line is to stand behind the buttons, which other extensions put in first."""
    app.connect("source-read", depend_on_chapters)
    app.connect("html-page-context", add_minutes, priority=890)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
