"""Points and polygons for exercises about hulls: in general position, with exact arithmetic in any formula."""

from itertools import combinations, permutations

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
    edges = permutations(range(len(rows)), 2)
    after = {a: b for a, b in edges if all(_bend(rows[a], rows[b], other) >= 0 for other in rows)}
    corners = [min(after, key=rows.__getitem__)]
    while after[corners[-1]] != corners[0]:
        corners.append(after[corners[-1]])
    return corners


def turned(draw, corners: list[int]) -> list[int]:
    """The same polygon, told from another of its corners on."""
    by = draw.integer(0, len(corners))
    return corners[by:] + corners[:by]


def padded(rows: list[list[int]], size: int, spare: int = 0) -> Tensor:
    """Rows of positions as one tensor `(B, T)`, filled up with `size`; with `spare` more columns than needed."""
    length = max(1, *map(len, rows)) + spare
    return torch.tensor([row + (length - len(row)) * [size] for row in rows])


def on_an_edge(draw) -> tuple[Tensor, Tensor]:
    """A square with a point in the middle of an edge, which may be named, one inside, and a twin of a corner."""
    points = torch.tensor([[0, 0], [4, 0], [4, 4], [0, 4], [2, 0], [1, 2], [4, 4]], dtype=torch.float64)
    order = draw.order(len(points))
    position = order.argsort().tolist()
    told = (0, 1, 2, 3), (0, 4, 1, 2, 3), (0, 1, 4, 2, 3), (0, 1, 2, 6, 3)
    right, named, back, twins = ([position[i] for i in row] for row in told)
    rows = [turned(draw, right), right[::-1], right[:3], turned(draw, named), named[::-1], turned(draw, back)]
    rows.append(turned(draw, twins))  # two corners, although they have the same coordinates
    return points[order].repeat(len(rows), 1, 1), padded(rows, len(points), 1)


def on_one_line(draw) -> tuple[Tensor, Tensor]:
    """All points on one line: every bend is 0, and any three positions are a right answer."""
    steps = torch.tensor([0, 1, 2, 4], dtype=torch.float64)[draw.order(4)]
    direction = torch.tensor(((1, 0), (0, 1), (1, 2), (-2, 1))[draw.number], dtype=torch.float64)
    rows = [[0, 1, 2], [3, 1, 0], [2, 0, 1, 3], [0, 1], [3], [1, 2, 1]]
    return (steps[:, None] * direction).repeat(len(rows), 1, 1), padded(rows, 4)


def twins_on_one_line(draw) -> tuple[Tensor, Tensor]:
    """Points on one line, two of them at one spot: three positions are three corners, at two spots or three."""
    steps = torch.tensor([0, 0, 1, 3], dtype=torch.float64)[draw.order(4)]
    rows = [draw.order(4)[:3].tolist(), draw.order(4).tolist(), [0, 1], [1, 2, 1]]
    at = (steps == 0).nonzero().flatten().tolist()
    rows.append([*at, int(steps.argmax())])
    direction = torch.tensor(((1, 0), (0, 1), (1, 2), (-2, 1))[draw.number], dtype=torch.float64)
    return (steps[:, None] * direction).repeat(len(rows), 1, 1), padded(rows, 4)


def ever_smaller(draw) -> tuple[Tensor, Tensor]:
    """Squares of sides from 1/128 to 1e-9, each clockwise and counter-clockwise: their bends are the sides' squares."""
    square = torch.tensor([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=torch.float64)
    order = draw.order(4)
    corners = order.argsort().tolist()
    sides = 2.0 ** -torch.arange(7, 31, dtype=torch.float64)
    points = (sides[:, None, None] * square[order]).repeat(2, 1, 1)
    rows = [turned(draw, corners[:: -1 if i < len(sides) else 1]) for i in range(len(points))]
    return points, padded(rows, 4)


def several_on_an_edge(draw) -> tuple[Tensor, Tensor]:
    """A square with two more points on one edge: all named, one left out, back and forth, and a corner left out."""
    points = torch.tensor([[0, 0], [1, 0], [3, 0], [4, 0], [4, 4], [0, 4]], dtype=torch.float64)
    order = draw.order(len(points))
    position = order.argsort().tolist()
    told = (0, 1, 2, 3, 4, 5), (0, 2, 3, 4, 5), (0, 2, 1, 3, 4, 5), (0, 1, 2, 4, 5)
    rows = [turned(draw, [position[i] for i in row]) for row in told]
    return points[order].repeat(len(rows), 1, 1), padded(rows, len(points), 1)


def beside_an_edge(draw) -> tuple[Tensor, Tensor]:
    """A square with a point so near an edge that single precision doesn't tell on which side."""
    points = torch.tensor([[1, 1], [2, 1], [2, 2], [1, 2], [1.5, 1]], dtype=torch.float64)
    outside, inside = points.clone(), points.clone()
    outside[4, 1] -= 1e-8
    inside[4, 1] += 1e-8
    rows = [turned(draw, [0, 1, 2, 3]), turned(draw, [0, 4, 1, 2, 3])]
    return torch.stack([outside, outside, inside, inside]), padded([*rows, *rows], len(points))


def _variations(draw, points):
    """Rows of positions for one set of points: right and wrong in all ways."""
    hull, size = hull_of(points), len(points)
    inner = [position for position in range(size) if position not in hull]
    at = draw.integer(1, len(hull))
    yield turned(draw, hull)
    yield turned(draw, hull[::-1])  # clockwise
    yield turned(draw, hull)
    yield turned(draw, hull)[1:]  # a corner is missing on the way home
    yield [*hull[: at - 1], *hull[at:]]  # or anywhere
    yield turned(draw, hull)[:2]
    yield []
    yield [*hull, hull[0]]  # home again
    yield [*hull, *hull]  # twice around
    yield hull[:1]
    for position in inner[:2]:
        yield [*hull[:at], position, *hull[at:]]  # a corner too many
    if len(hull) > 3:
        yield [hull[1], hull[0], *hull[2:]]  # two corners exchanged: it crosses itself


def _star(draw, count, inside):
    """Corners joined to every second one: each bends to the left, and edges cross."""
    points, hull = around_a_circle(draw, count, inside)
    star = [hull[2 * i % count] for i in range(count)]
    rows = [turned(draw, star), turned(draw, hull), turned(draw, star[::-1])]
    return points.repeat(3, 1, 1), padded(rows, len(points), draw.integer(0, 2))


def polygons(draw):
    """Cases: points `(B, N, 2)` and rows of positions `(B, T)`, right and wrong."""
    if draw.compact:
        points = scattered(draw, 4, grid=5)
        for row in _variations(draw, points):
            yield points[None], padded([row], 4)
        yield torch.tensor([[[0, 0], [1, 0], [2, 0]]], dtype=torch.float64), torch.tensor([[0, 1, 2]])
        yield torch.tensor([[[0, 0], [0, 0], [1, 0]]], dtype=torch.float64), torch.tensor([[0, 1, 2]])
        square = torch.tensor([[[0, 0], [1, 0], [1, 1], [0, 1]]], dtype=torch.float64)
        for side in (3e-5, 3e-6, 3e-7, 3e-8):
            yield side * square, torch.tensor([[3, 2, 1, 0]])
        points, hull = around_a_circle(draw, 5)
        yield points[None], padded([[hull[2 * i % 5] for i in range(5)]], 5)
        return
    points = scattered(draw, 5 + draw.number)
    rows = list(_variations(draw, points))
    yield points.repeat(len(rows), 1, 1), padded(rows, len(points))
    yield points[None], padded(rows[:1], len(points))  # one row, no end
    yield points[None], padded(rows[1:2], len(points), spare=1)
    sets = [scattered(draw, 7) for _ in range(11)]  # a set of its own for each row, and another kind of answer
    picked = [list(_variations(draw, points))[i % 10] for i, points in enumerate(sets)]
    yield torch.stack(sets), padded(picked, 7, spare=2)
    square = [around_a_circle(draw, 4) for _ in range(4)]  # B = N = T
    yield torch.stack([points for points, _ in square]), torch.tensor([turned(draw, hull) for _, hull in square])
    yield _star(draw, *((5, 0), (5, 3), (7, 2), (5, 1))[draw.number])
    yield on_an_edge(draw)
    yield several_on_an_edge(draw)
    yield on_one_line(draw)
    yield twins_on_one_line(draw)
    yield ever_smaller(draw)
    yield beside_an_edge(draw)
    points = scattered(draw, 3)
    yield points.repeat(2, 1, 1), padded([hull_of(points), hull_of(points)[::-1]], 3)  # a triangle
    yield points[None], torch.tensor([[draw.integer(0, 3)]])  # one corner, two, and nothing
    yield points[None, :2], torch.tensor([[0, 1]])
    yield points[None, :1], torch.tensor([[0]])
    yield points[None], torch.tensor([[3, 3, 3]])
    points = scattered(draw, 8)
    rows = list(_variations(draw, points))
    scale, move = ((2.0**-10, 0.0), (2.0**-4, -3.0), (2.0**10, 5.0), (2.0**-9, 1.0))[draw.number]
    yield (points * scale + move).repeat(len(rows), 1, 1), padded(rows, 8)  # tiny, elsewhere, large
    points = scattered(draw, 6, grid=16) * 2.0**-14  # so tiny that bends are some 1e-9
    rows = list(_variations(draw, points))
    yield points.repeat(len(rows), 1, 1), padded(rows, 6)
    many = scattered(draw, 16, grid=1024)
    yield many.repeat(3, 1, 1), padded([hull_of(many), hull_of(many)[1:], hull_of(many)[::-1]], 16)
