"""`coursekit epub`: the chapters, their quizzes and their evidence as one EPUB 3, made of the built pages.

Formulas are MathML, folds are open, quizzes are questions with their answers behind them, and nothing needs a script.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from coursekit.printing.contents import EPUB, Group, groups_of
from coursekit.printing.mathml import with_mathml
from coursekit.printing.pages import Page, Target, images_of, place, read_pages, relink, text_of, written
from coursekit.printing.xhtml import mend
from coursekit.teaching.wheel import zipped_in_order

TEMPLATES = Path(__file__).parent.parent / "templates" / "printing"
LOGO, COLOURS = Path("_static/logo.svg"), Path("_static/pygments.css")
KINDS = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".gif": "image/gif"}
AUTHOR, LANGUAGE = "the authors of Paying Attention", "en"
CONTAINER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:'
    'container"><rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>\n"
)
FRAME = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en"><head><meta charset="utf-8"/>'
    '<title>{title}</title><link rel="stylesheet" type="text/css" href="{style}"/></head>\n<body>\n{body}\n'
    "</body></html>\n"
)


@dataclass(frozen=True)
class Item:
    """A file of the book: its name below EPUB/, its kind, what it holds, and what its manifest says beside."""

    name: str
    kind: str
    content: bytes
    properties: str = ""

    @property
    def id(self) -> str:
        """Its name in the manifest."""
        return f"i-{place(self.name)}"


def make_epub(root: Path, html: Path, version: str) -> tuple[bytes, int]:
    """The ePub, and how many formulas are in it.

    Raises CourseError where a page was not built, or a formula cannot be written as MathML."""
    groups = groups_of(root, EPUB)
    pages = {page.name: page for page in read_pages(html, (name for group in groups for name in group.pages))}
    relink(list(pages.values()), lambda page, target: _address(pages, target))
    pictures = images_of(pages.values(), html)
    formulas = 0
    items = [_cover(html), _title_page(version), _contents(groups, pages), _style(html)]
    for page in pages.values():
        formulas += with_mathml(page.body)
        items.append(_document(page))
    items += [Item(name, KINDS[file.suffix], file.read_bytes()) for name, file in sorted(pictures.items())]
    newest = max((html / f"{name}.html").stat().st_mtime for name in pages)
    package = _package(items, version, datetime.fromtimestamp(newest, UTC))
    return _zipped(
        {"EPUB/package.opf": package.encode()} | {f"EPUB/{item.name}": item.content for item in items}
    ), formulas


def _address(pages: Mapping[str, Page], target: Target) -> str:
    if target.page in pages:
        return f"{place(target.page)}.xhtml#{place(target.page, target.fragment)}"
    return target.outside.replace(" ", "%20")


def _document(page: Page) -> Item:
    for image in page.body.xpath(".//img[@src]"):
        image.attrib.pop("loading", None)
    properties = mend(page.body)
    body = f'<section class="page">{written(page.body)}</section>'
    text = FRAME.format(title=escape(page.title), style="style.css", body=body)
    return Item(f"{place(page.name)}.xhtml", "application/xhtml+xml", text.encode(), properties)


def _cover(html: Path) -> Item:
    """The book's sign and its title, as a picture."""
    sign = (html / LOGO).read_text(encoding="utf-8")
    inside = sign.partition(">")[2].rpartition("</svg>")[0]
    text = (TEMPLATES / "cover.svg").read_text(encoding="utf-8").replace("<!-- sign -->", inside)
    return Item("cover.svg", KINDS[".svg"], text.encode(), "cover-image")


def _title_page(version: str) -> Item:
    body = (
        '<section class="title-page" epub:type="titlepage"><img src="cover.svg" alt="Paying Attention"/>'
        f"<h1>Paying Attention</h1><p>{AUTHOR}</p><p>Version {escape(version)}. Text and figures CC BY 4.0, "
        "code MIT.</p><p>Made from the book’s pages, which also hold what an e-reader cannot: figures that run, "
        "folded code, labs, and the list of claims that the tests hold. A link to such a place is plain text here.</p>"
        "</section>"
    )
    text = FRAME.format(title="Paying Attention", style="style.css", body=body)
    return Item("title.xhtml", "application/xhtml+xml", text.encode())


def _contents(groups: Sequence[Group], pages: Mapping[str, Page]) -> Item:
    rows = []
    for group in groups:
        entries = "".join(_entry(pages[name]) for name in group.pages)
        rows.append(f"<li><span>{escape(group.caption)}</span><ol>{entries}</ol></li>")
    first = f"{place(groups[0].pages[0])}.xhtml"
    body = (
        f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{"".join(rows)}</ol></nav>\n'
        '<nav epub:type="landmarks" hidden="hidden"><ol><li><a epub:type="toc" href="nav.xhtml#toc">Contents</a></li>'
        f'<li><a epub:type="bodymatter" href="{first}">Beginning</a></li></ol></nav>'
    )
    text = FRAME.format(title="Contents", style="style.css", body=body)
    return Item("nav.xhtml", "application/xhtml+xml", text.encode(), "nav")


def _entry(page: Page) -> str:
    file = f"{place(page.name)}.xhtml"
    sections = [
        f'<li><a href="{file}#{section.get("id")}">{escape(text_of(section.xpath("./h2")[0]))}</a></li>'
        for section in page.body.xpath(".//section[@id and h2]")
    ]
    inside = f"<ol>{''.join(sections)}</ol>" if sections else ""
    return f'<li><a href="{file}">{escape(page.title)}</a>{inside}</li>'


def _style(html: Path) -> Item:
    """The style sheet, with the colours of code on white."""
    light = 'html[data-theme="light"] '
    lines = (html / COLOURS).read_text(encoding="utf-8").splitlines()
    colours = [line.removeprefix(light) for line in lines if line.startswith(light)]
    own = (TEMPLATES / "epub.css").read_text(encoding="utf-8")
    return Item("style.css", "text/css", "\n".join([own, *colours, ""]).encode())


def _package(items: Sequence[Item], version: str, changed: datetime) -> str:
    manifest = "\n".join(map(_listed, items))
    spine = "\n".join(f'<itemref idref="{item.id}"/>' for item in items if item.kind == "application/xhtml+xml")
    text = (TEMPLATES / "package.opf").read_text(encoding="utf-8")
    values: dict[str, Any] = {
        "identifier": uuid.uuid5(uuid.NAMESPACE_URL, f"paying-attention {version}"), "author": AUTHOR,
        "version": version,
        "changed": f"{changed:%Y-%m-%dT%H:%M:%SZ}", "manifest": manifest, "spine": spine, "language": LANGUAGE,
    }  # fmt: skip
    return text.format(**values)


def _listed(item: Item) -> str:
    beside = f' properties="{item.properties}"' if item.properties else ""
    return f'<item id="{item.id}" href="{item.name}" media-type="{item.kind}"{beside}/>'


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """The zip file: its first entry says what it is, uncompressed, as the standard wants it."""
    first = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER.encode()}
    return zipped_in_order(
        {**first, **files}, stored=lambda name: name == "mimetype" or name.endswith((".png", ".jpg"))
    )
