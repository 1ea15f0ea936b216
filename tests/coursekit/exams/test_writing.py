"""The exam on paper, as a notebook, and its solutions."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from coursekit.exams.paper import compose
from coursekit.exams.question import Table
from coursekit.exams.writing import exam_notebook, exam_page, html_of, markdown_of, pieces, solutions_page

SEED = 'secret "of" <autumn>'


@pytest.fixture(scope="module", params=["midterm", "final", "models"])
def paper(request):
    return compose(request.param, SEED)


def page(text):
    return BeautifulSoup(text, "html.parser")


def test_parts_stand_each_on_its_line():
    assert pieces("One. (a) Two? (b) What of (a)? (c) Last.") == ("One.", ["(a) Two?", "(b) What of (a)?", "(c) Last."])
    assert pieces("Nothing to cut.") == ("Nothing to cut.", [])
    assert html_of("(a) One? (b) Two?") == '<ol class="parts"><li>(a) One?</li><li>(b) Two?</li></ol>'
    assert markdown_of("So. (a) One? (b) Two?") == "So.\n\n(a) One?\n\n(b) Two?"


def test_tables():
    table = Table(("a", "b"), (("1", "2"),))
    assert markdown_of(table) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert [cell.get_text() for cell in page(html_of(table)).find_all(["th", "td"])] == ["a", "b", "1", "2"]


def test_the_exam_holds_neither_seed_nor_solutions(paper):
    for text in (exam_page(paper), exam_notebook(paper)):
        assert "autumn" not in text
        assert not any(step.text in text for item in paper.items for step in item.question.steps)


def test_the_exam_has_room_for_each_answer(paper):
    found = page(exam_page(paper))
    assert len(found.find_all("section")) == len(found.find_all(class_="space")) == len(paper.items)
    assert f"{paper.points} points, {paper.minutes} minutes" in found.get_text()
    points = re.findall(r"\((\d+) points", " ".join(h.get_text() for h in found.find_all("h2")))
    assert sum(map(int, points)) == paper.points


def test_the_solutions_give_each_point_once_and_the_command_that_makes_them(paper):
    found = page(solutions_page(paper))
    assert sum(int(cell.get_text()) for cell in found.find_all("td", class_="points")) == paper.points
    assert SEED in found.get_text()
    assert "For the teacher only" in found.get_text()


def test_pages_are_whole_without_a_network(paper):
    for text in (exam_page(paper), solutions_page(paper)):
        assert not re.search(r"<script|<link|<img|src=|https?://|url\(", text)
        assert "$" not in text  # formulas are written with letters, which need no program
        opened, closed = re.findall(r"<(\w+)[ >]", text), re.findall(r"</(\w+)>", text)
        assert sorted(tag for tag in opened if tag != "meta") == sorted(closed)


def test_the_notebook_is_one(paper):
    notebook = nbformat.reads(exam_notebook(paper), as_version=4)
    nbformat.validate(notebook)
    assert len(notebook.cells) == 1 + 2 * len(paper.items)
    assert all(cell.cell_type == "markdown" for cell in notebook.cells)
