"""Links of a notebook that leaves its folder."""

import pytest
from nbformat import v4

from coursekit import CourseError
from coursekit.teaching.links import with_links_to_the_book

TEXT = "See [Chapter 1](../../chapters/01_counting.ipynb#sums), [a page](https://pytorch.org/docs) and [below](#end)."


def changed(project, text: str, files=(), book: str | None = None) -> str:
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell(text), v4.new_code_cell("a[0](b)")])
    found = with_links_to_the_book(project, notebook, "labs/lab01_sums", files, book)
    assert notebook.cells[0].source == text
    assert found.cells[1].source == "a[0](b)"
    return found.cells[0].source


def test_links_into_the_course_lead_to_the_book_at_its_address(project):
    assert changed(project, TEXT, book="https://example.org/book/") == TEXT.replace(
        "../../chapters/01_counting.ipynb#sums", "https://example.org/book/chapters/01_counting.html#sums"
    )
    other = changed(project, "[words](../../book/glossary.md)", book="file:///book")
    assert other == "[words](file:///book/book/glossary.html)"


def test_without_an_address_the_chapter_is_named_by_its_title(project):
    assert changed(project, TEXT) == TEXT.replace(
        "[Chapter 1](../../chapters/01_counting.ipynb#sums)", "Chapter 1 (“Sums”)"
    )


def test_a_text_that_names_the_title_is_not_told_it_twice(project):
    assert changed(project, "[Sums](../../chapters/01_counting.ipynb)") == "Sums"
    assert changed(project, "[the glossary](../../book/glossary.md)") == "the glossary"


def test_what_goes_with_the_notebook_stays_a_link(project):
    text = "[data](data.csv) and ![a line](line.png)"
    assert changed(project, text, files=["data.csv", "line.png"]) == text


def test_a_picture_that_would_be_missing_is_refused(project):
    with pytest.raises(CourseError, match=r"shows ../line.png, which does not go with it: list it in attnbook.files"):
        changed(project, "![a line](../line.png)")
