"""One document of many pages, as Chromium prints it: title page, contents, and the pages with running heads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from coursekit.printing.contents import Group, Volume
from coursekit.printing.pages import Page, new, written

TEMPLATES = Path(__file__).parent.parent / "templates" / "printing"
UNKNOWN = "000"  # in the place of a page's number until it is known: as wide as one
MATHJAX = "_static/mathjax/tex-chtml.js"
COLOURS = "_static/pygments.css"
LICENCE = "Text and figures CC BY 4.0, code MIT."
LEFT_OUT = (
    "Made from the book's pages, which also hold what paper cannot: figures that run, folded code, and the list "
    "of claims that each chapter's tests hold. A link to such a place, or to a page that is in no file, is plain text."
)


@dataclass(frozen=True)
class Sheet:
    """What is printed: the volume, its groups with their pages in order, and the version that its title page names."""

    volume: Volume
    groups: Sequence[Group]
    pages: Mapping[str, Page]
    version: str

    @property
    def parted(self) -> bool:
        """Whether the volume has parts, under which the pages stand."""
        return len(self.groups) > 1


def document(sheet: Sheet, html: Path, numbers: Mapping[str, int], front_alone: bool = False) -> str:
    """The HTML of a volume.

    Args:
        html: the folder of the built book, from which style and formulas come.
        numbers: on which page of the PDF each page of the book begins, as far as it is known.
        front_alone: only title page and contents.
    """
    front = _title_page(sheet) + _contents(sheet, numbers)
    body = "" if front_alone else "\n".join(_group(sheet, group) for group in sheet.groups)
    heads = "\n".join(map(_running_head, [] if front_alone else sheet.pages.values()))
    style = (TEMPLATES / "print.css").read_text(encoding="utf-8")
    script = (TEMPLATES / "print.js").read_text(encoding="utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8"><title></title>\n'
        f'<link rel="stylesheet" href="{(html / COLOURS).as_uri()}">\n<style>\n{style}\n{heads}\n</style>\n'
        f"<script>\n{script}</script>\n"
        f'<script defer src="{(html / MATHJAX).as_uri()}"></script></head>\n'
        f"<body>\n{front}\n{body}\n</body></html>\n"
    )


def _title_page(sheet: Sheet) -> str:
    title, _, below = sheet.volume.title.partition(": ")
    below = below or "From the fixed vector of seq2seq to Transformers, memory and real language models"
    return (
        f'<div class="title-page"><p class="book-title">{escape(title)}</p><p class="book-below">{escape(below)}</p>'
        f'<p class="book-about">Version {escape(sheet.version)}. {LICENCE}</p>'
        f'<p class="book-about">{LEFT_OUT}</p></div>'
    )


def _contents(sheet: Sheet, numbers: Mapping[str, int]) -> str:
    lines = ['<nav class="contents"><p class="contents-title">Contents</p>']
    for group in sheet.groups:
        opens = opens_itself(sheet, group)
        if sheet.parted and not opens:
            lines.append(f'<p class="contents-group">{escape(group.caption)}</p>')
        for place, name in enumerate(group.pages):
            page, first = sheet.pages[name], opens and not place
            lines.append(_line(page, group.caption if first else page.title, numbers, first))
    return "\n".join([*lines, "</nav>"])


def _line(page: Page, title: str, numbers: Mapping[str, int], is_group: bool) -> str:
    number = numbers.get(page.top, UNKNOWN)
    return (
        f'<p class="{"contents-group" if is_group else "contents-page"}"><a href="#{page.top}">'
        f'<span>{escape(title)}</span><i></i><span class="number">{number}</span></a></p>'
    )


def opens_itself(sheet: Sheet, group: Group) -> bool:
    """Whether the first page of a group is about the group, and bears its name without "Part I"."""
    return sheet.parted and group.caption.endswith(f". {sheet.pages[group.pages[0]].title}")


def _group(sheet: Sheet, group: Group) -> str:
    pages = [sheet.pages[name] for name in group.pages]
    if opens_itself(sheet, group):
        pages[0].body.xpath(".//h1")[0].text = group.caption
        for page in pages[1:]:
            lower_headings(page)
    elif sheet.parted:
        for page in pages:
            lower_headings(page)
        pages[0].body.insert(0, new("h1", group.caption, class_="group"))
    return "\n".join(map(_page, pages))


def lower_headings(page: Page) -> None:
    """Let a page's title be a heading of the second order, and so on: above it stands the heading of its part."""
    for order in range(5, 0, -1):
        for heading in page.body.xpath(f".//h{order}"):
            heading.tag = f"h{order + 1}"
            heading.set("class", f"order-{order} {heading.get('class', '')}".strip())


def _page(page: Page) -> str:
    return f'<div class="page" style="page: {_sheet_name(page)}">{written(page.body)}</div>'


def _sheet_name(page: Page) -> str:
    return page.top.replace(".", "-")


def _running_head(page: Page) -> str:
    title = page.title if len(page.title) < 90 else f"{page.title[:88]}…"
    return f"@page {_sheet_name(page)} {{ @top-left {{ content: {json.dumps(title, ensure_ascii=False)}; }} }}"
