"""Lab 14: whether a polygon is the hull of its points."""

import torch

from misread.exercise import About, Exercise

from .polygons import padded, polygons


def is_convex_hull(points, polygon):
    """Whether polygon (B, T), N from its end on, is the hull of points (B, N, 2), counter-clockwise: (B,) bool."""
    real = polygon != points.shape[1]  # (B, T): not the end
    index = torch.where(real, polygon, polygon[:, :1])  # (B, T): after the end, the first corner again
    a = points.gather(1, index.clamp(max=points.shape[1] - 1)[..., None].expand(-1, -1, 2))  # (B, T, 2): corners
    b = a.roll(-1, dims=1)  # (B, T, 2): the next ones
    edge, offset = (b - a)[:, :, None], points[:, None] - a[:, :, None]  # (B, T, 1, 2), (B, T, N, 2)
    bend = edge[..., 0] * offset[..., 1] - edge[..., 1] * offset[..., 0]  # (B, T, N): above 0 to the left
    outside = (bend < 0).flatten(1).any(dim=1)  # (B,): a point lies to the right of an edge
    visits = (polygon[..., None] == torch.arange(points.shape[1], device=points.device)).sum(dim=1)  # (B, N)
    return ~outside & (real.sum(dim=1) >= 3) & (visits <= 1).all(dim=1)


def turns(a, b, c):
    (ux, uy), (wx, wy) = (b - a).unbind(-1), (c - a).unbind(-1)
    return ux * wy - uy * wx


def _reversed(points, polygon):
    rows = [[position for position in row if position < points.shape[1]][::-1] for row in polygon.tolist()]
    return padded(rows, points.shape[1])


def _clockwise(points, polygon):
    """Right only in the other direction; of points on one line both are right."""
    return is_convex_hull(points, _reversed(points, polygon)) & ~is_convex_hull(points, polygon)


IS_CONVEX_HULL = Exercise(
    is_convex_hull,
    cases=polygons,
    gradients=False,
    about=About(points=3, minutes=21, difficulty=3, read_again="Blend or point?"),
)

must = IS_CONVEX_HULL.properties
must(
    "clockwise is not right", lambda result, points, polygon: not result.bool()[_clockwise(points, polygon)].any()
).says("""
    You accept the corners of the hull in clockwise order, but only counter-clockwise is correct.""")
must(
    "at least three corners",
    lambda result, points, polygon: not result.bool()[(polygon != points.shape[1]).sum(1) < 3].any(),
).says("""
    You accept an answer with fewer than three corners, and this is no polygon.""")
must(
    "right hulls are found right", lambda result, points, polygon: result.bool()[is_convex_hull(points, polygon)].all()
).says("""
    You reject a correct hull: all points lie on its edges or to their left, and no corner comes twice. A point exactly
    *on* an edge is not outside, whether it is a corner or not.""")
must(
    "wrong hulls are refused", lambda result, points, polygon: not result.bool()[~is_convex_hull(points, polygon)].any()
).says("""
    You accept a polygon that is not the hull, because a point lies to the right of one of its edges, or because a
    corner comes twice. Compare each edge with *all* N points.""")

wrong = IS_CONVEX_HULL.mistakes
wrong("clockwise", {"bend < 0": "bend > 0"}).says("""
    You accept the hull when it is given clockwise, because you require that no point lies to the *left* of an edge. The
    exercise wants it counter-clockwise: then all points lie to the left, and no bend is below 0.""")
wrong("bends of 0 refused", {"bend < 0": "bend <= 0"}).says("""
    You reject every polygon. Do you require that each bend is above 0? Every edge has a bend of exactly 0 with its own
    two ends, and with each point that lies exactly on it, so a bend of 0 is allowed.""")
_ENDS = "(index[..., None] == {0}) | (index.roll(-1, 1)[..., None] == {0})".format("torch.arange(points.shape[1])")
wrong("points on an edge refused", {"(bend < 0)": f"((bend <= 0) & real[..., None] & ~({_ENDS}))"}).says("""
    You reject a polygon if a point lies exactly *on* one of its edges, where the bend is 0, although you leave out the
    edge's own two ends. A point on an edge is not outside, so reject bends below 0 only.""")
_CROSS, _X_BY_Y = "edge[..., 0] * offset[..., 1] - edge[..., 1] * offset[..., 0]", "edge[..., 0] * offset[..., 1]"
for _what, _bend, _did in (
    ("a plus in the bend", f"{_X_BY_Y} + edge[..., 1] * offset[..., 0]", "You added the two products of the bend"),
    ("x by x in the bend", "edge[..., 0] * offset[..., 0] - edge[..., 1] * offset[..., 1]", "You multiplied x by x"),
    ("a dot product for the bend", "(edge * offset).sum(-1)", "You computed the dot product of the two steps"),
):
    wrong(_what, {_CROSS: _bend}).says(f"""
        {_did}. The bend is a difference of two products, each of an x and a y:
        (b_x − a_x)(c_y − a_y) − (b_y − a_y)(c_x − a_x).""")
wrong("hulls on a line only", {"points[:, None] - a[:, :, None]": "points[:, None] + 0 * a[:, :, None]"}).says("""
    You reject every hull, unless all points lie on one line. Do both steps of the bend begin at a, as b − a and c − a
    do? And does each edge lead from one corner to its *neighbour* in the list, from corners[i - 1] to corners[i]?""")


def _only_bends(points, polygon):
    answers = []
    for row, positions in zip(points, polygon.tolist(), strict=True):
        c = row[[n for n in positions if n < len(row)]]  # (corners, 2)
        bends = turns(c.roll(1, 0), c, c.roll(-1, 0))
        answers.append(len(c) >= 3 and len({*positions} - {len(row)}) == len(c) and bool((bends >= 0).all()))
    return torch.tensor(answers)


wrong("only the bends looked at", _only_bends).says("""
    You checked only that the polygon bends to the left at each corner. This is also true of a star, and of a polygon
    that is too small. Compare each edge with *all* N points.""")
wrong(
    "only the direction looked at",
    {"return ~outside": "return ((a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]).sum(dim=1) > 0)"},
).says("""
    You checked only the direction of the polygon, by the sign of its area. A polygon that is too small, or whose edges
    cross, may also run counter-clockwise. Compare each edge with *all* N points.""")
wrong("points outside missed", {"points[:, None] -": "a[:, None] -"}).says("""
    You compared the edges with the corners of the polygon only. Other points may lie outside, so compare each edge with
    all N points.""")
_OTHERS = "((bend < 0) & (polygon[..., None] != torch.arange(points.shape[1])).all(1)[:, None])"
wrong("corners missed", {"(bend < 0)": _OTHERS}).says("""
    You compared the edges with those points only that are no corners. Then a polygon of *all* points is never refused,
    even if it is clockwise or its edges cross: compare each edge with all N points.""")
wrong("the polygon doesn't close", {"(bend < 0)": "((bend < 0)[:, :-1] & real[:, 1:, None])"}).says("""
    You left out the edge from the last corner to the first. A point may lie on the outer side of this edge.""")
wrong("a triangle refused", {">= 3": "> 3"}).says("""
    You reject a hull with exactly three corners. A triangle is a polygon: only answers with fewer than three corners
    are `False`.""")


def _below_the_last(points, polygon):
    last = points.shape[1] - 1
    return is_convex_hull(points, padded([[p for p in row if p < last] for row in polygon.tolist()], last + 1))


wrong("the last position left out", _below_the_last).says("""
    You kept the entries below N − 1 only. Positions are counted from 0, so N − 1 is the last city, and only N is the
    end mark: keep all entries below N.""")
wrong("single precision", {"real = polygon": "points = points.float()\n    real = polygon"}).says("""
    You rounded the points to single precision (`float32`), as torch.tensor does with a list of numbers. A point that
    lies beside an edge can then lie on it, or on its other side. Keep the dtype of `points`.""")
wrong("the last entry always cut off", {"real = polygon": "polygon = polygon[:, :-1]\n    real = polygon"}).says("""
    You removed the last entry of each row, but some rows fill all T entries and contain no N. There the last entry is a
    corner, so keep all entries below N instead, wherever they are.""")
wrong(
    "an end looked for that isn't there",
    {"real = polygon": "[row.index(points.shape[1]) for row in polygon.tolist()]\n    real = polygon"},
).says("""
    You searched for N in each row, but some rows fill all T entries and contain no N. Keep all entries below N instead,
    wherever they are in the row.""")
wrong("an empty answer looked up", {"index.clamp(max=points.shape[1] - 1)": "index"}).says("""
    Your function stopped at an answer without corners, such as [N, N, N]. Its first entry is N, too, so there is no
    first corner to put in place of the end marks. Limit the positions with `.clamp(max=N - 1)` before you look up their
    points; such an answer is False anyway, because it has fewer than three corners.""")
wrong("the end taken for a position", {"index.clamp(max=points.shape[1] - 1)": "polygon"}).says("""
    You looked up a point for the entry N, which marks the end. There is no such point, because the positions are 0 to
    N − 1, so use only the entries below N.""")
wrong("the end taken for the last position", {"torch.where(real, polygon, polygon[:, :1])": "polygon"}).says("""
    You limited the entries to N − 1, so that the end mark N became the last position. The entries from the end mark on
    are no corners and make no edges; the last edge leads from the last corner to the first.""")
wrong(
    "the last edge to position N − 1",
    {"torch.where(real, polygon, polygon[:, :1])": "polygon", "(bend < 0)": "((bend < 0) & real[..., None])"},
).says("""
    Your last edge leads to position N − 1, because you limited the end mark N to N − 1. You rightly left out the edges
    that begin at an end mark, but the edge from the last corner leads to the *first* corner, polygon[:, 0].""")
wrong("the end taken for position 0", {"torch.where(real, polygon, polygon[:, :1])": "polygon * real"}).says("""
    You replaced the end marks by 0, so that edges lead to position 0 and back. Behind its last corner a polygon returns
    to its *first* corner, polygon[:, 0], whichever position that is.""")
wrong("a corner twice", {" & (visits <= 1).all(dim=1)": ""}).says("""
    You accept a polygon that contains a corner twice, for example with the first corner repeated at the end. The edge
    back to the first corner is implied, so each corner may stand in the list only once.""")
wrong(
    "ends taken for a corner twice",
    {"(visits <= 1).all(dim=1)": "torch.tensor([len({*row}) == len(row) for row in polygon.tolist()])"},
).says("""
    You counted the end mark N when you looked for repeated entries. A row may contain N several times, because N is no
    corner: keep the entries below N first, and look for repetitions among these.""")
wrong(
    "twins taken for one corner",
    {
        "visits = (polygon[..., None] == torch.arange(points.shape[1], device=points.device)).sum(dim=1)": (
            "visits = ((points[:, :, None] == a[:, None]).all(-1) & real[:, None]).sum(-1)"
        )
    },
).says("""
    You looked for repeated corners by their coordinates. Two different positions may have the same coordinates, and
    both may be in the list, so compare the positions.""")
wrong(
    "fewer than three spots refused",
    {"real.sum(dim=1) >= 3": "torch.tensor([len({*map(tuple, row.tolist())}) > 2 for row in a])"},
).says("""
    You counted how many different *coordinates* the corners have. Two positions with the same coordinates are two
    corners, so count the positions: at least three of them must be below N.""")
wrong(
    "only from the leftmost corner",
    {"return ~outside": "return (polygon[:, 0] == points[..., 0].argmin(1)) & ~outside"},
).says("""
    You accept the hull only if it begins at the leftmost corner. It may begin at any corner; only its direction is
    fixed.""")
wrong("a generous tolerance", {"bend < 0": "bend < -1e-4"}).says("""
    You accept bends that are slightly below 0. A bend is twice an area, so it is tiny for a tiny polygon, and points
    that are clearly outside are then accepted. Compare the bend with 0 itself.""")
for _tolerance in ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-11", "1e-12", "1e-13", "1e-14", "1e-15"):
    wrong(f"a tolerance of {_tolerance}", {"bend < 0": f"bend < -{_tolerance}"}).says(f"""
        You accept bends that are below 0 by about {_tolerance}. The bends of a small polygon are as small as that, so
        its points that lie outside are accepted, and so is a clockwise one. Compare the bend with 0 itself.""")
wrong("one answer for the batch", {"return ~outside": "return ~outside.any()"}).says("""
    You gave one answer for all rows, but each row has its own, (B,). Look for an `all()` or `any()` without an
    axis.""")
