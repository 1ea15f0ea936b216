"""Invented characters of a few strokes, in many classes, some of which are held out for the test (chapter 15).

A class consists of control points; each example of it is rotated, shifted, stretched and made noisy anew. The idea is
Omniglot's (Lake et al. 2015), but all strokes are drawn at random, so nothing needs to be downloaded.
"""

import math

import torch
from torch import Tensor

from attnbook.seeding import generator

SIDE = 16  # pixels
STROKES, POINTS = 3, 10  # strokes of a glyph, points that are drawn along each
TRAINING_CLASSES, TEST_CLASSES = 1200, 400
TURN, MOVE, STRETCH, NOISE = math.radians(30), 2 / SIDE, 0.15, 0.1
PEN = 0.045  # the pen's radius, where the side of the picture is 1


def glyph_classes(held_out: bool = False) -> Tensor:
    """The control points of the 1,200 classes to train on, or of the 400 that are held out; the same in each call.

    Returns:
        ``(C, 3, 3, 2)``: per class three strokes of three points, x and y between 0.15 and 0.85 of the side.
    """
    count = TRAINING_CLASSES + TEST_CLASSES
    points = 0.15 + 0.7 * torch.rand(count, STROKES, 3, 2, generator=generator(15))
    return points[TRAINING_CLASSES:] if held_out else points[:TRAINING_CLASSES]


def stroke_points(control: Tensor) -> Tensor:
    """Ten points along the quadratic Bézier curve of each stroke: ``control (..., 3, 2)`` -> ``(..., 10, 2)``."""
    t = torch.linspace(0, 1, POINTS).to(control)[:, None]  # (P, 1)
    start, middle, end = control[..., 0:1, :], control[..., 1:2, :], control[..., 2:3, :]  # (..., 1, 2) each
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end


def vary(points: Tensor, generator: torch.Generator) -> Tensor:
    """Rotate by up to 30°, stretch by up to 15 % and shift by up to 2 pixels, each example ``(N, P, 2)`` anew."""
    count = len(points)

    def between(limit: float, *shape: int) -> Tensor:
        return limit * (2 * torch.rand(count, *shape, generator=generator) - 1)

    angle = between(TURN)
    cosine, sine = angle.cos(), angle.sin()
    turn = torch.stack([cosine, -sine, sine, cosine], dim=-1).view(count, 2, 2)
    return (points - 0.5) * (1 + between(STRETCH, 1, 2)) @ turn + 0.5 + between(MOVE, 1, 2)


def paint(points: Tensor) -> Tensor:
    """Pictures ``(N, 16, 16)`` with ink, up to 1, in the pixels near one of the ``points (N, P, 2)``."""
    line = ((torch.arange(SIDE) + 0.5) / SIDE).to(points)
    y, x = torch.meshgrid(line, line, indexing="ij")
    pixels = torch.stack([x, y], dim=-1).view(1, -1, 2).expand(len(points), -1, -1)  # (N, 256, 2)
    nearest = torch.cdist(pixels, points).amin(dim=-1)  # (N, 256)
    return (1.5 - nearest / (2 * PEN)).clamp(0, 1).view(-1, SIDE, SIDE)


def draw_glyphs(classes: Tensor, generator: torch.Generator) -> Tensor:
    """One new example of each of the ``classes (N, 3, 3, 2)``: images ``(N, 1, 16, 16)`` from 0, paper, to 1, ink."""
    points = stroke_points(classes).flatten(1, 2)  # (N, 30, 2)
    images = paint(vary(points, generator))
    images = images + NOISE * torch.randn(images.shape, generator=generator)
    return images.clamp(0, 1)[:, None]
