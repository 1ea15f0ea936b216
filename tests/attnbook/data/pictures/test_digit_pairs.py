"""Pairs of digits: of one class, from two images, at the two ends, and test pairs are new."""

import pytest
import torch

from attnbook.data.pictures.captions import digit_images
from attnbook.data.pictures.digit_pairs import DigitPairs, crop_digits, digit_pairs, images_of, place_digits


@pytest.fixture(scope="module")
def many() -> DigitPairs:
    """A few hundred pairs of four classes."""
    return digit_pairs(400, 3, classes=(0, 1, 2, 7))


def test_the_two_digits_are_different_images_of_the_class_that_the_label_says(many):
    labels = digit_images()[1][many.exemplars]  # (B, 2)
    assert torch.equal(labels, many.label[:, None].expand(-1, 2))
    assert (many.exemplars[:, 0] != many.exemplars[:, 1]).all()


def test_each_class_and_each_side_gets_its_share(many):
    counts = torch.bincount(many.label, minlength=10)
    assert counts[[3, 4, 5, 6, 8, 9]].sum() == 0
    assert counts[[0, 1, 2, 7]].min() > 70
    assert len(many.exemplars.unique()) > 300  # of some 560 images


def test_the_canvas_holds_the_digits_at_its_ends_and_is_blank_between(many):
    digits = digit_images()[0][many.exemplars]  # (B, 2, 8, 8)
    assert many.image.shape == (400, 1, 8, 32)
    assert torch.equal(many.image[:, 0, :, :8], digits[:, 0])
    assert torch.equal(many.image[:, 0, :, 24:], digits[:, 1])
    assert many.image[..., 8:24].count_nonzero() == 0


def test_on_a_higher_canvas_the_digits_lie_in_opposite_corners():
    pairs = digit_pairs(5, 1, height=32)
    digits = digit_images()[0][pairs.exemplars]
    assert pairs.image.shape == (5, 1, 32, 32)
    assert torch.equal(pairs.image[:, 0, :8, :8], digits[:, 0])
    assert torch.equal(pairs.image[:, 0, 24:, 24:], digits[:, 1])
    assert torch.allclose(pairs.image.sum(), digits.sum())


def test_the_same_seed_gives_the_same_pairs():
    assert all(torch.equal(one, other) for one, other in zip(digit_pairs(9, 5), digit_pairs(9, 5), strict=True))
    assert not torch.equal(digit_pairs(9, 5).exemplars, digit_pairs(9, 6).exemplars)


def test_drawing_pairs_disturbs_no_other_random_numbers():
    state = torch.get_rng_state()
    digit_pairs(4, 1)
    assert torch.equal(torch.get_rng_state(), state)


def test_training_and_held_out_pairs_share_no_image():
    held_out = digit_pairs(200, 0, held_out=True)
    assert held_out.exemplars.max() < 397
    shown = {tuple(digit.flatten().tolist()) for digit in digit_images()[0]}
    assert not shown & {tuple(digit.flatten().tolist()) for digit in crop_digits(held_out.image).flatten(0, 1)}


def test_images_of_a_digit_are_all_of_them():
    assert sum(len(images_of(label)) for label in range(10)) == 1400
    assert (digit_images(held_out=True)[1][images_of(4, held_out=True)] == 4).all()


def test_cropping_undoes_placing():
    digits = torch.rand(3, 2, 8, 8)
    assert torch.equal(crop_digits(place_digits(digits)), digits)
    assert torch.equal(crop_digits(place_digits(digits, 16, 24)), digits)


def test_a_batch_moves_to_another_device():
    moved = digit_pairs(2).to("meta")
    assert {tensor.device.type for tensor in moved} == {"meta"}


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"classes": ()}, "classes must be different digits from 0 to 9"),
        ({"classes": (1, 1)}, r"got \(1, 1\)"),
        ({"classes": (3, 10)}, r"got \(3, 10\)"),
        ({"width": 15}, "one of them at least 16, got 8 and 15"),
        ({"height": 7}, "got 7 and 32"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        digit_pairs(**{"count": 2, **wrong})


@pytest.mark.parametrize("shape", [(2, 8, 32), (2, 3, 8, 32), (2, 1, 7, 32)])
def test_only_canvases_are_cropped(shape):
    with pytest.raises(ValueError, match=r"image must have shape \(B, 1, H, W\) with H and W at least 8"):
        crop_digits(torch.zeros(shape))
