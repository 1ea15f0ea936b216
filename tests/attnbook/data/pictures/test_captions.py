"""Canvases of digits: what the captions say is what lies there, and test digits are new."""

from itertools import pairwise

import pytest
import torch

from attnbook.data.pictures.captions import (
    DIGITS,
    LONGEST,
    SIDE,
    WORDS,
    Canvases,
    canvases,
    caption,
    cells_inside,
    digit_crops,
    digit_images,
    named_cells,
)
from attnbook.data.texts.vocabulary import EOS, PAD


@pytest.fixture(scope="module")
def many() -> Canvases:
    """A few hundred canvases."""
    return canvases(300, 5)


@pytest.mark.slow
def test_training_and_held_out_digits_share_no_image():
    (train, labels), (test, _) = digit_images(), digit_images(held_out=True)
    assert (len(train), len(test)) == (1400, 397)
    assert labels.unique().tolist() == list(range(10))
    assert 0 <= train.min() < train.max() == 1
    shared = {tuple(image.flatten().tolist()) for image in train} & {tuple(image.flatten().tolist()) for image in test}
    assert shared == set()


@pytest.mark.parametrize(
    "labels, corners, words",
    [
        ([7, 2], [[0, 5], [12, 3]], "a seven above a two"),
        ([7, 2], [[3, 0], [6, 15]], "a seven left of a two"),
        ([8, 1], [[3, 15], [6, 0]], "an eight right of a one"),
        ([7, 2, 3], [[0, 5], [12, 3], [15, 16]], "a seven above a two left of a three"),
    ],
)
def test_a_caption_names_the_digits_from_top_to_bottom(labels, corners, words):
    assert " ".join(caption(labels, corners)) == words


@pytest.mark.parametrize("labels, corners", [([1], [[0, 0], [9, 0]]), ([1, 2], [[9, 0], [0, 0]])])
def test_digits_that_are_not_sorted_are_refused(labels, corners):
    with pytest.raises(ValueError, match="per digit, sorted by row"):
        caption(labels, corners)


def test_captions_say_what_lies_on_the_canvas(many):
    for words, corners, labels in zip(many.target.tolist(), many.corners.tolist(), many.labels.tolist(), strict=True):
        named = [label for label in labels if label >= 0]
        assert WORDS.decode(words) == caption(named, corners[: len(named)])
        assert words.index(EOS) == len(WORDS.decode(words))
        assert set(words[words.index(EOS) + 1 :]) <= {PAD}
    assert {len(row) for row in many.target.tolist()} == {LONGEST}
    assert {len([x for x in labels if x >= 0]) for labels in many.labels.tolist()} == {2, 3}


def test_digits_lie_apart_and_no_relation_is_a_matter_of_one_pixel(many):
    for corners, labels in zip(many.corners.tolist(), many.labels.tolist(), strict=True):
        here = [corner for corner, label in zip(corners, labels, strict=True) if label >= 0]
        for one, other in pairwise(here):
            down, across = other[0] - one[0], abs(other[1] - one[1])
            assert down >= 2
            assert abs(down - across) >= 2
        for i, one in enumerate(here):
            assert all(max(abs(one[0] - o[0]), abs(one[1] - o[1])) > 8 for o in here[i + 1 :])


def test_all_ink_lies_within_the_digits(many):
    for image, corners, labels in zip(many.image, many.corners.tolist(), many.labels.tolist(), strict=True):
        rest = image[0].clone()
        for (row, column), label in zip(corners, labels, strict=True):
            if label >= 0:
                assert rest[row : row + 8, column : column + 8].sum() > 0
                rest[row : row + 8, column : column + 8] = 0
        assert rest.sum() == 0


def test_one_seed_gives_one_batch_and_sizes_can_be_chosen():
    first, again, other = canvases(4, 1), canvases(4, 1), canvases(4, 2)
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not torch.equal(first.image, other.image)
    assert (canvases(5, 1, digits=2).labels[:, 2] == -1).all()
    assert (canvases(5, 1, digits=3).labels >= 0).all()
    assert not torch.equal(first.image, canvases(4, 1, held_out=True).image)


def test_rows_and_devices(device):
    batch = canvases(4, 1).to(device)
    picked = batch.rows(torch.tensor([2, 0], device=device))
    assert torch.equal(picked.image[0], batch.image[2])
    assert picked.labels.device.type == device.type


@pytest.mark.parametrize("arguments", [(0,), (3, 0, 4), (3, 0, 1)])
def test_bad_counts_are_refused(arguments):
    with pytest.raises(ValueError, match="count must be at least 1 and digits 2 or 3"):
        canvases(*arguments)


def test_crops_hold_one_digit():
    image, label = digit_crops(6, 1)
    assert image.shape == (6, 1, 16, 16)
    assert label.shape == (6,)
    assert (image.flatten(1).sum(dim=1) > 5).all()
    with pytest.raises(ValueError, match="side at least 8"):
        digit_crops(6, 1, side=7)


# ---- cells


def test_a_cell_is_inside_where_its_centre_is():
    cells = cells_inside(torch.tensor([4, 10])).view(7, 7)  # rows 4 to 11, columns 10 to 17; centres at 2, 6, 10, 14 …
    assert cells.nonzero().tolist() == [[1, 2], [1, 3], [2, 2], [2, 3]]


def test_each_digit_holds_four_cells(many):
    assert (cells_inside(many.corners).sum(dim=-1) == 4).all()
    assert SIDE == 28


def test_a_margin_of_half_a_cell_adds_one_row_and_one_column(many):
    inner, outer = cells_inside(many.corners), cells_inside(many.corners, margin=2)
    assert (inner <= outer).all()
    within = ((many.corners >= 2) & (many.corners <= 18)).all(dim=-1)  # no cell is cut off by the canvas' edge
    assert (outer.sum(dim=-1)[within] == 9).all()


def test_words_that_name_a_digit_have_its_cells(many):
    cells, inside = named_cells(many), cells_inside(many.corners)
    for row, words in enumerate(many.target.tolist()):
        which = 0
        for t, word in enumerate(words):
            if word >= 3 and WORDS.words[word] in DIGITS:
                assert torch.equal(cells[row, t], inside[row, which])
                which += 1
            else:
                assert not cells[row, t].any()
