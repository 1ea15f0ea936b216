"""Lab 14: whether a polygon is the hull of its points."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .polygons import padded, polygons


def is_convex_hull(points, polygon):
    real = polygon != points.shape[1]  # (B, T): not the end
    place = torch.where(real, polygon, polygon[:, :1])  # (B, T): after the end, the first corner again
    a = points.gather(1, place.clamp(max=points.shape[1] - 1)[..., None].expand(-1, -1, 2))  # (B, T, 2): corners
    b = a.roll(-1, dims=1)  # (B, T, 2): the next ones
    bend = turns(a[:, :, None], b[:, :, None], points[:, None])  # (B, T, N)
    outside = (bend < 0).flatten(1).any(dim=1)  # (B,): a point lies to the right of an edge
    visits = (polygon[..., None] == torch.arange(points.shape[1], device=points.device)).sum(dim=1)  # (B, N)
    return ~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)


def turns(a, b, c):
    (ux, uy), (wx, wy) = (b - a).unbind(-1), (c - a).unbind(-1)
    return ux * wy - uy * wx


def _reversed(points, polygon):
    rows = [[place for place in row if place < points.shape[1]][::-1] for row in polygon.tolist()]
    return padded(rows, points.shape[1])


IS_CONVEX_HULL = Exercise(
    is_convex_hull,
    cases=polygons,
    gradients=False,
    properties=[
        Property(
            "clockwise is not right",
            "Told the other way round, the same corners are no right answer: exactly one direction is.",
            lambda result, points, polygon: not result.bool()[is_convex_hull(points, _reversed(points, polygon))].any(),
        ),
        Property(
            "at least three corners",
            "A polygon has three corners or more.",
            lambda result, points, polygon: not result.bool()[(polygon != points.shape[1]).sum(1) < 3].any(),
        ),
        Property(
            "right hulls are found right",
            "You refuse a hull that is right: all points lie on its left or on it, and no corner comes twice.",
            lambda result, points, polygon: result.bool()[is_convex_hull(points, polygon)].all(),
        ),
        Property(
            "wrong hulls are refused",
            "You accept a polygon that isn't the hull: a point lies to the right of an edge, or a corner comes twice. "
            "Compare each edge with *all* N points.",
            lambda result, points, polygon: not result.bool()[~is_convex_hull(points, polygon)].any(),
        ),
    ],
)

wrong = IS_CONVEX_HULL.mistakes
wrong("clockwise", {"bend < 0": "bend > 0"}).says("""
    You want the hull clockwise: you ask that no point lies to the *left*. Counter-clockwise is agreed here. Walk
    along an edge, and all points are on your left: no bend is below 0.""")
wrong(
    "only the bends looked at",
    "answers = []\n"
    "for row, places in zip(points, polygon.tolist()):\n"
    "    c = row[[n for n in places if n < len(row)]]\n"
    "    bends = turns(c.roll(1, 0), c, c.roll(-1, 0))\n"
    "    answers.append(len(c) >= 3 and len({*places} - {len(row)}) == len(c) and bool((bends >= 0).all()))\n"
    "return torch.tensor(answers)",
).says("""
    You asked only whether the polygon bends to the left at each corner. Then it is a star, or too small: points lie
    outside. Compare each edge with *all* N points.""")
wrong("points outside missed", {"points[:, None])": "a[:, None])"}).says("""
    You compared edges with the polygon's own corners only. Others may lie outside: take all N points.""")
wrong("the polygon doesn't close", {"(bend < 0)": "((bend < 0)[:, :-1] & real[:, 1:, None])"}).says("""
    The edge from the last corner home to the first is missing, and points may lie beyond it.""")
wrong("the last entry always cut off", {"real = polygon": "polygon = polygon[:, :-1]\n    real = polygon"}).says("""
    You cut off each row's last entry. Some rows fill all T entries and have no N: there it is a corner. Keep the
    places below N instead, wherever they stand.""")
wrong(
    "an end looked for that isn't there",
    {"real = polygon": "[row.index(points.shape[1]) for row in polygon.tolist()]\n    real = polygon"},
).says("""
    You looked for N in each row, but some rows fill all T entries. Keep the places below N instead.""")
wrong("the end taken for a place", {"place.clamp(max=points.shape[1] - 1)": "polygon"}).says("""
    You looked up a point for the end, N, and there is none: the places are 0 to N − 1. A polygon may end before the
    row does; what stands from the end on is no corner.""")
wrong("the end taken for the last place", {"torch.where(real, polygon, polygon[:, :1])": "polygon"}).says("""
    You cut the numbers off at N − 1, so that the end became a visit of the last place. From the end on there are no
    corners and no edges; from the last corner it goes home.""")
wrong("a corner twice", {" & (visits <= 1).all(dim=1)": ""}).says("""
    You accept a corner that comes twice, as when the first is named again at the end, or when it goes twice around.
    The way home goes without saying: each corner once.""")
wrong(
    "only from the leftmost corner",
    {"return ~outside": "return (polygon[:, 0] == points[..., 0].argmin(1)) & ~outside"},
).says("""
    You accept the hull only when it begins at the leftmost corner. It may begin anywhere; the direction is fixed.""")
wrong("a generous tolerance", {"bend < 0": "bend < -1e-4"}).says("""
    You forgive bends a little below 0. A bend is twice an area, and tiny for tiny polygons: there you overlook points
    that are clearly outside. Compare with 0.""")
wrong("one answer for the batch", {"return ~outside": "return ~outside.any()"}).says("""
    You gave one answer for all rows. Each row has its own, (B,): look for an `all()` or `any()` without an axis.""")
