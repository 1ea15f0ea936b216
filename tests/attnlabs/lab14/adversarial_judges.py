"""Wrong judges of tours and hulls, and wrong masks, of lab 14 that are right on the small and tame."""

import torch

from attnbook.data.points.geometry import convex_hull


def squares_multiplied_out(points, tour):
    a = points[torch.arange(len(points))[:, None], tour]
    b = a.roll(-1, 1)
    return ((a * a).sum(-1) + (b * b).sum(-1) - 2 * (a * b).sum(-1)).clamp(min=0).sqrt().sum(-1)


def fifty_ways_at_most(points, tour):
    a = points[torch.arange(len(points))[:, None], tour]
    return (a - a.roll(-1, 1)).norm(dim=-1)[:, :50].sum(-1)


def viewed_points(points, tour):
    B, N = tour.shape
    a = points.view(-1, 2)[(tour + N * torch.arange(B)[:, None]).view(-1)].view(B, N, 2)
    return (a - a.roll(-1, 1)).norm(dim=-1).sum(-1)


def gaps(change):
    return lambda length, optimal: change(length / optimal - 1).mean()


def hull(points, polygon, tolerance=0.0):
    answers = []
    for row, places in zip(points.tolist(), polygon.tolist(), strict=True):
        places = [p for p in places if p < len(row)]
        good = len(places) > 2 and len(set(places)) == len(places)
        for (ax, ay), (bx, by) in [(row[places[i - 1]], row[places[i]]) for i in range(len(places))]:
            good = good and all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= -tolerance for x, y in row)
        answers.append(good)
    return torch.tensor(answers)


def one_row_as_a_number(points, polygon):
    answer = hull(points, polygon)
    return answer[0] if len(answer) == 1 else answer


def inside_the_box(points, polygon):
    """All bends to the left, each corner once, and the outermost points named."""
    answers = []
    for row, places in zip(points.tolist(), polygon.tolist(), strict=True):
        places = [p for p in places if p < len(row)]
        three = [[row[places[i - k]] for k in (2, 1, 0)] for i in range(len(places))] if len(places) > 2 else []
        bends = [(b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) for a, b, c in three]
        extreme = {f(range(len(row)), key=lambda n, r=row, k=k: r[n][k]) for f in (min, max) for k in (0, 1)}
        good = min(bends, default=-1) >= 0 and extreme <= set(places) and len(set(places)) == len(places)
        answers.append(good)
    return torch.tensor(answers)


def found_and_compared(points, polygon):
    answers = []
    for row, places, best in zip(points.tolist(), polygon.tolist(), convex_hull(points).tolist(), strict=True):
        own, right = ([row[p] for p in names if p < len(row)] for names in (places, best))
        answers.append(len(own) > 2 and any(own[i:] + own[:i] == right for i in range(len(own))))
    return torch.tensor(answers)


WRONG = {
    "is_convex_hull": {
        "3e-12 forgiven": lambda points, polygon: hull(points, polygon, tolerance=3e-12),
        "1e-13 forgiven": lambda points, polygon: hull(points, polygon, tolerance=1e-13),
        "1e-9 forgiven": lambda points, polygon: hull(points, polygon, tolerance=1e-9),
        "one row as a number": one_row_as_a_number,
        "inside the box": inside_the_box,
        "single precision": lambda points, polygon: hull(points.float(), polygon),
        "found and compared": found_and_compared,
    },
    "tour_length": [squares_multiplied_out, fifty_ways_at_most, viewed_points],
    "mask_visited": {
        "sixteen places": lambda mask, chosen: mask & ~torch.eye(16, dtype=torch.bool)[chosen][:, : mask.shape[1]]
    },
    "optimality_gap": {
        "first ten": gaps(lambda gap: gap[:10]),
        "from −½": gaps(lambda gap: gap.clamp(min=-0.5)),
        "optimum not tiny": lambda length, optimal: (length / optimal.clamp(min=1e-4) - 1).mean(),
    },
}
RIGHT = {"is_convex_hull": hull}
