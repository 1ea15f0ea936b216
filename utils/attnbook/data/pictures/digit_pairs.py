"""Pairs of handwritten digits of the same class, one at each end of a canvas: two distant parts that must agree.

The digits are those of :mod:`attnbook.data.pictures.captions`; the gap between them is wider than a small
convolutional network reaches.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.pictures.captions import SIZE, digit_images
from attnbook.seeding import generator
from attnbook.trees import moved

HEIGHT, WIDTH = SIZE, 32  # pixels of a canvas; 16 columns between the digits stay blank
CLASSES = (0, 1)  # the digits that occur unless others are asked for


class DigitPairs(NamedTuple):
    """A batch of canvases.

    Fields:
        image: ``(B, 1, height, width)``, 0 = paper, 1 = ink.
        label: ``(B,)`` long, the class of both digits.
        exemplars: ``(B, 2)`` long, which image of :func:`~attnbook.data.pictures.captions.digit_images` is the first
            digit, and which the second; never the same one.
    """

    image: Tensor
    label: Tensor
    exemplars: Tensor

    def to(self, device: torch.device | str) -> "DigitPairs":
        """The same batch on another device."""
        return moved(self, device)


@cache
def images_of(label: int, held_out: bool = False) -> Tensor:
    """Which of the images show this digit: ``(N,)`` long."""
    return (digit_images(held_out)[1] == label).nonzero()[:, 0]


def digit_pairs(
    count: int,
    seed: int = 0,
    classes: Sequence[int] = CLASSES,
    height: int = HEIGHT,
    width: int = WIDTH,
    held_out: bool = False,
) -> DigitPairs:
    """Draw canvases with two different images of the same digit, at the first and the last corner.

    The first digit fills the top left 8 × 8 pixels and the second the bottom right ones; on a canvas of height 8 these
    are its two ends.

    Args:
        count: how many, B.
        seed: the same canvases come for the same seed.
        classes: the digits that occur, all equally often on average.
        height, width: of a canvas, in pixels.
        held_out: take images that training never shows.

    Raises:
        ValueError: if ``count`` is not positive, ``classes`` are not different digits from 0 to 9, or two digits do
            not fit beside each other on the canvas.
    """
    _check(count, classes, height, width)
    chance = generator(seed)
    label = torch.tensor(classes)[torch.randint(len(classes), (count,), generator=chance)]  # (B,)
    # In single precision the largest draw, times the number of images, may round up to an index too many.
    draws = torch.rand(count, 2, generator=chance, dtype=torch.float64)  # (B, 2)
    exemplars = torch.zeros(count, 2, dtype=torch.long)
    for digit in classes:
        own, images = label == digit, images_of(digit, held_out)
        first = (draws[own, 0] * len(images)).long()
        # One of the others: 1 to N − 1 positions after the first, round the end.
        second = (first + 1 + (draws[own, 1] * (len(images) - 1)).long()) % len(images)
        exemplars[own] = images[torch.stack([first, second], dim=1)]
    digits = digit_images(held_out)[0][exemplars]  # (B, 2, 8, 8)
    return DigitPairs(place_digits(digits, height, width), label, exemplars)


def place_digits(digits: Tensor, height: int = HEIGHT, width: int = WIDTH) -> Tensor:
    """Put ``digits (B, 2, 8, 8)`` on blank canvases, the first top left, the second bottom right: ``(B, 1, H, W)``."""
    first, second = digits[:, :1], digits[:, 1:]  # (B, 1, 8, 8) each
    down, across = height - SIZE, width - SIZE
    return torch.nn.functional.pad(first, (0, across, 0, down)) + torch.nn.functional.pad(second, (across, 0, down, 0))


def crop_digits(image: Tensor) -> Tensor:
    """The two corners where digits belong: ``(B, 1, H, W)`` -> ``(B, 2, 8, 8)``.

    Raises:
        ValueError: if ``image`` is not ``(B, 1, H, W)`` with H and W of at least 8.
    """
    if image.ndim != 4 or image.shape[1] != 1 or min(image.shape[2:]) < SIZE:
        raise ValueError(f"image must have shape (B, 1, H, W) with H and W at least {SIZE}, got {tuple(image.shape)}")
    return torch.cat([image[..., :SIZE, :SIZE], image[..., -SIZE:, -SIZE:]], dim=1)


def _check(count: int, classes: Sequence[int], height: int, width: int) -> None:
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if not classes or len(set(classes)) < len(classes) or not set(classes) <= set(range(10)):
        raise ValueError(f"classes must be different digits from 0 to 9, got {tuple(classes)}")
    if min(height, width) < SIZE or max(height, width) < 2 * SIZE:
        raise ValueError(
            f"height and width must be at least {SIZE}, and one of them at least {2 * SIZE}, got {height} and {width}"
        )
