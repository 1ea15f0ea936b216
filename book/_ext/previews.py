"""Pieces of pages that hover.js shows where they are named: terms, papers, equations, figures, tables, sections.

A browser that opens a page from the disk may read scripts there, and no other files. So the pieces of each page that
others name are a script of its own, in FOLDER of the built book, which is loaded when the first of them is wanted.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

FOLDER = "_static/previews"
ARTICLE = re.compile(r'<article class="bd-article.*</article>', re.DOTALL)
LINK = re.compile(r'<a class="[^"]*\breference internal\b[^"]*" href="([^"#:]*)#([^"]+)"')
HEADING = re.compile(r"<h([1-6])\b.*?</h\1>", re.DOTALL)
CAPTION = re.compile(r"(</?)(?:fig)?caption\b")  # the element, and no class or word
PARAGRAPH = re.compile(r"<p(?: class=\"(?!admonition-title)[^\"]*\")?>.*?</p>", re.DOTALL)
# What ends a piece that is shown whole; all others are sections, of which the heading and a paragraph are shown.
WHOLE = {"dt": "</dd>", "figure": "</figure>", "table": "</table>"}
NOT_SHOWN = "a.headerlink, button, script, details, .live-room, .scroll-hint, .hurry-mark"
LONGEST = 6_000  # letters of HTML; of a longer table its title is shown


def article_of(page: str) -> str:
    """The part of a built page that is its text."""
    found = ARTICLE.search(page)
    return found[0] if found else ""


def links_of(name: str, article: str) -> set[tuple[str, str]]:
    """The places in the book that a page's text names, as pages without their ending, and anchors there."""
    folder, places = posixpath.dirname(name), set()
    for address, anchor in LINK.findall(article):
        page = posixpath.normpath(posixpath.join(folder, address.removesuffix(".html"))) if address else name
        places.add((page, unquote(anchor)))
    return places


def piece_of(article: str, anchor: str) -> str:
    """The HTML of what stands at an anchor, as it is on its page; nothing where there is nothing short to show."""
    at = article.find(f' id="{anchor}"')
    if at < 0:
        return ""
    start = article.rfind("<", 0, at)
    tag = re.match(r"<(\w+)([^>]*)", article[start:])
    if "sig-object" in tag[2]:  # an entry of the reference: its name with its arguments, and what it is
        paragraph = PARAGRAPH.search(article, at)
        signature = article[start : article.index("</dt>", at) + len("</dt>")]
        return f"<dl>{signature}</dl>" + (paragraph[0] if paragraph else "")
    if tag[1] in WHOLE:
        piece = article[start : article.index(WHOLE[tag[1]], at) + len(WHOLE[tag[1]])]
        title = re.search(r"<(figcaption|caption)\b.*?</\1>", piece, re.DOTALL)
        piece = f"<dl>{piece}</dl>" if tag[1] == "dt" else piece
        return piece if len(piece) < LONGEST or not title else CAPTION.sub(r"\1div", title[0])
    if re.search(r"\b(?:math|citation)\b", tag[2]):
        return article[start : article.index("</div>", at) + len("</div>")]
    if "admonition" in tag[2]:  # an exercise, or a box: its title, and how it begins
        title = re.compile(r'<p class="admonition-title">.*?</p>', re.DOTALL).search(article, at)
    else:
        title = HEADING.search(article, at)
    return beginning(article, title) if title and title.start() - at < 600 else ""


def beginning(article: str, title: re.Match[str]) -> str:
    """A title, and the first paragraph behind it unless another title comes before."""
    paragraph, following = PARAGRAPH.search(article, title.end()), HEADING.search(article, title.end())
    near = paragraph and (following is None or paragraph.start() < following.start())
    words = re.sub(r"</?(?:h[1-6]|p)\b[^>]*>", "", title[0])
    return f'<p class="preview-title">{words}</p>' + (paragraph[0] if near else "")


def tidy(piece: str, name: str) -> str:
    """A piece without links, names and controls; pictures are addressed from the book's folder, with a slash in front.

    Args:
        piece: HTML of a page. name: that page, without its ending.
    """
    page = BeautifulSoup(piece, "html.parser")
    for one in page.select(NOT_SHOWN):
        one.decompose()
    for one in page.find_all(True):
        for attribute in ("id", "tabindex", "role", "aria-describedby", "aria-labelledby"):
            one.attrs.pop(attribute, None)
        if one.name == "img":
            one["src"] = "/" + posixpath.normpath(posixpath.join(posixpath.dirname(name), one["src"]))
    for link in page.find_all("a"):
        link.unwrap()
    return re.sub(r"\s*\n\s*", "\n", str(page)).strip()


def previews(articles: dict[str, str]) -> dict[str, dict[str, str]]:
    """What hover.js needs: for each page the pieces that any page names, by their anchors."""
    places: dict[str, set[str]] = defaultdict(set)
    for name, article in articles.items():
        for page, anchor in links_of(name, article):
            places[page].add(anchor)
    found = {}
    for page in sorted(places.keys() & articles.keys()):
        pieces = {anchor: piece_of(articles[page], anchor) for anchor in sorted(places[page])}
        found[page] = {anchor: tidy(piece, page) for anchor, piece in pieces.items() if piece}
    return found


def write_previews(app: Sphinx, error: Exception | None) -> None:
    """Write the scripts of a book that has been built, of all pages anew: each may name a place on any other."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    articles = {}
    for name in sorted(app.env.found_docs):
        path = out / f"{name}.html"
        if path.exists():
            articles[name] = article_of(path.read_text(encoding="utf-8"))
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for page, pieces in previews(articles).items():
        script = f"PREVIEWS({json.dumps(page)}, {json.dumps(pieces, ensure_ascii=False)});\n"
        (folder / f"{page.replace('/', '-')}.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what: last, when images have their sizes."""
    app.connect("build-finished", write_previews, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
