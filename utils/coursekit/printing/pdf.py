"""`coursekit pdf`: volumes of the book as PDFs, printed by Chromium and finished with pypdf.

Chromium makes bookmarks of the headings, running heads of the style sheet's page boxes, and links that lead to places
in the same file. Three things are left: the page numbers of the contents, which are known only when all is printed,
links from one volume to another, and the blanks that bookmarks lack where a heading goes on in the next line.
"""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, TextStringObject

from attnbook.files import write_whole
from coursekit import CourseError
from coursekit.printing.chromium import find_chromium, folder_for, print_pdf
from coursekit.printing.contents import PDFS, Volume, groups_of
from coursekit.printing.pages import Page, Target, images_of, place, read_pages, relink, text_of
from coursekit.printing.paper import Sheet, document

HEADINGS = " | ".join(f".//h{order}" for order in range(1, 7))
OTHER = "https://volume.invalid/"  # what links to other volumes begin with until they are turned into real ones
NOT_READY = "Chromium printed {name} before its formulas stood: too little time, or too old a Chromium (131 is needed)"
TOO_WIDE = "Wider than the page, and so cut at its edge: {places}."
CHINESE_WANTED = (
    "This machine has no Chinese letters, so the Chinese names of the terms are left out; with a font such as Noto "
    "Sans CJK (Debian: apt install fonts-noto-cjk) they are printed."
)


def make_pdf(root: Path, html: Path, volume: Volume, path: Path, version: str) -> list[str]:
    """Prints a volume of the built book to `path`, and returns what is to be said about it.

    Raises CourseError where Chromium is missing or fails, or a page was not built."""
    sheet = _sheet(root, html, volume, version)
    with TemporaryDirectory(dir=folder_for(find_chromium())) as folder:
        whole, remarks = _printed(document(sheet, html, {}), Path(folder) / "whole.pdf")
        numbers = _numbers(whole, sheet)
        front, _ = _printed(document(sheet, html, numbers, front_alone=True), Path(folder) / "front.pdf")
        writer = PdfWriter(clone_from=whole)
    _put_front(writer, front)
    _link_volumes(writer)
    _mend_bookmarks(writer, sheet)
    writer.add_metadata({"/Title": volume.title, "/Author": "the authors of Paying Attention"})
    writer.page_mode = "/UseOutlines"
    held = io.BytesIO()
    writer.write(held)
    write_whole(path, held.getvalue())
    return [f"{len(writer.pages)} pages, {len(held.getvalue()) / 1e6:.1f} MB", *remarks]


def _sheet(root: Path, html: Path, volume: Volume, version: str) -> Sheet:
    """The pages of a volume, with links that lead to each other, into other volumes, or out of the book."""
    groups = groups_of(root, volume)
    others = {name: one for one in PDFS if one != volume for group in groups_of(root, one) for name in group.pages}
    pages = read_pages(html, (name for group in groups for name in group.pages))
    names = {page.name for page in pages}

    def address(page: Page, target: Target) -> str:
        if target.page in names:
            return f"#{place(target.page, target.fragment)}"
        if target.page in others:  # only the pages' beginnings are places that other files find
            return f"{OTHER}{others[target.page].name}.pdf#{place(target.page)}"
        return target.outside

    relink(pages, address)
    files = images_of(pages, html)  # which names each picture from the book's folder
    for image in (image for page in pages for image in page.body.xpath(".//img[@src]")):
        image.set("src", files[image.get("src")].as_uri())
    return Sheet(volume, groups, {page.name: page for page in pages}, version)


def _printed(text: str, pdf: Path) -> tuple[PdfReader, list[str]]:
    """The printed document, and what its script remarks: it reports in the title when all is drawn."""
    page = pdf.with_suffix(".html")
    page.write_text(text, encoding="utf-8")
    print_pdf(page, pdf)
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it counts Chromium's objects anew, and says so each time
    reader = PdfReader(io.BytesIO(pdf.read_bytes()))
    title = reader.metadata.title if reader.metadata else None
    if not title or not title.startswith("{"):
        raise CourseError(NOT_READY.format(name=pdf.stem))
    report = json.loads(title)
    remarks = [] if report["chinese"] else [CHINESE_WANTED]
    return reader, remarks + ([TOO_WIDE.format(places=", ".join(report["wide"]))] if report["wide"] else [])


def _numbers(whole: PdfReader, sheet: Sheet) -> dict[str, int]:
    """On which page, counted from 1, each page of the book begins."""
    places = {str(name).lstrip("/"): place for name, place in whole.named_destinations.items()}
    numbers = {}
    for page in sheet.pages.values():
        number = whole.get_destination_page_number(places[page.top]) if page.top in places else None
        if number is None:
            raise CourseError(
                f"Chromium made no place for {page.name}, to which the contents lead: is it 131 or newer?"
            )
        numbers[page.top] = number + 1
    return numbers


def _put_front(writer: PdfWriter, front: PdfReader) -> None:
    """Put title page and contents with their numbers in the place of those without; the links on them stay."""
    for number, page in enumerate(front.pages):
        old = writer.pages[number]
        for part in ("/Contents", "/Resources"):
            old[NameObject(part)] = page.raw_get(part).clone(writer)  # raw: a reference stays one


def _link_volumes(writer: PdfWriter) -> None:
    """Links to other volumes open the file beside this one, at the page that is meant."""
    for page in writer.pages:
        for note in page.get("/Annots", []):
            action = note.get_object().get("/A", {})
            address = str(action.get("/URI", ""))
            if not address.startswith(OTHER):
                continue
            file, _, name = address.removeprefix(OTHER).partition("#")
            note.get_object()[NameObject("/A")] = DictionaryObject(
                {
                    NameObject("/S"): NameObject("/GoToR"),
                    NameObject("/F"): TextStringObject(file),
                    NameObject("/D"): NameObject(f"/{name}"),
                }
            )


def _mend_bookmarks(writer: PdfWriter, sheet: Sheet) -> None:
    """Bookmarks get the words of their headings: Chromium drops the blank at which a line ends."""
    found = [text_of(node) for page in sheet.pages.values() for node in page.body.xpath(HEADINGS)]
    words = {"".join(text.split()): text for text in found}
    waiting: list[Any] = [writer.root_object["/Outlines"]] if "/Outlines" in writer.root_object else []
    while waiting:
        entry: Any = waiting.pop().get_object()
        if "/Title" in entry:
            title = str(entry["/Title"])
            entry[NameObject("/Title")] = TextStringObject(words.get("".join(title.split()), title))
        waiting += [entry.raw_get(name) for name in ("/First", "/Next") if name in entry]
