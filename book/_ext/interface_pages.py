"""The pages of the reference, filled from the packages' sources, and links to them from the code of notebooks."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx

from coursekit.interface.pages import FOLDER, ROOMS, Interface
from coursekit.interface.uses import cells, imported
from coursekit.project import Project

ROOT = Path(__file__).resolve().parents[2]
PLACE = "{{ interface }}"
INPUT = re.compile(r'<div class="cell_input docutils container">.*?</pre>', re.DOTALL)
# A name in highlighted code, if it is no part of another one (after a point) and no argument's (before a close =).
NAME = re.compile(r'(?<!<span class="o">\.</span>)<span class="(?:n|nc|nf)">(\w+)</span>(?!<span class="o">=</span>)')


@cache
def interface() -> Interface:
    """What the packages offer, read once for a build."""
    return Interface(Project(ROOT))


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Fill a page of the reference; it is built anew when a source or a chapter has changed."""
    page = docname.removeprefix(f"{FOLDER}/")
    if page in ROOMS and docname != page:
        source[0] = source[0].replace(PLACE, interface().text(page))
        for path in interface().files():
            app.env.note_dependency(str(path))


def linked(body: str, names: dict[str, str], address) -> str:
    """A page whose code links each name that has an entry, once a cell.

    Args:
        body: its HTML. names: the paths of entries, by the names that the notebook uses.
        address: of an entry, by its path.
    """

    def in_cell(cell: re.Match[str]) -> str:
        done: set[str] = set()

        def link(found: re.Match[str]) -> str:
            if found[1] not in names or found[1] in done:
                return found[0]
            done.add(found[1])
            # The label is for cells that are folded, where the name itself counts as hidden.
            href, label = address(names[found[1]]), found[1]
            return f'<a class="reference internal code-name" href="{href}" aria-label="{label}">{found[0]}</a>'

        return NAME.sub(link, cell[0])

    return INPUT.sub(in_cell, body)


def link_names(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Link the names in the code of a notebook's page."""
    source = ROOT / f"{pagename}.ipynb"
    if doctree is None or "body" not in context or not source.is_file():
        return
    there = imported("\n".join(text for kind, text in cells(source) if kind == "code"))
    places = interface().places
    names = {name: places[key] for name, key in there.items() if key in places}

    def address(path: str) -> str:
        return f"{context['pathto'](interface().page_of(path))}#{path}"

    context["body"] = linked(context["body"], names, address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to fill the pages, and when to link: before reader_pages parses them."""
    app.connect("source-read", fill)
    app.connect("html-page-context", link_names, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
