"""Which pages stand in which file."""

from pathlib import Path

import pytest

from coursekit import CourseError
from coursekit.printing.contents import CHAPTERS, EPUB, PDFS, Group, groups_of

ROOT = Path(__file__).parents[3]


def test_groups_follow_the_table_of_contents_and_empty_ones_are_left_out(tiny_book):
    assert groups_of(tiny_book, CHAPTERS) == [
        Group("Part I. The beginning", ("book/part1", "chapters/01_one")),
        Group("Quizzes", ("book/quizzes/part1",)),
        Group("To look things up", ("book/glossary",)),
    ]


def test_evidence_and_labs_are_files_of_their_own(tiny_book):
    _, evidence, labs = PDFS
    assert [group.pages for group in groups_of(tiny_book, evidence)] == [("chapters/01_one_evidence",)]
    assert [group.pages for group in groups_of(tiny_book, labs)] == [("labs/lab01_one/lab01_one",)]


def test_no_page_of_this_book_is_in_two_pdfs_and_the_epub_has_chapters_and_evidence():
    pages = [name for volume in PDFS for group in groups_of(ROOT, volume) for name in group.pages]
    assert len(pages) == len(set(pages))
    read = {name for volume in PDFS[:2] for group in groups_of(ROOT, volume) for name in group.pages}
    assert {name for group in groups_of(ROOT, EPUB) for name in group.pages} == read
    assert {path.stem for path in (ROOT / "chapters").glob("*.ipynb")} == {
        name.removeprefix("chapters/") for name in read if name.startswith("chapters/")
    }


def test_without_a_table_of_contents_it_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"no book/_toc\.yml, which lists the book's pages"):
        groups_of(tmp_path, EPUB)
