"""Byte-pair encoding: by hand as the paper has it, and the same as the library's."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data.texts.byte_pairs import (
    MARK,
    UNKNOWN,
    BytePairs,
    count_pairs,
    learn_merges,
    merge_most_frequent_pair,
    merge_pair,
    merge_ranks,
    split_text,
    split_word,
    train_byte_pairs,
)

PAPER = {"low·": 5, "lower·": 2, "newest·": 6, "widest·": 3}  # the example of Sennrich et al., with their end of word
SENTENCES = ["the cat sat on the mat", "the cats that the cat sees", "a rat ate the oats", "that hat is at the hut"]


def test_the_example_of_the_paper_gives_its_first_merges():
    assert learn_merges(PAPER, 3) == [("e", "s"), ("es", "t"), ("est", "·")]


def test_of_equally_frequent_pairs_the_first_in_sorted_order_is_merged():
    assert merge_most_frequent_pair({("b", "c"): 1, ("a", "d"): 1})[0] == ("a", "d")


def test_pairs_are_counted_as_often_as_their_words_occur_and_overlap_once_they_are_merged():
    assert count_pairs({("a", "a", "a"): 2}) == {("a", "a"): 4}
    assert merge_pair(("a", "a", "a"), ("a", "a")) == ("aa", "a")
    assert merge_pair(("a", "b"), ("b", "a")) == ("a", "b")


def test_the_words_given_stay_as_they_are():
    words = {("a", "b"): 1}
    assert merge_most_frequent_pair(words) == (("a", "b"), {("ab",): 1})
    assert words == {("a", "b"): 1}


def test_merging_ends_where_every_word_is_one_symbol():
    assert learn_merges({"ab": 2}, 10) == [("a", "b")]
    with pytest.raises(ValueError, match="no two symbols side by side"):
        merge_most_frequent_pair({("ab",): 2})
    with pytest.raises(ValueError, match="count is the number of merges, at least 0; got -1"):
        learn_merges(PAPER, -1)


def test_splitting_repeats_the_merges_in_their_order():
    merges = learn_merges(PAPER, 8)

    def slow(word):
        symbols = tuple(word)
        for pair in merges:
            symbols = merge_pair(symbols, pair)
        return symbols

    for word in (*PAPER, "lowest·", "newer·", "w"):
        assert split_word(word, merge_ranks(merges)) == slow(word)


# Each word occurs alone and as the beginning of the next, so that no two pairs are ever equally frequent.
CHAINS = {"o on one ones": 7, "a at ate": 11, "in int into": 31}


def test_merges_and_pieces_equal_those_of_the_library():
    from tokenizers import Tokenizer, models

    texts = [text for text, count in CHAINS.items() for _ in range(count)]
    words = Counter(word for text in texts for word in split_text(text))
    letters = len(set("".join(words)))
    ours = train_byte_pairs(texts, letters + 4 + 9)
    assert ours.merges == learn_merges(words, 9)
    vocabulary = {piece: number for number, piece in enumerate(ours.pieces)}
    library = Tokenizer(models.BPE(vocab=vocabulary, merges=ours.merges))
    for word in (*words, f"{MARK}stone", f"{MARK}not", "tint"):
        assert tuple(library.encode(word).tokens) == split_word(word, merge_ranks(ours.merges)), word


def test_with_ties_the_library_takes_the_pair_whose_symbols_it_has_known_longest():
    words = Counter(word for text in SENTENCES for word in split_text(text))
    ours = train_byte_pairs(SENTENCES, 40)
    known = sorted(set("".join(words)))
    symbols, merges = {tuple(word): count for word, count in words.items()}, []
    while len(merges) < len(ours.merges):
        counts = count_pairs(symbols)
        pair = min(counts, key=lambda pair: (-counts[pair], known.index(pair[0]), known.index(pair[1])))
        symbols = {merge_pair(word, pair): count for word, count in symbols.items()}
        known.append("".join(pair))
        merges.append(pair)
    assert len(merges) >= 10
    assert ours.merges == merges


@given(st.text(st.sampled_from("ab ,.'▁é7"), max_size=30))
def test_the_words_of_a_text_joined_are_the_text(text):
    assert "".join(split_text(text)) == MARK + text.replace(" ", MARK)


@given(st.lists(st.sampled_from(["the", "cats", "mat", "on", "that", "hut", ",", "."]), min_size=1))
def test_a_text_comes_back_from_its_pieces(words):
    pairs = train_byte_pairs([*SENTENCES, ", . "], 30)
    assert pairs.decode(pairs.encode(" ".join(words))) == " ".join(words)


def test_a_letter_never_seen_becomes_the_unknown_one():
    pairs = train_byte_pairs(SENTENCES, 40)
    assert UNKNOWN in pairs.encode("the zoo")
    assert pairs.decode(pairs.encode("az")) == f"a{UNKNOWN}"
    assert set(pairs.encode("quiz!")) <= set(pairs.pieces)


def test_the_vocabulary_has_the_size_that_was_asked_for():
    pairs = train_byte_pairs(SENTENCES, 40)
    assert len(pairs.vocabulary()) == 40
    assert len(set(pairs.pieces)) == len(pairs.pieces)
    assert BytePairs("ab", [("a", "b")]).pieces == (UNKNOWN, "a", "b", "ab")


def test_pieces_that_are_written_down_as_json_come_back_the_same():
    pairs = train_byte_pairs([*SENTENCES, "ein Haus, “schön”."], 50)
    again = BytePairs.from_saved(json.loads(json.dumps(pairs.saved())))
    assert (again.pieces, again.merges) == (pairs.pieces, pairs.merges)
    assert again.encode("that cat, schön") == pairs.encode("that cat, schön")


def test_pieces_without_merges_come_back_too():
    assert BytePairs("ab", []).saved() == {"letters": ["a", "b"], "merges": []}
    assert BytePairs.from_saved({"letters": ["a", "b"], "merges": ["a b"]}).pieces == (UNKNOWN, "a", "b", "ab")


def test_too_small_a_vocabulary_and_no_text_are_refused():
    with pytest.raises(ValueError, match="vocabulary_size must be at least 12, got 5"):
        train_byte_pairs(["the cat sees a hut"], 5)
    with pytest.raises(ValueError, match="texts is empty"):
        train_byte_pairs([], 50)
