"""Delaunay triangulations: the triangles of a set of points whose circumcircles hold no other point.

A triangulation is a row of positions ``(B, T)`` long, three per triangle, and N from its end on. The triangles stand in
the order of their incentres, from left to right, and the three positions of each in rising order, so that there is one
right row.
"""

from itertools import combinations

import torch
from torch import Tensor

from attnbook.data.batching import Batch
from attnbook.data.points.geometry import check_points, check_positions, random_points, turn
from attnbook.data.points.pointing import batch_of
from attnbook.seeding import generator


def _triples(size: int) -> Tensor:
    """All triples of positions in rising order: ``(C, 3)`` long."""
    return torch.tensor(list(combinations(range(size), 3)))


def in_circumcircle(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """Whether d lies inside the circle through a, b and c: ``(…, 2)`` four times -> ``(…)`` bool.

    The sign of a determinant of their differences to d, in float64; it changes with the direction of a → b → c, and so
    it is multiplied by that of :func:`~attnbook.data.points.geometry.turn`. ``False`` on the circle, and where a,
    b, c lie on a line.
    """
    device = d.device
    a, b, c, d = (point.cpu().double() for point in (a, b, c, d))  # mps has no float64
    rows = [point - d for point in (a, b, c)]  # (…, 2) each
    (ax, ay), (bx, by), (cx, cy) = (row.unbind(-1) for row in rows)
    aa, bb, cc = (row.square().sum(dim=-1) for row in rows)
    determinant = aa * (bx * cy - by * cx) - bb * (ax * cy - ay * cx) + cc * (ax * by - ay * bx)
    return (determinant * turn(a, b, c) > 0).to(device)


def delaunay(points: Tensor) -> Tensor:
    """The Delaunay triangulation by its definition: every triple of points is tried against every point.

    Args:
        points: ``(B, N, 2)``, no four on one circle and no three on a line (by chance that does not happen).

    Returns:
        ``(B, T)`` long, three positions per triangle and then N at least once, T ≤ 3 · (2 · N − 5) + 1. There are
        2 · N − 2 − h triangles, with h corners of the hull.

    Raises:
        ValueError: if ``points`` is not ``(B, N, 2)`` or there are fewer than 3 points.

    Source: Vinyals et al. 2015, sections 2.4 and 4.3, for the order.
    """
    check_points(points)
    size = points.shape[1]
    if size < 3:
        raise ValueError(f"points are {size} per instance; a triangle needs 3")
    device, points, triples = points.device, points.cpu(), _triples(size)  # on the CPU for `turn`; (C, 3)
    a, b, c = points[:, triples].unbind(dim=2)  # (B, C, 2) each
    inside = in_circumcircle(a[:, :, None], b[:, :, None], c[:, :, None], points[:, None])  # (B, C, N)
    inside = inside & (torch.arange(size) != triples[..., None]).all(dim=1)  # corners are not
    chosen = ~inside.any(dim=-1) & (turn(a, b, c) != 0)  # (B, C)
    centre = incentre(a, b, c)[..., 0].masked_fill(~chosen, float("inf"))  # (B, C), from left to right
    order = centre.argsort(dim=1)[:, : int(chosen.sum(dim=1).max())]  # (B, most triangles)
    rows = triples[order].masked_fill(~chosen.gather(1, order)[..., None], size).flatten(1)  # (B, 3 · most)
    return torch.cat([rows, torch.full_like(rows[:, :1], size)], dim=1).to(device)


def incentre(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Centre of the circle that touches the three sides from inside: ``(…, 2)`` three times -> ``(…, 2)``.

    The mean of the corners, each weighted with the length of the side opposite to it, in float64 on the CPU.
    """
    a, b, c = (point.cpu().double() for point in (a, b, c))
    sides = [(p - q).norm(dim=-1, keepdim=True) for p, q in ((b, c), (c, a), (a, b))]  # (…, 1) each
    return sum(side * corner for side, corner in zip(sides, (a, b, c), strict=True)) / sum(sides)


def triangles_named(positions: Tensor, size: int) -> Tensor:
    """Which triangles a row of positions names: ``(B, T)`` -> ``(B, C)`` bool over all triples in rising order.

    Three positions in a row are a triangle, whatever their order. An end before the third, and a position twice, make
    it none; what stands after the end does not count.
    """
    positions = positions[:, : positions.shape[1] // 3 * 3]
    there = (positions != size).cumprod(dim=1)  # (B, T): up to the first end
    corners = positions.masked_fill(there == 0, size).unflatten(1, (-1, 3)).sort(dim=-1).values  # (B, T / 3, 3)
    triples = _triples(size).to(positions.device)  # (C, 3)
    return (corners[:, :, None] == triples).all(dim=-1).any(dim=1)  # (B, T / 3, C) -> (B, C)


def triangulation_scores(positions: Tensor, target: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Judge answers against right triangulations, both as sets of triangles.

    Args:
        positions: ``(B, T)``, answers. target: ``(B, T')``, from :func:`delaunay`. size: N.

    Returns:
        ``(B,)`` bool, whether the sets are equal (the paper's accuracy), and ``(B,)``, which part of the right
        triangles an answer names (the paper's triangle coverage).

    Raises:
        ValueError: if the positions are no whole numbers from 0 to N, or a target names no triangle.

    Source: Vinyals et al. 2015, section 4.3.
    """
    blank = torch.zeros(len(target), size, 2, device=target.device)
    check_positions("positions", positions, blank, size)
    named, right = triangles_named(positions, size), triangles_named(target, size)  # (B, C) each
    if not right.any(dim=-1).all():
        raise ValueError("target has a row without a triangle, of which no part can be named")
    return (named == right).all(dim=-1), (named & right).sum(dim=-1) / right.sum(dim=-1)


def delaunay_batch(size: int, count: int, seed: int = 0, from_left: bool = False) -> Batch:
    """``count`` times ``size`` points; the target is :func:`delaunay`.

    Args:
        from_left: the points stand from left to right. A reader without positions needs that, because it cannot know
            which of two positions has the smaller number.

    Raises:
        ValueError: if ``size`` is under 3 or ``count`` not positive.
    """
    points = random_points(size, count, generator(seed))
    if from_left:
        order = points[..., 0].argsort(dim=1)  # (B, N)
        points = points.gather(1, order[..., None].expand_as(points))
    return batch_of(points, delaunay(points))
