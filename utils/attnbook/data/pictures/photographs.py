"""Two photographs, and which of their pixels belong to the object.

They are those that scikit-learn brings along, ``china.jpg`` by danielbuechele and ``flower.jpg`` by vultilion (both on
Flickr, CC BY 2.0). The outlines were drawn by hand for this book.
"""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from attnbook.extras import needed_from

FILES = {"temple": "china.jpg", "flowers": "flower.jpg"}
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's red, green and blue
OUTLINED = 224  # pixels of a side; outlines are corners (column, row) in an image of this size
OUTLINES = {
    "temple": [
        [(46, 16), (57, 16), (58, 32), (80, 55), (112, 60), (110, 68), (98, 72), (100, 85), (117, 90), (114, 97),
         (112, 120), (128, 130), (122, 138), (123, 160), (127, 165), (140, 173), (125, 190), (110, 204), (96, 208),
         (56, 202), (50, 192), (30, 183), (25, 175), (0, 173), (0, 58), (30, 50), (46, 32)],
    ],
    "flowers": [
        [(176, 116), (170, 143), (155, 166), (132, 182), (105, 187), (78, 182), (55, 166), (39, 143), (34, 116),
         (39, 89), (55, 66), (78, 50), (105, 45), (132, 50), (155, 66), (170, 89)],
        [(96, 226), (100, 212), (112, 205), (126, 197), (140, 200), (152, 200), (170, 199), (176, 210), (175, 218),
         (190, 226)],
    ],
}  # fmt: skip


class Photographs(NamedTuple):
    """Square photographs.

    Fields:
        images: ``(2, 3, S, S)`` between 0 and 1: red, green and blue.
        objects: ``(2, S, S)`` bool: the pixels within the outline of the temple, and of the two flowers.
    """

    images: Tensor
    objects: Tensor


@cache
def photographs(side: int = 224) -> Photographs:
    """The largest square in the middle of each photograph, in ``side`` times ``side`` pixels.

    Raises:
        ValueError: if ``side`` is not positive.
        ModuleNotFoundError: if scikit-learn is not installed.
    """
    if side < 1:
        raise ValueError(f"side must be at least 1 pixel, got {side}")
    with needed_from("notebooks"):
        from sklearn.datasets import load_sample_image
    images = torch.stack([_square(torch.tensor(load_sample_image(file)), side) for file in FILES.values()])
    objects = torch.stack([
        torch.stack([within(torch.tensor(corners) * (side / OUTLINED), side) for corners in OUTLINES[name]]).any(dim=0)
        for name in FILES
    ])  # fmt: skip
    return Photographs(images, objects)


def _square(pixels: Tensor, side: int) -> Tensor:
    """``(H, W, 3)`` bytes -> ``(3, S, S)``."""
    edge = min(pixels.shape[:2])
    top, left = ((size - edge) // 2 for size in pixels.shape[:2])
    image = pixels[top : top + edge, left : left + edge].permute(2, 0, 1)[None] / 255  # (1, 3, E, E)
    return interpolate(image, size=(side, side), mode="bicubic", antialias=True)[0].clamp(0, 1)


def within(corners: Tensor, side: int) -> Tensor:
    """Which pixels ``(S, S)`` have their centre inside an outline with these ``corners (V, 2)``, columns and rows.

    A centre is inside if a line from it to the left crosses an odd number of edges.
    """
    row, column = torch.meshgrid(torch.arange(side) + 0.5, torch.arange(side) + 0.5, indexing="ij")
    odd = torch.zeros(side, side, dtype=torch.bool)
    for (x, y), (next_x, next_y) in zip(corners.tolist(), corners.roll(-1, dims=0).tolist(), strict=True):
        if y != next_y:
            between = (y > row) != (next_y > row)
            odd ^= between & (column > x + (row - y) / (next_y - y) * (next_x - x))
    return odd


def as_imagenet(images: Tensor) -> Tensor:
    """Images ``(B, 3, H, W)`` between 0 and 1, with the mean 0 and the deviation 1 that ImageNet's images have then.

    Raises:
        ValueError: if they have another shape.
    """
    if images.ndim != 4 or images.shape[1] != len(MEAN):
        raise ValueError(f"images must have shape (B, 3, H, W), got {tuple(images.shape)}")
    mean, deviation = (images.new_tensor(numbers)[:, None, None] for numbers in (MEAN, DEVIATION))
    return (images - mean) / deviation
