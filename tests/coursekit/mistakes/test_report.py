"""The page for the next lecture."""

import re

import pytest
from bs4 import BeautifulSoup

from coursekit.external_resources import loads_of_page
from coursekit.grading.reading import Section
from coursekit.mistakes.report import BARS, ROW, TALKED_ABOUT, commonest, lines, report, summary
from coursekit.mistakes.tally import Seen, Tally

READ = Section("02_bahdanau", "Padding gets no weight")


def seen(name: str, students: int, exercise: str = "masked_softmax") -> Seen:
    return Seen(exercise, name, f"You did {name} here, as others do. That is <wrong>.", students, 10, True, READ)


CLASS = Tally("lab02_bahdanau", 10, 1, [seen("one", 2), seen("two", 5), seen("three", 1, "weight_sum")], {"last": 3})


@pytest.fixture
def page() -> BeautifulSoup:
    return BeautifulSoup(report([CLASS], "https://example.org/book"), "html.parser")


def test_the_figure_has_a_bar_per_mistake_the_commonest_first_in_one_grey(page):
    figure = page.select_one("svg")
    bars = figure.select("rect")
    assert [float(bar["width"]) for bar in bars] == sorted([float(bar["width"]) for bar in bars], reverse=True)
    assert {bar["fill"] for bar in bars} == {"#444"}
    assert [text.get_text() for text in figure.select("text")][:2] == ["masked_softmax: two", "5 (50%)"]
    assert figure["role"] == "img"
    assert "masked_softmax, two: 5; masked_softmax, one: 2" in figure["aria-label"]


def test_the_figure_shows_no_more_than_can_be_read():
    many = Tally("lab", 10, 0, [seen(f"mistake {at}", 1) for at in range(40)], {})
    assert report([many]).count("<rect") == BARS
    assert f'viewBox="0 0 970 {ROW * BARS + 10}"' in report([many])


def test_the_table_has_name_sentence_number_and_share_of_each(page):
    first = [cell.get_text() for cell in page.select("tbody tr")[0].select("td")]
    assert first == ["masked_softmax", "one", "You did one here, as others do.", "2", "20%"]
    assert len(page.select("tbody tr")) == 3


def test_what_to_say_is_the_whole_message_and_the_section_to_read_again(page):
    assert page.select_one("h4").get_text() == "masked_softmax: two (5 of 10)"
    assert "That is <wrong>." in page.get_text()
    assert page.select_one("a")["href"] == "https://example.org/book/chapters/02_bahdanau.html#padding-gets-no-weight"
    without = BeautifulSoup(report([CLASS]), "html.parser")
    assert "To read again: Chapter 2, “Padding gets no weight”." in without.get_text()
    assert not without.select("a")


def test_the_page_loads_nothing_and_runs_nothing():
    text = report([CLASS], "https://example.org/book")
    assert loads_of_page(text) == []
    assert "<script" not in text
    assert "default-src 'none'" in text


def test_the_summary_tells_on_what_it_rests():
    assert summary(CLASS) == (
        "10 notebooks were graded, and 1 could not be. Not written yet, by number of students: last (3)."
    )
    assert summary(Tally("lab", 1, 0, [], {})) == "1 notebook was graded. No mistake was found."


def test_the_terminal_gets_the_same_by_exercise():
    assert lines(CLASS)[1:3] == ["  masked_softmax: one: 2 (20%)", "      You did one here, as others do."]


def test_of_equal_ones_the_labs_order_decides():
    assert [one.name for one in commonest([seen("b", 1), seen("a", 1), seen("c", 3)], 2)] == ["c", "b"]
    assert TALKED_ABOUT < BARS


def test_a_class_without_mistakes_has_no_figure():
    assert not re.search("<svg|<table>", report([Tally("lab", 3, 0, [], {})]))
