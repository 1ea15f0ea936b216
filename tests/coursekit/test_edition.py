"""The form of the third edition: limits that are faults, the line for readers in a hurry, the idea today."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from coursekit.edition import MOST_WORDS_TODAY, edition_problems, is_third
from coursekit.size import LARGEST

HURRY = "**In a hurry:** read [The idea](#the-idea) and [Today](#sec-02-today) (1 minutes)."
TEXT = f"# Look back\n\n{HURRY}\n\n## The idea\n\nAn idea.\n\n(sec-02-today)=\n## Where this lives today\n\nHere."


def chapter(text=TEXT, **about):
    return new_notebook(cells=[new_markdown_cell(text)], metadata={"attnbook": {"edition": 3} | about})


def problems(old, new):
    assert old in TEXT
    return edition_problems(chapter(TEXT.replace(old, new)))


def test_a_chapter_in_this_form_is_in_order():
    assert is_third(chapter())
    assert edition_problems(chapter()) == []


def test_a_chapter_of_an_older_edition_is_free():
    older = chapter("# Old\n\n" + "word " * (LARGEST.words + 1), edition=2)
    assert not is_third(older)
    assert not is_third(new_notebook())
    assert edition_problems(older) == []


def test_a_chapter_that_is_too_long_is_a_fault():
    assert problems("# Look back", "# Look back\n\n" + "word " * LARGEST.words) == [
        "over one sitting by 21 words: shorten it, or move some of it to its evidence page"
    ]


def test_where_it_lives_today_is_short():
    assert problems("Here.", "word " * (MOST_WORDS_TODAY + 7)) == [
        "'Where this lives today' has 207 words; the limit is 200"
    ]


def test_where_it_lives_today_is_said():
    assert problems("## Where this lives today", "## Today") == ["has no section 'Where this lives today'"]


@pytest.mark.parametrize("lines, count", [("Read all.", 0), (f"{HURRY}\n\n{HURRY}", 2)])
def test_there_is_one_line_for_readers_in_a_hurry(lines, count):
    (found,) = problems(HURRY, lines)
    assert found == f'has {count} lines that begin with "**In a hurry:**"; one is wanted, in the box of goals'


def test_the_line_leads_to_sections_that_are_there():
    assert problems("(#the-idea)", "(#the-other-idea)") == [
        '"In a hurry" links to #the-other-idea, which is no section here'
    ]


def test_the_line_has_links():
    assert problems("[The idea](#the-idea) and [Today](#sec-02-today)", "the first two sections") == [
        '"In a hurry" links to no section: write [its heading](#its-heading)'
    ]


def test_the_line_says_how_long_it_takes():
    assert problems("(1 minutes)", "(a while)") == ['"In a hurry" does not say how long its sections take: (1 minutes)']


@pytest.mark.parametrize("said", [4, 9])
def test_the_line_may_be_some_minutes_off(said):
    text = TEXT.replace("An idea.", "word " * 1000)  # 1,000 of 180 per minute, and a line more
    assert edition_problems(chapter(text.replace("(1 minutes)", f"({said} minutes)"))) == []


@pytest.mark.parametrize("said", [2, 10])
def test_the_line_is_not_far_from_what_its_sections_take_by_the_rule(said):
    text = TEXT.replace("An idea.", "word " * 1000).replace("(1 minutes)", f"({said} minutes)")
    assert edition_problems(chapter(text)) == [
        f'"In a hurry" says {said} minutes; by coursekit.minutes its sections take 6'
    ]
