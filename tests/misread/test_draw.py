"""Random inputs: sizes, masks, lengths, numbers."""

import pytest
import torch

from attnlabs import Draw


def test_sizes_are_all_different_and_smallest_in_the_first_draw():
    for number in range(4):
        sizes = Draw(5, number).sizes(4, low=3)
        assert len(set(sizes)) == 4
        assert min(sizes) >= 3
    first, later = (max(max(Draw(variant, number).sizes(3)) for variant in range(20)) for number in (0, 2))
    assert first < later


def test_one_size_after_the_other_is_one_where_a_draw_is_asked_for_it():
    for which in range(3):
        draw = Draw(5, 0, one=which)
        sizes = draw.sizes(3, low=3)
        assert [place for place, size in enumerate(sizes) if size == 1] == [which]
        assert (draw.drawn, draw.has_one) == (3, True)
        assert 1 not in draw.sizes(3)  # those of the first call only


@pytest.mark.parametrize("one, never_one", [(3, ()), (1, {1})])
def test_no_size_is_one_where_there_is_none_or_the_text_excludes_it(one, never_one):
    draw = Draw(5, 0, one=one)
    assert 1 not in draw.sizes(3, never_one=never_one)
    assert not draw.has_one


def test_lengths_hold_a_full_row_and_a_shorter_one():
    for variant in range(20):
        lengths = Draw(variant, 1).lengths(3, 6)
        assert lengths.max() == 6
        assert 1 <= lengths.min() < 6


@pytest.mark.parametrize("empty_rows", [True, False])
def test_a_mask_has_an_open_row_and_perhaps_a_closed_one(empty_rows):
    for variant in range(20):
        mask = Draw(variant, 1).mask(2, 3, 4, empty_rows=empty_rows).view(-1, 4)
        assert mask[0].all()
        assert mask.any(1).all() != empty_rows
        assert not mask[1:].all(1).any()


def test_numbers_keep_to_their_range():
    draw = Draw(0, 0)
    numbers, real = draw.integers(3, 6, 200), draw.uniform(100, low=-2, high=-1)
    assert set(numbers.tolist()) == {3, 4, 5}
    assert -2 <= real.min() < real.max() <= -1
    assert (numbers.dtype, real.dtype) == (torch.long, torch.float64)
    assert draw.integer(4, 5) == 4
    assert sorted(draw.order(5).tolist()) == [0, 1, 2, 3, 4]


def test_a_mask_of_one_column_is_open_unless_rows_may_be_empty():
    assert Draw(0, 1).mask(2, 3, 1, empty_rows=False).all()
    assert not Draw(0, 1).mask(2, 3, 1).all()
