"""Pages as paper and e-readers take them."""

import re

import pytest

from coursekit import CourseError
from coursekit.printing.pages import Page, Target, images_of, place, read_pages, relink, target_of, text_of, written


def read(html, name) -> Page:
    return read_pages(html, [name])[0]


@pytest.fixture
def chapter(html):
    return read(html, "chapters/01_one")


def test_a_title_has_its_number_and_no_sign_of_a_link(chapter):
    assert chapter.title == "1. One"


@pytest.mark.parametrize(
    "gone", ["Open the notebook", "Reading", "secret_code", "claimed", "claims", "Menu", "var x", "#"]
)
def test_what_only_a_screen_has_is_gone(chapter, gone):
    assert gone not in text_of(chapter.body)


@pytest.mark.parametrize(
    "kept", ["shown_code()", "Figure 1.1 A dot.", "Because.", "A hint", "Think.", "注意力", "(1.1)"]
)
def test_what_is_read_stays_and_folds_are_open(chapter, kept):
    assert kept in text_of(chapter.body)
    assert not chapter.body.xpath(".//details | .//button | .//script | .//*[contains(@class, 'dropdown')]")


def test_no_box_is_empty(chapter):
    boxes = chapter.body.xpath(".//div")
    assert [box.get("class") for box in boxes if not text_of(box) and not box.xpath(".//img")] == []


def test_a_quiz_has_letters_a_line_to_write_on_and_its_answers_behind_the_last_question(html):
    quiz = read(html, "book/quizzes/part1").body
    said = text_of(quiz)
    assert re.search(
        r"Question 1 ?Which\? a\) This b\) That Question 2 ?How many\? Your answer \(bits\) _+ Answers", said
    )
    assert "a) Right: This Yes." in said.partition("Answers")[2]
    assert "Check" not in said
    assert not quiz.xpath(".//form | .//input | .//fieldset | .//label | .//@data-right")


@pytest.mark.parametrize(
    "href, target",
    [
        ("#x", Target("book/a", "x")),
        ("../chapters/01_one.html#two", Target("chapters/01_one", "two")),
        ("b.html", Target("book/b")),
        ("https://example.org/a#b", Target(outside="https://example.org/a#b")),
        ("../_sources/a.ipynb", Target()),
    ],
)
def test_where_a_link_leads(href, target):
    assert target_of("book/a", href) == target


def test_links_get_the_names_of_places_and_those_that_lead_nowhere_are_words(html):
    names = ["chapters/01_one", "book/glossary"]
    pages = read_pages(html, names)
    relink(pages, lambda page, to: f"#{place(to.page, to.fragment)}" if to.page in names else to.outside)
    links = {text_of(link): link.get("href") for link in pages[0].body.xpath(".//a")}
    assert links == {
        "a word": "#book-glossary--term-word", "the formula": "#chapters-01_one--eq-1",
        "what is hidden": "#chapters-01_one", "a page": "https://example.org/a",
        "Exercise 1.1": "#chapters-01_one--ex-1",
    }  # fmt: skip
    assert "the guide" in text_of(pages[0].body)
    assert pages[0].body.get("id") == pages[0].top == "chapters-01_one"
    assert pages[0].body.xpath(".//*[@id='chapters-01_one--chapters-01_one-solution-1']")


def test_pictures_are_named_from_the_folder_of_the_book_and_a_missing_one_is_told(html, chapter):
    assert images_of([chapter], html) == {"_images/dot.png": html / "_images/dot.png"}
    (html / "_images/dot.png").unlink()
    with pytest.raises(CourseError, match=r"01_one\.html shows _images/dot\.png.*build the book anew"):
        images_of([read(html, "chapters/01_one")], html)


def test_a_page_that_was_not_built_or_is_none_is_named(html):
    with pytest.raises(CourseError, match=r"02_two\.html\. Build it first: coursekit book"):
        read(html, "chapters/02_two")
    (html / "book/empty.html").write_text("<p>nothing</p>", encoding="utf-8")
    with pytest.raises(CourseError, match="no article with a title"):
        read(html, "book/empty")


def test_only_empty_elements_close_themselves(html, chapter):
    text = written(chapter.body)
    assert '<span id="sec-two"></span>' in text
    assert "<img" in text
    assert "</img>" not in text
    assert "a &lt; b_1" in text
