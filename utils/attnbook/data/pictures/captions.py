"""Canvases with two or three handwritten digits, and a caption that says which they are and how they lie.

The digits are those that scikit-learn brings along: 1,797 images of 8 × 8 pixels, the test part of "Optical Recognition
of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, 1998; CC BY 4.0).
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.batching import pad_rows
from attnbook.data.texts.vocabulary import EOS, Vocabulary
from attnbook.extras import needed_from
from attnbook.seeding import generator
from attnbook.trees import moved

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
WORDS = Vocabulary(["a", "an", *DIGITS, "above", "left", "right", "of"])
SIDE, SIZE, MOST = 28, 8, 3  # pixels of a canvas, pixels of a digit, digits on a canvas
TRAINING_IMAGES = 1400  # of the 1,797; the others are held out
LONGEST = 11  # words of the longest caption, the end symbol counted


class Canvases(NamedTuple):
    """A batch of canvases with their captions.

    Fields:
        image: ``(B, 1, 28, 28)``, 0 = paper, 1 = ink.
        target: ``(B, 11)`` long, the words of the caption, EOS, then padding.
        corners: ``(B, 3, 2)`` long, row and column of the top left pixel of each digit, in the order of the caption.
        labels: ``(B, 3)`` long, which digit it is; −1 where a canvas has only two.
    """

    image: Tensor
    target: Tensor
    corners: Tensor
    labels: Tensor

    def to(self, device: torch.device | str) -> "Canvases":
        """The same batch on another device."""
        return moved(self, device)

    def rows(self, index: Tensor) -> "Canvases":
        """Some of the canvases, in the order of ``index (N,)``."""
        return Canvases(*(tensor[index] for tensor in self))


@cache
def digit_images(held_out: bool = False) -> tuple[Tensor, Tensor]:
    """Images ``(N, 8, 8)`` between 0 and 1, and labels ``(N,)``: 1,400 to train on, or the 397 that are held out.

    The order is that of the file; no image is in both parts.

    Raises:
        ModuleNotFoundError: if scikit-learn is not installed.
    """
    with needed_from("notebooks"):
        from sklearn.datasets import load_digits
    found = load_digits()
    part = slice(TRAINING_IMAGES, None) if held_out else slice(None, TRAINING_IMAGES)
    images, labels = torch.tensor(found.images, dtype=torch.float32) / 16, torch.tensor(found.target)
    return images[part], labels[part]


def caption(labels: list[int], corners: list[list[int]]) -> list[str]:
    """Say what lies on a canvas, from top to bottom.

    Two neighbours in this order are "above" one another if they lie further apart vertically than horizontally, else
    "left of" or "right of".

    Args:
        labels: two or more digits, the topmost first. corners: row and column of each.

    Raises:
        ValueError: if there are not as many corners as digits, or they are not sorted by row.

    >>> " ".join(caption([7, 2, 3], [[0, 5], [12, 3], [15, 16]]))
    'a seven above a two left of a three'
    """
    if len(labels) != len(corners) or any(one[0] > other[0] for one, other in pairwise(corners)):
        raise ValueError(f"corners must hold one (row, column) per digit, sorted by row; got {labels} and {corners}")
    words = _named(labels[0])
    for (before, here), label in zip(pairwise(corners), labels[1:], strict=True):
        down, across = here[0] - before[0], here[1] - before[1]
        relation = ["above"] if down > abs(across) else ["left", "of"] if across > 0 else ["right", "of"]
        words += [*relation, *_named(label)]
    return words


def _named(label: int) -> list[str]:
    return ["an" if label == 8 else "a", DIGITS[label]]


def canvases(count: int, seed: int = 0, digits: int | None = None, held_out: bool = False) -> Canvases:
    """Draw canvases with digits at free positions.

    Args:
        count: how many, B.
        seed: the same canvases come for the same seed.
        digits: 2 or 3 on each; by chance when left out.
        held_out: take images that training never shows.

    Raises:
        ValueError: if ``count`` is not positive, or ``digits`` is neither 2 nor 3.
    """
    if count < 1 or digits not in (None, 2, 3):
        raise ValueError(f"count must be at least 1 and digits 2 or 3, got {count} and {digits}")
    chance = generator(seed)
    images, labels = digit_images(held_out)
    many = torch.randint(2, 4, (count,), generator=chance) if digits is None else torch.full((count,), digits)  # (B,)
    present = torch.arange(MOST) < many[:, None]  # (B, 3)
    corners = _corners(present, chance)
    chosen = torch.randint(len(images), (count, MOST), generator=chance)  # (B, 3)
    named = labels[chosen].masked_fill(~present, -1)
    rows = []
    for label, corner, k in zip(named.tolist(), corners.tolist(), many.tolist(), strict=True):
        rows.append([*WORDS.encode(caption(label[:k], corner[:k])), EOS])
    target = pad_rows([*rows, [0] * LONGEST])[:-1]  # one row more, so that all batches are equally long
    return Canvases(_paint(images[chosen] * present[..., None, None], corners, SIDE), target, corners, named)


class Crops(NamedTuple):
    """Single digits: ``image (B, 1, S, S)``, and ``label (B,)`` long, which digit it is."""

    image: Tensor
    label: Tensor

    def to(self, device: torch.device | str) -> "Crops":
        """The same batch on another device."""
        return moved(self, device)


def digit_crops(count: int, seed: int = 0, side: int = 16, held_out: bool = False) -> Crops:
    """Single digits, each at a free position of a small canvas of ``side`` × ``side`` pixels.

    Raises:
        ValueError: if ``count`` is not positive, or ``side`` is under 8.
    """
    if count < 1 or side < SIZE:
        raise ValueError(f"count must be at least 1 and side at least {SIZE}, got {count} and {side}")
    chance = generator(seed)
    images, labels = digit_images(held_out)
    chosen = torch.randint(len(images), (count,), generator=chance)  # (B,)
    corners = torch.randint(side - SIZE + 1, (count, 1, 2), generator=chance)  # (B, 1, 2)
    return Crops(_paint(images[chosen][:, None], corners, side), labels[chosen])


def cells_inside(corners: Tensor, grid: int = 7, margin: int = 0) -> Tensor:
    """Which cells of a grid over the canvas have their centre within a digit: row by row, like annotations.

    Args:
        corners: ``(..., 2)``, of digits' top left pixels. grid: cells per side.
        margin: pixels around a digit that still count as it.

    Returns:
        ``(..., grid · grid)`` bool.
    """
    centres = (torch.arange(grid, device=corners.device) + 0.5) * SIDE / grid  # (grid,), in pixels
    inside = (centres >= corners[..., None] - margin) & (centres < corners[..., None] + SIZE + margin)  # (..., 2, grid)
    return (inside[..., 0, :, None] & inside[..., 1, None, :]).flatten(-2)  # (..., grid, grid) -> (..., grid · grid)


def named_cells(batch: Canvases, grid: int = 7, margin: int = 0) -> Tensor:
    """For each word of the captions the cells within the digit that it names: ``(B, 11, grid · grid)`` bool.

    All ``False`` at words that name no digit.
    """
    first, last = WORDS.encode([DIGITS[0], DIGITS[-1]])
    names = (batch.target >= first) & (batch.target <= last)  # (B, T)
    which = (names.cumsum(dim=1) - 1).clamp_min(0)  # (B, T): the first name means digit 0, the next digit 1 ...
    cells = cells_inside(batch.corners, grid, margin)  # (B, 3, grid · grid)
    return cells.gather(1, which[..., None].expand(-1, -1, cells.shape[-1])) & names[..., None]


def _corners(present: Tensor, generator: torch.Generator) -> Tensor:
    """Corners ``(B, 3, 2)`` sorted by row; what doesn't fit is drawn again."""
    corners = torch.zeros(*present.shape, 2, dtype=torch.long)
    bad = torch.ones(len(present), dtype=torch.bool)  # (B,)
    while bad.any():
        drawn = torch.randint(SIDE - SIZE + 1, (int(bad.sum()), MOST, 2), generator=generator)
        rows = drawn[..., 0].masked_fill(~present[bad], SIDE)  # a digit that is absent stays the last
        corners[bad] = drawn.gather(1, rows.argsort(dim=1)[..., None].expand_as(drawn))
        bad = ~_clear(corners, present)
    return corners


def _clear(corners: Tensor, present: Tensor) -> Tensor:
    """``(B,)`` bool: no two digits touch, and two pixels decide who comes first and what relation they have."""
    fine = torch.ones(len(corners), dtype=torch.bool)
    for i in range(MOST):
        for j in range(i + 1, MOST):
            down, across = (corners[:, j] - corners[:, i]).unbind(dim=-1)  # (B,) each; down >= 0, sorted
            apart = torch.maximum(down, across.abs()) > SIZE
            if j == i + 1:
                apart &= (down >= 2) & ((down - across.abs()).abs() >= 2)
            fine &= apart | ~present[:, j]
    return fine


def _paint(digits: Tensor, corners: Tensor, side: int) -> Tensor:
    """Put ``digits (B, N, 8, 8)`` with their top left pixels at ``corners (B, N, 2)``: ``(B, 1, side, side)``."""
    reach = torch.arange(SIZE)
    rows = corners[..., 0, None, None] + reach[:, None]  # (B, N, 8, 1)
    columns = corners[..., 1, None, None] + reach  # (B, N, 1, 8)
    places = (rows * side + columns).flatten(1)  # (B, N · 64)
    canvas = torch.zeros(len(digits), side * side).scatter_add(1, places, digits.flatten(1))  # (B, side · side)
    return canvas.view(-1, 1, side, side)
