"""Pairs of keys and values, and what each asked key had beside it."""

import pytest
import torch

from attnbook.data.symbols.pairs import pairs_batch


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
