"""Points and polygons for exercises about hulls: in general position, with exact arithmetic in any formula."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

GRID = 64  # points are multiples of 1/64, so that a sum of products is exact, in float32 too


def _bend(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def in_general_position(points: Tensor) -> bool:
    """Whether no three of the points `(N, 2)` lie on a line, which two equal ones would do with any third."""
    return all(_bend(*three) != 0 for three in combinations(points.tolist(), 3))


def scattered(draw, count: int, grid: int = GRID) -> Tensor:
    """`(count, 2)` points of the unit square, at least 3, in general position."""
    while True:
        points = draw.integers(0, grid + 1, count, 2).double() / grid
        if in_general_position(points):
            return points


def around_a_circle(draw, count: int, inside: int = 0) -> tuple[Tensor, list[int]]:
    """Points of which `count` are corners of their hull, `inside` lie near its middle; and the corners in order."""
    while True:
        angle = (torch.arange(count) + draw.uniform(count, low=-0.2, high=0.2)) * 2 * torch.pi / count
        corners = torch.stack([angle.cos(), angle.sin()], dim=1)  # (count, 2)
        points = torch.cat([corners, draw.uniform(inside, 2, low=-0.15, high=0.15)])
        points = ((points + 1) * GRID / 2).round() / GRID  # into the unit square
        points = points[draw.order(len(points))]
        if in_general_position(points) and len(hull_of(points)) == count:
            return points, hull_of(points)


def hull_of(points: Tensor) -> list[int]:
    """The corners of the hull of `points (N, 2)` in general position, counter-clockwise from the leftmost."""
    rows = points.tolist()
    corners = [min(range(len(rows)), key=rows.__getitem__)]
    while True:
        here = corners[-1]
        after = next(n for n, row in enumerate(rows) if n != here and all(
            _bend(rows[here], row, other) > 0 for m, other in enumerate(rows) if m not in (here, n)))
        if after == corners[0]:
            return corners
        corners.append(after)


def turned(draw, corners: list[int]) -> list[int]:
    """The same polygon, told from another of its corners on."""
    by = draw.integer(0, len(corners))
    return corners[by:] + corners[:by]


def padded(rows: list[list[int]], size: int, spare: int = 0) -> Tensor:
    """Rows of places as one tensor `(B, T)`, filled up with `size`; with `spare` more columns than needed."""
    length = max(1, *map(len, rows)) + spare
    return torch.tensor([row + (length - len(row)) * [size] for row in rows])


def on_an_edge(draw) -> tuple[Tensor, Tensor]:
    """A square with a point in the middle of an edge, which may be named, one inside, and a twin of a corner."""
    points = torch.tensor([[0, 0], [4, 0], [4, 4], [0, 4], [2, 0], [1, 2], [4, 4]], dtype=torch.float64)
    order = draw.order(len(points))
    place = order.argsort().tolist()
    right, named, back = ([place[i] for i in row] for row in ((0, 1, 2, 3), (0, 4, 1, 2, 3), (0, 1, 4, 2, 3)))
    rows = [turned(draw, right), right[::-1], right[:3], turned(draw, named), named[::-1], turned(draw, back)]
    return points[order].repeat(len(rows), 1, 1), padded(rows, len(points), 1)


def beside_an_edge(draw) -> tuple[Tensor, Tensor]:
    """A square with a point so near an edge that single precision doesn't tell on which side."""
    points = torch.tensor([[1, 1], [2, 1], [2, 2], [1, 2], [1.5, 1]], dtype=torch.float64)
    outside, inside = points.clone(), points.clone()
    outside[4, 1] -= 1e-8
    inside[4, 1] += 1e-8
    rows = [turned(draw, [0, 1, 2, 3]), turned(draw, [0, 4, 1, 2, 3])]
    return torch.stack([outside, outside, inside, inside]), padded([*rows, *rows], len(points))
