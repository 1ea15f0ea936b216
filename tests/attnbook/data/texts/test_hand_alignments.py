"""Links by hand: read as they are written, inside their sentences, and pieces find the words that they are of."""

import doctest
import os

import pytest

from attnbook.data.texts import hand_alignments as module
from attnbook.data.texts import multi30k
from attnbook.data.texts.byte_pairs import train_byte_pairs
from attnbook.data.texts.hand_alignments import hand_alignments, word_of_each, words_of


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_there_are_twenty_and_sure_links_are_possible_too():
    found = hand_alignments()
    assert len(found) == 20
    assert all(one.sure and one.sure <= one.possible for one in found)
    assert any(one.sure < one.possible for one in found)


def test_each_link_of_a_line_is_read(monkeypatch):
    monkeypatch.setattr(module, "LINKS", "\n0-0 1?2 10-11\n2-1\n")
    first, second = hand_alignments()
    assert first.sure == {(0, 0), (10, 11)}
    assert first.possible == {(0, 0), (1, 2), (10, 11)}
    assert second.sure == second.possible == {(2, 1)}
    wanted = module.LINKS.split()
    assert sum(len(one.possible) for one in (first, second)) == len(wanted)


def test_no_link_is_written_twice_and_nothing_else_stands_in_the_lines():
    lines = module.LINKS.split("\n")[1:-1]
    assert [len(line.split()) for line in lines] == [len(one.possible) for one in hand_alignments()]


def test_punctuation_marks_are_words_and_hyphens_divide_none():
    assert words_of("Zwei Hunde, ein T-Shirt!") == ["Zwei", "Hunde", ",", "ein", "T-Shirt", "!"]
    assert words_of("a man's hat") == ["a", "man", "'", "s", "hat"]


@pytest.mark.parametrize("pieces", [21, 30, 60])
def test_pieces_of_any_size_find_their_words(pieces):
    sentence = "two dogs, the old dog's T-shirt."
    found = train_byte_pairs([sentence], pieces).encode(sentence)
    words = words_of(sentence)
    numbers = word_of_each(found, words)
    assert numbers == sorted(numbers)
    for number, word in enumerate(words):
        mine = "".join(piece for piece, at in zip(found, numbers, strict=True) if at == number)
        assert mine.replace("▁", "") == word


def test_a_space_that_is_a_piece_belongs_to_the_word_behind_it():
    assert word_of_each(["▁", "ab", "▁", "c"], ["ab", "c"]) == [0, 0, 1, 1]
    assert word_of_each(["▁ab", "▁"], ["ab"]) == [0, 0]


def test_pieces_of_other_words_are_refused():
    with pytest.raises(ValueError, match="the pieces have 4 letters and the words 3"):
        word_of_each(["▁Haus"], ["ein"])


@pytest.mark.skipif(not os.environ.get("ATTNBOOK_DATA"), reason="needs the files of Multi30k in ATTNBOOK_DATA")
def test_links_join_words_of_the_real_sentences_and_nearly_every_word_has_one():
    german, english = (multi30k.lines("test_2016_flickr", language)[:20] for language in ("de", "en"))
    for links, *pair in zip(hand_alignments(), german, english, strict=True):
        for side, sentence in enumerate(pair):
            linked, there = {link[side] for link in links.possible}, range(len(words_of(sentence)))
            assert linked <= set(there)
            assert len(linked) >= 0.8 * len(there)
