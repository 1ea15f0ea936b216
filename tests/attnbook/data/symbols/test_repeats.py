"""Sequences that repeat their beginning: each at its own period, and nothing else can be known about them."""

import pytest
import torch

from attnbook.data.symbols.repeats import repeats_batch


def test_each_row_repeats_its_segment_to_the_end():
    segments, periods, rows = repeats_batch(50, 20, (3, 7), words=10)
    assert rows.shape == (50, 20)
    assert {*periods.tolist()} == {3, 4, 5, 6, 7}
    for segment, period, row in zip(segments.tolist(), periods.tolist(), rows.tolist(), strict=True):
        assert row == [segment[i % period] for i in range(20)]
        assert len({*row}) == period  # no word twice in a segment
        assert segment[period:] == [0] * (7 - period)


def test_every_word_occurs_and_the_seed_decides():
    first, again, other = (repeats_batch(200, 12, (4, 6), 8, seed=seed).target for seed in (1, 1, 2))
    assert {*first.flatten().tolist()} == {*range(3, 11)}
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("periods", [(1, 4), (5, 4), (3, 11), (3, 9)])
def test_periods_that_do_not_fit_are_refused(periods):
    with pytest.raises(ValueError, match=rf"periods must rise, from 2 or more to 8 .* got \({periods[0]}"):
        repeats_batch(2, 8, periods, words=10)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        repeats_batch(0, 8, (2, 3))
