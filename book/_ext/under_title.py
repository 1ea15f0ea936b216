"""What stands under the title of a chapter's page beside its notebook: the model in one file.

The file is made from the chapter's cells while the book is built. The link to it works from the disk, too.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from coursekit.notebooks import read
from coursekit.standalone import code_of, file_of, tagged

CHAPTER = re.compile(r"chapters/\d\d_\w+")
NOTEBOOK_LINK = re.compile(r'<p class="open-notebook">.*?</p>', re.DOTALL)  # which paying_attention_book has put there
FOLDER = "_static/standalone"


def file_link(page: str, lines: int, address: str) -> str:
    """The HTML of the link that downloads a chapter's model, which has so many lines."""
    name = html.escape(f"{Path(page).name}.py")
    return (
        f'<p class="open-notebook"><a href="{html.escape(address)}" download="{name}">The model in one file</a> '
        f"<span>{lines} lines: runs with PyTorch alone</span></p>"
    )


def add_under_title(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Write the chapter's file beside the pages, and put the link to it behind that to the notebook."""
    if doctree is None or not CHAPTER.fullmatch(pagename):
        return
    path = Path(app.srcdir) / f"{pagename}.ipynb"
    notebook = read(path)
    if not tagged(notebook):
        return
    target = Path(app.outdir) / FOLDER / f"{path.stem}.py"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(file_of(path, notebook), encoding="utf-8")
    link = file_link(pagename, len(code_of(notebook).splitlines()), context["pathto"](f"{FOLDER}/{target.name}", 1))
    context["body"] = NOTEBOOK_LINK.sub(lambda found: f"{found[0]}\n{link}", context["body"], count=1)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what: after the notebook's link is there, before readers' pages are made of it."""
    app.connect("html-page-context", add_under_title, priority=930)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
