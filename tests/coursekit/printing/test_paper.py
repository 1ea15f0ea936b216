"""The document that Chromium prints."""

import re

import pytest

from coursekit.printing.contents import CHAPTERS, PDFS, groups_of
from coursekit.printing.pages import read_pages
from coursekit.printing.paper import UNKNOWN, Sheet, document, opens_itself


@pytest.fixture
def sheet(tiny_book, html) -> Sheet:
    groups = groups_of(tiny_book, CHAPTERS)
    pages = {page.name: page for page in read_pages(html, [name for group in groups for name in group.pages])}
    return Sheet(CHAPTERS, groups, pages, "1.2.3")


def headings(text: str) -> list[tuple[str, str]]:
    return [(tag, re.sub("<[^>]+>", "", words)) for tag, words in re.findall(r"<(h\d)[^>]*>(.*?)</h\d>", text)]


def test_bookmarks_will_be_parts_then_pages_then_sections(sheet, html):
    assert headings(document(sheet, html, {})) == [
        ("h1", "Part I. The beginning"), ("h2", "1. One"), ("h3", "Two"),
        ("h1", "Quizzes"), ("h2", "Quizzes on Part I"), ("h1", "To look things up"), ("h2", "Glossary"),
    ]  # fmt: skip


def test_a_part_with_a_page_of_its_own_needs_no_second_heading(sheet):
    assert [opens_itself(sheet, group) for group in sheet.groups] == [True, False, False]


def test_a_file_without_parts_keeps_its_headings(tiny_book, html):
    groups = groups_of(tiny_book, PDFS[1])
    pages = {page.name: page for page in read_pages(html, groups[0].pages)}
    assert headings(document(Sheet(PDFS[1], groups, pages, "1"), html, {})) == [
        ("h1", "Proof of one"),
        ("h2", "It is so"),
    ]


def test_the_contents_list_each_page_with_its_number_once_that_is_known(sheet, html):
    front = document(sheet, html, {"chapters-01_one": 7}, front_alone=True)
    numbers = re.findall(r'href="#([\w-]+)"><span>([^<]+)</span><i></i><span class="number">(\d+)', front)
    assert numbers == [
        ("book-part1", "Part I. The beginning", UNKNOWN), ("chapters-01_one", "1. One", "7"),
        ("book-quizzes-part1", "Quizzes on Part I", UNKNOWN), ("book-glossary", "Glossary", UNKNOWN),
    ]  # fmt: skip
    assert "shown_code" not in front
    assert "Version 1.2.3" in front


def test_each_page_has_its_running_head_and_a_sheet_of_its_own(sheet, html):
    text = document(sheet, html, {})
    for page in sheet.pages.values():
        assert f'@page {page.top} {{ @top-left {{ content: "{page.title}"; }} }}' in text
        assert f'style="page: {page.top}"' in text
