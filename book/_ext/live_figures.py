"""Live figures: a chapter's static figure, and around it what lets the book's model run in the page.

A cell's metadata `"live": "translator"` puts its figure into a live one. A page in Markdown has a directive:

    :::{live} query
    :start: beta:10;kind:cosine
    In the book on the web, a figure runs here.
    :::

`start`, or in a cell `"live": {"figure": "query", "start": "beta:10"}`, is the state in which the figure begins,
written as in the link that keeps its state.

The scripts lie in `book/live`. Weights are packed from `results/weights` when a page of the build asks for them.
"""

from __future__ import annotations

import html
import shutil
from pathlib import Path
from typing import Any, ClassVar

import live_weights
from docutils import nodes
from docutils.parsers.rst import directives
from live_scripts import FIGURES, SCRIPTS, files_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ON_A_PRESS = 200_000  # bytes: larger weights are loaded when the reader presses a button


class LiveFigure(nodes.General, nodes.Element):
    """A live figure by its name; inside it the static one, where there is one."""


def live_figure(name: Any, where: str, start: str = "") -> LiveFigure:
    """The node of a live figure. Raises ValueError for an unknown name; `where` says who asks."""
    if name not in FIGURES:
        raise ValueError(f"{where} asks for the live figure {name!r}; there is: {', '.join(sorted(FIGURES))}")
    return LiveFigure("", live=name, start=start)


class Live(SphinxDirective):
    """`{live} NAME` in Markdown; its content, if any, is what stands there without scripts."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict] = {"start": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """One node."""
        node = live_figure(self.arguments[0], self.get_location(), self.options.get("start", ""))
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def take_figures_in(app: Sphinx, doctree: nodes.document) -> None:
    """Put the figure of each cell that asks for it into a live one, and remember which figures the page has."""
    docname = app.env.docname
    for cell in list(doctree.findall(nodes.container)):
        asked = cell.get("cell_metadata", {}).get("live")
        if asked is None:
            continue
        name, start = (asked, "") if isinstance(asked, str) else (asked.get("figure"), asked.get("start", ""))
        live = live_figure(name, f"a cell of {docname}", start)
        still = next(cell.findall(nodes.figure), None)
        if still is None:
            raise ValueError(
                f"a cell of {docname} asks for the live figure {name!r}, and draws no figure with a caption"
            )
        still.replace_self(live)
        live += still
    names_of(app.env)[docname] = sorted({node["live"] for node in doctree.findall(LiveFigure)})


def names_of(env: Any) -> dict[str, list[str]]:
    """The live figures of each page that was read."""
    if not hasattr(env, "live_figures"):
        env.live_figures = {}
    return env.live_figures


def merge(app: Sphinx, env: Any, docnames: set[str], other: Any) -> None:
    """Take over what another process has read."""
    names_of(env).update({name: found for name, found in names_of(other).items() if name in docnames})


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget a page that is read anew."""
    names_of(env).pop(docname, None)


def size(name: str, weights: Path) -> int:
    """About how many bytes a figure loads: weights with eight bits for sixteen, in base64; texts as they are."""
    files = [file for pack in FIGURES[name] for file in live_weights.sources(pack, weights)]
    return sum(file.stat().st_size * (2 if file.suffix == ".pt" else 3) // 3 for file in files)


def visit(translator: Any, node: LiveFigure) -> None:
    """Open the element; what frame.js needs to know stands in its attributes."""
    up = "../" * translator.builder.current_docname.count("/")
    data = {"live": node["live"], "weights": f"{up}_static/live/weights/"}
    size_of = size(node["live"], weights_folder(translator.builder.app))
    if size_of > ON_A_PRESS:
        data["size"] = f"{size_of / 1e6:.1f} MB"
    if node["start"]:
        data["start"] = node["start"]
    attributes = " ".join(f'data-{key}="{html.escape(value)}"' for key, value in data.items())
    translator.body.append(f'<div class="live" id="live-{node["live"]}" {attributes}>')


def depart(translator: Any, node: LiveFigure) -> None:
    """Close it."""
    translator.body.append("</div>\n")


def weights_folder(app: Sphinx) -> Path:
    """Where trained weights lie."""
    return Path(app.srcdir) / "results/weights"


def copy_scripts(app: Sphinx) -> None:
    """Copy the scripts before the pages are written, which name each with a sum of its content."""
    if app.builder.format == "html":
        shutil.copytree(Path(app.srcdir) / "book/live", Path(app.outdir) / "_static/live", dirs_exist_ok=True)


def add_scripts(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Only a page with live figures loads their scripts."""
    names = names_of(app.env).get(pagename, ())
    for script in (*SCRIPTS, *files_of(names)) if names else ():
        app.add_js_file(f"live/{script}", loading_method="defer")
    if names:
        app.add_css_file("live/live.css")


def pack_weights(app: Sphinx, error: Exception | None) -> None:
    """Pack what the pages ask for; a pack that is newer than its files stays."""
    if error or app.builder.format != "html":
        return
    folder, out = weights_folder(app), Path(app.outdir) / "_static/live/weights"
    for name in sorted({pack for names in names_of(app.env).values() for one in names for pack in FIGURES[one]}):
        target = out / f"{name}.js"
        newest = max(
            file.stat().st_mtime for file in (Path(live_weights.__file__), *live_weights.sources(name, folder))
        )
        if not target.exists() or target.stat().st_mtime < newest:
            out.mkdir(parents=True, exist_ok=True)
            target.write_text(live_weights.script(name, folder), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what."""
    app.add_node(LiveFigure, html=(visit, depart))
    app.add_directive("live", Live)
    app.connect("builder-inited", copy_scripts)
    app.connect("doctree-read", take_figures_in)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", pack_weights)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
