"""The pages of what the course holds, and of known mistakes: what is counted is filled in when the book is built.

A page has a place for each, such as `{{ chapters }}`, and no number of its own. No check is imported, because a book is
built without PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from coursekit.mistakes.book_page import mistakes_places
from coursekit.mistakes.known import FILE
from coursekit.project import Project
from coursekit.status import status_places

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"\{\{ (\w+) \}\}")
PLACES: dict[str, Callable[[Project], dict[str, str]]] = {
    "book/status": status_places,
    "book/mistakes": mistakes_places,
}


def filled(docname: str, text: str, root: Path = ROOT) -> str:
    """A page with what is counted now. Raises KeyError for a place of another name."""
    places = PLACES[docname](Project(root))
    return PLACE.sub(lambda found: places[found[1]], text)


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Fill a counted page; it is built anew when what it counts has changed."""
    if docname in PLACES:
        source[0] = filled(docname, source[0])
        project = Project(ROOT)
        for path in (ROOT / FILE, *project.chapters, *(lab.source for lab in project.labs)):
            app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to fill them."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
