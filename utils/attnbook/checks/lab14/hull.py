"""Lab 14: whether a polygon is the hull of its points."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .polygons import hull_of, padded, polygons  # noqa: F401 (hull_of is for a mistake)


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


_BY_TURNS = """\
answers = []
for row, corners in zip(points, polygon.tolist()):
    corners = [c for c in corners if c < len(row)]
    n = len(corners)
    bends = [turns(row[corners[i - 1]], row[corners[i]], row[corners[(i + 1) % n]]) > 0 for i in range(n)]
    rest = [c for c in range(len(row)) if c not in corners]
    inside = all(turns(row[corners[i - 1]], row[corners[i]], row[c]) >= 0 for c in rest for i in range(n))
    answers.append(n >= 3 and len(set(corners)) == n and all(bends)AND_INSIDE)
return torch.tensor(answers)
"""
_BY_LOOPS = """\
answers = []
for row, corners in zip(points.tolist(), polygon.tolist()):
    CORNERS
    good = len(corners) >= 3 and len(set(corners)) == len(corners)
    for (ax, ay), (bx, by) in [(row[corners[i - 1]], row[corners[i]]) for i in range(len(corners)) if good]:
        good = good and all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in row)
    answers.append(good)
return torch.tensor(answers)
"""

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
    "either direction",
    {
        "outside = (bend < 0).flatten(1).any(dim=1)": "outside = (bend < 0).flatten(1).any(dim=1) & (bend > 0).flatten(1).any(dim=1)"
    },
).says("""
    You accept the clockwise polygon as well. A network must learn *one* answer, and counter-clockwise is agreed: no
    bend below 0.""")
wrong("only the bends looked at", _BY_TURNS.replace("AND_INSIDE", "").replace("> 0 for", ">= 0 for")).says("""
    You asked only whether the polygon bends to the left at each corner. Then it is a star, or too small: points lie
    outside. Compare each edge with *all* N points.""")
wrong("only the bends looked at, all to the left", _BY_TURNS.replace("AND_INSIDE", "")).says("""
    You asked only whether the polygon bends to the left at each corner. Compare each edge with *all* N points
    instead. (Then going straight on at a place is no fault either: a bend of 0 is allowed.)""")
wrong(
    "only the bends looked at, and none at the last corner",
    _BY_TURNS.replace("AND_INSIDE", "").replace("> 0 for i in range(n)", ">= 0 for i in range(n - 1)"),
).says("""
    You look only at the next corner, and not at the bend at the last one. Compare each edge, the way home too, with
    *all* N points.""")
wrong(
    "only the bends looked at, a corner may come twice",
    _BY_TURNS.replace("AND_INSIDE", "").replace("> 0 for", ">= 0 for").replace("len(set(corners)) == n", "True"),
).says("""
    You look only at the next corner, and accept a corner that comes twice. Compare each edge with *all* N points, and
    refuse a number that is named twice.""")
wrong(
    "self-crossing taken for convex", _BY_TURNS.replace("AND_INSIDE", " and inside").replace("> 0 for", ">= 0 for")
).says("""
    You asked whether it bends to the left at each corner, and whether the *other* points are inside. A five-pointed
    star passes that, and it crosses itself. Compare each edge with all points, the corners too.""")
wrong("self-crossing taken for convex, all to the left", _BY_TURNS.replace("AND_INSIDE", " and inside")).says("""
    A five-pointed star passes your test, and it crosses itself: compare each edge with all points, the corners too.
    (Then a bend of 0 at a corner is no fault either.)""")
wrong("points outside missed", {"points[:, None])": "a[:, None])"}).says("""
    You compared the edges with the polygon's own corners only. The points that it doesn't name may lie outside:
    compare with all N.""")
wrong(
    "corners not looked at",
    {"(bend < 0)": "((bend < 0) & (polygon[..., None] != torch.arange(points.shape[1])).all(1)[:, None])"},
).says("""
    You compared the edges only with the points that are no corners. Corners may lie outside too, where the polygon
    crosses itself.""")
wrong(
    "the polygon doesn't close",
    {
        "(bend < 0)": "((bend < 0) & (real & real.roll(-1, 1).index_fill(1, torch.tensor([polygon.shape[1] - 1]),"
        " False))[..., None])"
    },
).says("""
    The edge from the last corner home to the first is missing, and points may lie beyond it. It belongs to the
    polygon.""")
wrong(
    "the last entry always cut off", {"    real = polygon": "    polygon = polygon[:, :-1]\n    real = polygon"}
).says("""
    You cut off each row's last entry. Some rows fill all T entries and have no N: there it is a corner. Keep the
    places below N instead, wherever they stand.""")
wrong("one entry always cut off, ends left", _BY_LOOPS.replace("CORNERS", "corners = corners[:-1]")).says("""
    You cut off each row's last entry and took all others for places. A row may have several N or none: keep the
    places below N.""")
wrong(
    "an end looked for that isn't there", _BY_LOOPS.replace("CORNERS", "corners = corners[:corners.index(len(row))]")
).says("""
    You looked for N in each row, and not every row has one: some fill all T entries. Keep the places below N instead.""")
wrong(
    "N taken from the polygon", _BY_LOOPS.replace("CORNERS", "corners = [c for c in corners if c < polygon.shape[1]]")
).says("""
    You took T, the number of entries in a row of `polygon`, for N, and kept the places below it. N is the number of
    *points*: points.shape[1].""")
wrong(
    "N taken from the polygon, as the end",
    _BY_LOOPS.replace("CORNERS", "corners = [c for c in corners if c != polygon.shape[1]]"),
).says("""
    You looked for T, the number of entries in a row of `polygon`, as the end. The end is N, the number of *points*:
    points.shape[1].""")
wrong("the end taken for a place", {"place.clamp(max=points.shape[1] - 1)": "polygon"}).says("""
    You looked up a point for the end, N, and there is none: the places are 0 to N − 1. A polygon may end before the
    row does; what stands from the end on is no corner.""")
wrong(
    "the end taken for the last place", {"place = torch.where(real, polygon, polygon[:, :1])": "place = polygon"}
).says("""
    You cut the numbers off at N − 1, so that the end became a visit of the last place. From the end on there are no
    corners and no edges; from the last corner it goes home.""")
wrong("less than three corners", {" & (real.sum(dim=1) >= 3)": ""}).says("""
    You accept an answer with no, one or two corners. That is no polygon: at least three.""")
wrong(
    "the end counted as a corner", {"real.sum(dim=1) >= 3": "torch.full_like(polygon[:, 0], polygon.shape[1]) >= 3"}
).says("""
    You counted all T entries as corners. The ends (N) are none: count those that are real, and refuse less than
    three.""")
wrong("a corner twice", {" & (visits <= 1).all(dim=1)": ""}).says("""
    You accept a corner that comes twice, as when the first is named again at the end, or when it goes twice around.
    The way home goes without saying: each corner once.""")
wrong(
    "points on an edge are outside",
    {
        "(bend < 0)": "((bend < 0) | (bend == 0) & (points[:, None] != a[:, :, None]).any(-1)"
        " & (points[:, None] != b[:, :, None]).any(-1) & (a != b).any(-1)[..., None])"
    },
).says("""
    You refuse a polygon when a point lies exactly on one of its edges. It isn't outside: a bend of 0 is allowed for
    every point.""")
wrong(
    "only sharp corners", _BY_TURNS.replace("AND_INSIDE", " and inside").replace("c in rest", "c in range(len(row))")
).says("""
    You refuse a polygon that goes straight on at one of its places. A point in the middle of an edge may be named or
    left out: no point lies to the right either way, and that is the whole test.""")
wrong(
    "only from the leftmost corner",
    {"return ~outside": "leftmost = points[..., 0].argmin(1)\n    return (polygon[:, 0] == leftmost) & ~outside"},
).says("""
    You accept the hull only when it begins at the leftmost corner. Here it may begin at any corner; only the
    direction is fixed.""")
wrong(
    "the order ignored",
    "answers = []\nfor row, corners in zip(points, polygon.tolist()):\n"
    "    corners = [c for c in corners if c < len(row)]\n"
    "    answers.append(sorted(corners) == sorted(hull_of(row)))\nreturn torch.tensor(answers)",
).says("""
    You looked only at *which* places are named. Their order counts: it must go around, counter-clockwise.""")
wrong("one edge is enough", {"(bend < 0).flatten(1).any(dim=1)": "(bend < 0).any(dim=2).all(dim=1)"}).says("""
    You asked whether *some* edge has all points on its left. All edges must.""")
wrong(
    "dot in place of cross",
    {
        "turns(a[:, :, None], b[:, :, None], points[:, None])": "((b - a)[:, :, None] * (points[:, None] - a[:, :, None])).sum(-1)"
    },
).says("""
    You used the dot product of the two ways. It says whether they point the same way, not on which side the point
    lies. Crosswise: Δx of the one times Δy of the other, minus the same exchanged.""")
wrong("a generous tolerance", {"bend < 0": "bend < -1e-4"}).says("""
    You forgive bends a little below 0. A bend is twice an area, and tiny for tiny polygons: there you overlook points
    that are clearly outside. Compare with 0.""")
wrong(
    "one answer for the batch",
    {
        "return ~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)": "return (~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)).all().expand(len(points))"
    },
).says("""
    You gave one answer for all rows. Each row has its own: (B,).""")
wrong(
    "numbers for answers",
    {
        "return ~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)": "return (~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)).float()"
    },
).says("""
    Your answers are numbers, 0 and 1. They shall be bool, True and False: then `~` means *not*, and they can pick
    rows.""")
wrong(
    "answers reversed",
    {
        "return ~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)": "return ~(~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1))"
    },
).says("""
    You return True where a polygon is *not* the hull. Turn it over.""")


def _reversed(points, polygon):
    rows = [[place for place in row if place < points.shape[1]][::-1] for row in polygon.tolist()]
    return padded(rows, points.shape[1])
