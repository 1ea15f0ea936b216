"""Pairs of keys and values, and what each asked key had beside it."""

import pytest
import torch

from attnbook.data.symbols.pairs import pairs_batch, rewritten_batch


def test_each_key_is_told_once_asked_once_and_answered_with_its_value():
    batch = pairs_batch(30, 5, words=8)
    assert batch.source.shape == batch.target.shape == (30, 15)
    assert batch.lengths.tolist() == [15] * 30
    for words, answers in zip(batch.source.tolist(), batch.target.tolist(), strict=True):
        told = dict(zip(words[:10:2], words[1:10:2], strict=True))
        assert sorted(told) == sorted(words[10:])
        assert len(told) == 5
        assert answers == [0] * 10 + [told[key] for key in words[10:]]


def test_keys_and_values_are_different_words_and_all_occur():
    batch = pairs_batch(200, 5, words=8)
    assert {*batch.source[:, :10:2].flatten().tolist()} == {*range(3, 11)}
    assert {*batch.source[:, 1:10:2].flatten().tolist()} == {*range(11, 19)}


def test_the_order_of_the_questions_is_not_that_of_the_pairs():
    source = pairs_batch(50, 6).source
    assert (source[:, 12:] != source[:, :12:2]).float().mean() > 0.5


def test_the_seed_decides():
    first, again, other = (pairs_batch(4, 5, seed=seed).source for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(("count", "pairs"), [(0, 2), (2, 0), (2, 9)])
def test_an_empty_batch_and_pairs_that_do_not_fit_are_refused(count, pairs):
    with pytest.raises(ValueError, match=rf"pairs from 1 to 8 \(words\), got {count} and {pairs}"):
        pairs_batch(count, pairs, words=8)


def test_the_newest_value_of_each_key_is_the_answer():
    batch = rewritten_batch(30, 3, 7, words=8)
    assert batch.source.shape == batch.target.shape == (30, 17)
    assert batch.lengths.tolist() == [17] * 30
    for words, answers in zip(batch.source.tolist(), batch.target.tolist(), strict=True):
        newest = dict(zip(words[:14:2], words[1:14:2], strict=True))  # a later pair takes an earlier one's place
        assert sorted(newest) == sorted(words[14:])
        assert len(newest) == 3
        assert answers == [0] * 14 + [newest[key] for key in words[14:]]


def test_a_key_with_one_value_only_is_the_task_without_new_ones():
    batch = rewritten_batch(20, 5, 5, words=8)
    assert all(len(set(row[:10:2])) == 5 for row in batch.source.tolist())


@pytest.mark.parametrize(("count", "keys", "pairs"), [(0, 3, 7), (2, 0, 7), (2, 9, 9), (2, 3, 2)])
def test_what_cannot_be_told_is_refused(count, keys, pairs):
    with pytest.raises(ValueError, match="pairs at least as many"):
        rewritten_batch(count, keys, pairs, words=8)
