"""Labels that follow from the words of a caption: whose order it is, and how many people it names."""

import pytest
import torch

from attnbook.data.texts.sentence_labels import (
    caption_words,
    count_people,
    people_examples,
    shuffle_words,
    word_order_examples,
)

WORDS = ["a", "man", "in", "a", "red", "hat", "sits", "near", "the", "old", "river"]


def test_a_captions_words_are_in_lower_case_and_without_punctuation():
    assert caption_words("A woman's well-worn coat, red & blue.") == [
        "a",
        "woman's",
        "well-worn",
        "coat",
        "red",
        "blue",
    ]


@pytest.mark.parametrize("window", [None, 2, 3])
def test_shuffled_words_are_the_same_words_in_another_order(window):
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        drawn = shuffle_words(WORDS, window, generator)
        assert drawn != WORDS
        assert sorted(drawn) == sorted(WORDS)
        if window is not None:
            starts = range(0, len(WORDS), window)
            assert all(sorted(drawn[i : i + window]) == sorted(WORDS[i : i + window]) for i in starts)


def test_words_that_cannot_be_shuffled_are_refused():
    with pytest.raises(ValueError, match="window must be at least 2 words, or None for all, got 1"):
        shuffle_words(WORDS, 1)
    for words, window in [(["a", "a", "a"], None), ([], None), (["a", "a", "b"], 2)]:
        with pytest.raises(ValueError, match="words must hold two different ones within a window"):
            shuffle_words(words, window)


def test_every_second_caption_is_shuffled_and_short_ones_are_left_out():
    captions = [" ".join(WORDS[i:] + WORDS[:i]).capitalize() + "." for i in range(8)] + ["A man sits."]
    found = word_order_examples(captions, 3, seed=1)
    assert [label for _, label in found] == [1, 0] * 4
    for caption, (text, label) in zip(captions, found, strict=False):
        own = " ".join(caption_words(caption))
        assert (text == own) is (label == 1)
        assert sorted(text.split()) == sorted(own.split())
    assert found == word_order_examples(captions, 3, seed=1)
    assert found != word_order_examples(captions, 3, seed=2)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a dog runs", 0),
        ("a man in a woman's hat", 1),
        ("a boy and a girl", 2),
        ("two young asian men talk", 2),
        ("a group of people", 3),
        ("a couple of kids and a lady", 3),
        ("two dogs run behind the tall brown old men", 3),
        ("five people watch a player", 6),
    ],
)
def test_people_are_counted_by_their_nouns_and_the_numbers_before_them(text, count):
    assert count_people(text.split()) == count


def test_classes_are_one_two_and_more_people_and_captions_of_none_are_left_out():
    captions = ["A man sits.", "A dog runs.", "Two men sit.", "Three men sit.", "Seven girls sing."]
    assert [label for _, label in people_examples(captions)] == [0, 1, 2, 2]
