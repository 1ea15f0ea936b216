import doctest

import pytest
import torch

from attnbook.data.texts import vocabulary as module
from attnbook.data.texts.vocabulary import BOS, EOS, PAD, UnknownWord, Vocabulary

GERMAN = ["zwei", "und", "vierzig", "vier"]


@pytest.fixture
def words():
    return Vocabulary(GERMAN)


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_decode_undoes_encode(words):
    assert words.decode(words.encode(GERMAN)) == GERMAN


def test_encode_adds_no_special_number(words):
    assert words.encode(["und"]) == [4]
    assert not {PAD, BOS, EOS} & set(words.encode(GERMAN))


def test_an_empty_sequence_stays_empty(words):
    assert words.encode([]) == []
    assert words.decode([]) == []


def test_decode_stops_at_the_end_and_leaves_out_padding(words):
    assert words.decode([BOS, PAD, 3, EOS, 4, 4]) == ["zwei"]


@pytest.mark.parametrize("dtype", [torch.long, torch.int32])
def test_decode_takes_a_tensor(words, dtype):
    assert words.decode(torch.tensor([3, 4, EOS], dtype=dtype)) == ["zwei", "und"]


def test_the_length_counts_the_three_special_names(words):
    assert len(words) == 7
    assert list(words)[:3] == ["<pad>", "<bos>", "<eos>"]
    assert "und" in words
    assert "oder" not in words


def test_vocabularies_of_the_same_words_are_equal(words):
    assert words == Vocabulary(GERMAN)
    assert hash(words) == hash(Vocabulary(GERMAN))
    assert words != Vocabulary(reversed(GERMAN))
    assert words != GERMAN


def test_the_repr_shows_words_but_not_hundreds(words):
    assert "vierzig" in repr(words)
    assert len(repr(Vocabulary(map(str, range(1000))))) < 120


def test_an_unknown_word_is_named_with_near_ones(words):
    with pytest.raises(UnknownWord, match=r"'vierzich' is not in the vocabulary.*'vierzig'") as caught:
        words.encode(["zwei", "vierzich"])
    assert caught.value.word == "vierzich"
    assert caught.value.near[0] == "vierzig"
    assert isinstance(caught.value, KeyError)


def test_an_unknown_word_without_near_ones_shows_what_there_is(words):
    with pytest.raises(UnknownWord, match="it holds 'zwei', 'und'"):
        words.encode(["xyzxyz"])


def test_a_word_is_found_in_both_spellings_of_its_accents():
    composed, decomposed = "f\u00fcnf", "fu\u0308nf"
    words = Vocabulary(["zwei", composed])
    assert words.encode([decomposed, "zwei", composed]) == [4, 3, 4]
    assert decomposed in words
    both = Vocabulary([decomposed, composed])  # two words for whoever made it, and they stay two
    assert both.encode([decomposed, composed]) == [3, 4]


def test_a_word_that_is_no_string_is_unknown_too(words):
    with pytest.raises(UnknownWord, match="word 7 is not"):
        words.encode([7])


@pytest.mark.parametrize("twice", [["ein", "zwei", "ein"], ["<eos>"]])
def test_a_word_may_come_only_once(twice):
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(twice)


def test_words_must_be_strings():
    with pytest.raises(TypeError, match="holds 3, a int"):
        Vocabulary(["ein", 3])


@pytest.mark.parametrize("number", [-1, 7])
def test_decode_refuses_a_number_without_a_word(words, number):
    with pytest.raises(ValueError, match=f"holds {number}; this vocabulary has 0 to 6"):
        words.decode([number])


def test_decode_refuses_a_whole_batch(words):
    with pytest.raises(ValueError, match="more than one axis"):
        words.decode(torch.tensor([[3, 4], [5, 6]]))
