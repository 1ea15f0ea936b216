"""A deck that fills slide after slide."""

import pytest

from coursekit.slides.deck import ROOM, Deck


def titles(deck: Deck) -> list[tuple[str, int]]:
    return [(slide.title, len(slide.parts)) for slide in deck.finished()]


def test_what_no_longer_fits_goes_on_under_the_same_heading():
    deck = Deck()
    deck.begin("One", 2)
    deck.add("a", ROOM * 0.6)
    deck.add("b", ROOM * 0.6)
    deck.add("", 10)
    assert titles(deck) == [("One", 1), ("One", 1)]


def test_a_heading_without_content_gives_way_to_the_next_and_keeps_its_notes():
    deck = Deck()
    deck.begin("One", 2)
    deck.note("said")
    deck.begin("Two", 3)
    deck.add("a", 10)
    assert titles(deck) == [("Two", 1)]
    assert deck.finished()[0].notes == ["said"]


def test_an_empty_slide_at_the_end_leaves_its_notes_to_the_one_before():
    deck = Deck()
    deck.add("a", 10)
    deck.begin("Two", 2)
    deck.note("said")
    assert [slide.notes for slide in deck.finished()] == [["said"]]


def test_a_high_picture_takes_few_words_beside_it_and_nothing_after_it():
    deck = Deck()
    deck.begin("One", 2)
    deck.add("<p>words</p>", 100)
    deck.picture("<img>", "<figcaption>c</figcaption>", 1.2)
    deck.add("b", 10)
    first, second = deck.finished()
    assert first.parts == [
        '<div class="side"><div class="words"><p>words</p></div><figure><img><figcaption>c</figcaption></figure></div>'
    ]
    assert second.parts == ["b"]


def test_a_wide_picture_and_one_after_many_words_have_slides_of_their_own():
    for aspect, height in ((2.5, 100), (1.2, 500)):
        deck = Deck()
        deck.begin("One", 2)
        deck.add("words", height)
        deck.picture("<img>", "", aspect)
        assert titles(deck) == [("One", 1), ("One", 1)]


@pytest.mark.parametrize("aspect", [1.2, 2.0])
def test_the_slide_of_the_title_keeps_its_words_and_gets_no_picture(aspect):
    deck = Deck()
    deck.begin("The chapter", 1)
    deck.add("<p>words</p>", 60)
    deck.picture("<img>", "", aspect)
    assert [slide.title for slide in deck.finished()] == ["The chapter", "The chapter"]
    assert [("<img>" in "".join(slide.parts), slide.level) for slide in deck.finished()] == [(False, 1), (True, 2)]


def test_what_is_too_wide_to_stand_beside_a_picture_keeps_its_slide():
    deck = Deck()
    deck.begin("One", 2)
    deck.add('<div class="formula">a</div>', 100)
    deck.picture("<img>", "", 1.2)
    assert titles(deck) == [("One", 1), ("One", 1)]
