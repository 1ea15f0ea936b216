"""PDFs of a tiny book, printed by Chromium."""

import shutil
from pathlib import Path

import pytest
from pypdf import PdfReader
from skips import skip_for_want_of

from coursekit import CourseError
from coursekit.printing import pdf
from coursekit.printing.chromium import find_chromium
from coursekit.printing.contents import PDFS
from coursekit.printing.pdf import CHINESE_WANTED, make_pdf

ROOT = Path(__file__).parents[3]


@pytest.fixture
def printed(tiny_book, html, tmp_path) -> list[PdfReader]:
    """The three volumes."""
    try:
        find_chromium()
    except CourseError as error:
        skip_for_want_of("chromium", str(error))
    shutil.copytree(ROOT / "book/_static/mathjax", html / "_static/mathjax")
    for volume in PDFS:
        _, *remarks = make_pdf(tiny_book, html, volume, tmp_path / f"{volume.name}.pdf", "1.2.3")
        assert remarks in ([], [CHINESE_WANTED])
    return [PdfReader(tmp_path / f"{volume.name}.pdf") for volume in PDFS]


def outline(entries: list, depth: int = 1) -> list[tuple[int, str]]:
    found = []
    for entry in entries:
        found += outline(entry, depth + 1) if isinstance(entry, list) else [(depth, entry.title)]
    return found


@pytest.mark.slow
def test_a_volume_has_bookmarks_numbers_heads_formulas_and_links(printed):
    """In one test, because starting a browser three times takes long."""
    chapters, evidence, labs = printed
    assert chapters.metadata.title == "Paying Attention"
    assert chapters.page_mode == "/UseOutlines"
    assert outline(chapters.outline) == [
        (1, "Part I. The beginning"), (2, "1. One"), (3, "Two"), (1, "Quizzes"), (2, "Quizzes on Part I"),
        (1, "To look things up"), (2, "Glossary"),
    ]  # fmt: skip
    words = [page.extract_text() for page in chapters.pages]
    assert len(words) == 6
    assert "1. One" in words[1]
    assert words[1].split().count("4") == 1  # in the contents: the chapter is on page 4
    assert words[3].startswith("1. One")  # the running head
    assert "Paying Attention" in words[3]
    assert "\\(" not in "".join(words)
    inside = {action.get("/S") for page in chapters.pages for action in actions(page)}
    assert inside == {"/URI", "/GoToR"}
    (other,) = {(action["/F"], action["/D"]) for page in chapters.pages for action in actions(page) if "/F" in action}
    assert other == ("paying-attention-evidence.pdf", "/chapters-01_one_evidence")
    assert "/chapters-01_one_evidence" in evidence.named_destinations
    assert [action["/F"] for page in labs.pages for action in actions(page)] == ["paying-attention.pdf"]


def actions(page) -> list:
    return [note.get_object()["/A"] for note in page.get("/Annots", []) if "/A" in note.get_object()]


def test_a_document_whose_script_did_not_end_is_refused(tiny_book, html, tmp_path, monkeypatch):
    from pypdf import PdfWriter

    def empty(page, path):
        writer = PdfWriter()
        writer.add_blank_page(100, 100)
        writer.write(path)

    monkeypatch.setattr(pdf, "print_pdf", empty)
    with pytest.raises(CourseError, match="printed whole before its formulas stood"):
        make_pdf(tiny_book, html, PDFS[0], tmp_path / "x.pdf", "1")
    assert not (tmp_path / "x.pdf").exists()
