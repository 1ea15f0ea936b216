"""Strings of a letter, a gap and a question."""

import pytest
import torch

from attnbook.data.symbols.recall import CHANCE, LETTERS, WORDS, recall_batch


def test_a_string_is_a_letter_fillers_and_a_question_and_the_answer_is_the_letter():
    batch = recall_batch(3, 20)
    for row, length, answer in zip(batch.source, batch.lengths, batch.target, strict=True):
        words = WORDS.decode(row)
        assert len(words) == length == 5
        assert words[0] in LETTERS
        assert words[1:] == [".", ".", ".", "?"]
        assert WORDS.decode(answer) == words[:1]


def test_among_letters_the_first_is_asked_for():
    batch = recall_batch(6, 50, among_letters=True)
    assert {letter for row in batch.source[:, :-1] for letter in WORDS.decode(row)} == set(LETTERS)
    assert torch.equal(batch.source[:, :1], batch.target)


def test_the_same_seed_brings_the_same_strings_and_another_one_others():
    assert torch.equal(recall_batch(3, 20, 1).source, recall_batch(3, 20, 1).source)
    assert not torch.equal(recall_batch(3, 20, 1).source, recall_batch(3, 20, 2).source)


def test_all_letters_come_and_chance_is_one_in_eight():
    assert set(recall_batch(0, 500).target.flatten().tolist()) == set(WORDS.encode(LETTERS))
    assert CHANCE == 1 / 8


@pytest.mark.parametrize(("distance", "count"), [(-1, 2), (3, 0)])
def test_a_negative_distance_and_an_empty_batch_are_refused(distance, count):
    with pytest.raises(ValueError, match="distance must be at least 0 and count at least 1"):
        recall_batch(distance, count)
