"""Two photographs with outlines."""

import pytest
import torch

from attnbook.data.pictures.photographs import as_imagenet, photographs, within


def test_photographs_are_square_and_have_an_object_each():
    images, objects = photographs(112)
    assert images.shape == (2, 3, 112, 112)
    assert objects.shape == (2, 112, 112)
    assert 0 <= images.min() < 0.1
    assert 0.9 < images.max() <= 1
    share = objects.double().mean(dim=(1, 2))
    torch.testing.assert_close(share, torch.tensor([0.34, 0.34], dtype=torch.float64), rtol=0, atol=0.02)


def test_the_flowers_are_orange_and_what_surrounds_them_is_not():
    images, objects = photographs(112)
    redder = images[1, 0] - images[1, 2]
    assert redder[objects[1]].mean() > 0.4
    assert redder[~objects[1]].mean() < 0.05


def test_an_outline_keeps_its_share_at_every_size():
    large, small = (photographs(side).objects.double().mean(dim=(1, 2)) for side in (224, 56))
    torch.testing.assert_close(large, small, rtol=0, atol=0.01)


def test_a_centre_is_within_a_bent_outline_or_not():
    bent = torch.tensor([(0, 0), (4, 0), (4, 1), (1, 1), (1, 4), (0, 4)])  # an L
    assert within(bent, 4).int().tolist() == [[1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]


def test_images_are_shifted_and_scaled_by_colour():
    images = torch.tensor([0.485, 0.456, 0.406])[None, :, None, None].expand(1, 3, 2, 2)
    torch.testing.assert_close(as_imagenet(images), torch.zeros(1, 3, 2, 2))
    found = as_imagenet(images + torch.tensor([0.229, 0.224, 0.225])[:, None, None])
    torch.testing.assert_close(found, torch.ones(1, 3, 2, 2))
    with pytest.raises(ValueError, match=r"images must have shape \(B, 3, H, W\), got \(3, 2, 2\)"):
        as_imagenet(images[0])


def test_a_side_of_no_pixels_is_refused():
    with pytest.raises(ValueError, match="side must be at least 1 pixel, got 0"):
        photographs(0)
