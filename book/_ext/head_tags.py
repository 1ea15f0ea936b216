"""What a page says of itself to those who only see its address: in lists of results, in messages, on a slide.

Its description and its card (cards.py), its stable link, and where the book's address is known, that address and a
sitemap. The address stands in ATTNBOOK_ADDRESS, or as `html: baseurl:` in `_config.yml`; else nothing names a host.
"""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from coursekit.project import is_evidence

ADDRESS = "ATTNBOOK_ADDRESS"
BOOK, LONGEST = "Paying Attention", 200
CARD = re.compile(r":::\{grid-item-card\} .*?\n:link: \.\./(chapters/.*?)\n:link-type: doc\n\n([^\n]+)\n:::")
PAGE_OF_LINKS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>A stable link into Paying Attention</title>%s</head>
<body><main><h1>A stable link</h1>
<p><span id="said">This page leads on by a script.</span>
Please begin at the <a href="book/index.html">first page</a>.</p>
</main>
<script>
const PLACES = %s;
const wanted = new URLSearchParams(location.search).get("to") || "";
if (Object.hasOwn(PLACES, wanted)) { location.replace(PLACES[wanted]); } else {
  document.getElementById("said").textContent = "This version has nothing that is called “" + wanted + "”.";
}
</script></body></html>
"""
FIRST = "book/index"
PAGE_BEFORE_THE_FIRST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="0; url=%s.html">
<title>%s</title>%s</head>
<body><p><a href="%s.html">%s</a></p></body></html>
"""
CARD_SIZE = (1200, 630)  # of cards.py


def address_of(config: Config) -> str:
    """The book's address with a slash behind it, or nothing. Raises ExtensionError for what is no address."""
    address = os.environ.get(ADDRESS, "") or config.html_baseurl
    if address and not re.match(r"https?://[^/\s]+", address):
        raise ExtensionError(f"{ADDRESS} should be an address such as https://example.org/book/, and not {address!r}")
    return f"{address.rstrip('/')}/" if address else ""


def take_address(app: Sphinx, config: Config) -> None:
    """Let Sphinx know the address; it then names each page's own one."""
    config.html_baseurl = address_of(config)


def stable_name(docname: str) -> str:
    """The name of a page that stays the same when its file is called otherwise, as in `chapter-7` and `lab-7`."""
    parts = docname.split("/")
    found = re.match(r"(?:lab)?(\d\d)_", parts[-1])
    if not found or parts[0] == "book":
        return "-".join(parts[1:])
    kind = {"chapters": "chapter"}.get(parts[0], "lab")
    last = "-evidence" if is_evidence(Path(docname)) else "-solution" if parts[0] == "solutions" else ""
    return f"{kind}-{int(found[1])}{last}"


def card_of(docname: str) -> str:
    """The name of a page's card: its chapter's, or the book's."""
    found = re.match(r"(?:chapters/|(?:labs|solutions)/lab)(\d\d)_", docname)
    return f"{found[1]}.png" if found else "book.png"


def shortened(text: str) -> str:
    """The beginning of a text, as whole words."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0].rstrip(',;:')} …"


@cache
def cards_said(root: Path) -> dict[str, str]:
    """What the cards on the title page say, by the page that they lead to; read once for a build."""
    return dict(CARD.findall((root / "book/index.md").read_text(encoding="utf-8")))


@cache
def version(root: Path) -> str:
    """The book's version; read once for a build."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def described(app: Sphinx, docname: str) -> tuple[str, str]:
    """The title of a page and its description: what its card on the title page says, or how its text begins."""
    known = app.env.search_texts.get(docname)
    sections = known.sections if known else [("", BOOK, "")]
    return sections[0][1], cards_said(Path(app.srcdir)).get(docname) or shortened(sections[0][2])


def tags(title: str, description: str, card: str, address: str) -> str:
    """The tags of a page's head.

    Args:
        card: the address of its picture. address: the page's own, or nothing.
    """
    named = {"og:type": "article", "og:site_name": BOOK, "og:title": title, "og:description": description}
    named |= {"og:image": card, "og:image:alt": title if title == BOOK else f"{BOOK}: {title}"}
    named |= dict(zip(("og:image:width", "og:image:height"), map(str, CARD_SIZE), strict=True))
    named |= {"og:url": address} if address else {}
    lines = [f'<meta name="description" content="{html.escape(description)}">'] if description else []
    lines += [f'<meta property="{name}" content="{html.escape(text)}">' for name, text in named.items() if text]
    lines.append('<meta name="twitter:card" content="summary_large_image">')
    return "\n" + "\n".join(lines) + "\n"


def add_tags(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Put the tags into the page's head, and its version and stable link at its end."""
    if doctree is None or "body" not in context:
        return
    base, picture = app.config.html_baseurl, f"_static/cards/{card_of(pagename)}"
    card = base + picture if base else posixpath.relpath(picture, posixpath.dirname(pagename))
    title, description = described(app, pagename)
    context["metatags"] = context.get("metatags", "") + tags(
        title, description, card, f"{base}{pagename}.html" if base else ""
    )
    link = f"{posixpath.relpath('link.html', posixpath.dirname(pagename))}?to={stable_name(pagename)}"
    said = f'Version {version(Path(app.srcdir))} · <a href="{link}">Stable link to this page</a>'
    context["body"] += f'<p class="page-version">{said}</p>'


def places(app: Sphinx) -> dict[str, str]:
    """Where each stable name leads: pages, sections, figures, tables, exercises and equations, by their labels."""
    std, math = app.env.get_domain("std"), app.env.get_domain("math")
    found = {label: f"{page}.html#{anchor}" for label, (page, anchor) in std.anonlabels.items()}
    found |= {label: f"{page}.html#equation-{label}" for label, (page, _) in math.equations.items()}
    pages = {stable_name(page): f"{page}.html" for page in sorted(app.env.found_docs)}
    return {name: found[name] for name in sorted(found)} | pages


def write_files(app: Sphinx, error: Exception | None) -> None:
    """Write the page that stable links lead over, and where the book's address is known, its sitemap."""
    if error is not None or app.builder.format != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl
    card, (title, description) = f"{base}_static/cards/book.png", described(app, FIRST)
    of_the_book = tags(title, description, card, base)  # also for stable links: which one is meant, only a script knows
    found = json.dumps(places(app)).replace("</", "<\\/")
    (out / "link.html").write_text(PAGE_OF_LINKS % (of_the_book, found), encoding="utf-8")
    before = PAGE_BEFORE_THE_FIRST % (FIRST, BOOK, of_the_book, FIRST, BOOK)
    (out / "index.html").write_text(before, encoding="utf-8")
    if base:
        listed = "\n".join(
            f"<url><loc>{html.escape(base)}{page}.html</loc></url>" for page in sorted(app.env.found_docs)
        )
        first = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        (out / "sitemap.xml").write_text(f"{first}\n{listed}\n</urlset>\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what."""
    app.connect("config-inited", take_address)
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
