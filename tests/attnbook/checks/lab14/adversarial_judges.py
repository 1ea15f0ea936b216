"""Wrong judges of tours and hulls, and wrong masks, of lab 14 that are right on the small and tame."""

import torch


def squares_multiplied_out(points, tour):
    a = points[torch.arange(len(points))[:, None], tour]
    b = a.roll(-1, 1)
    return ((a * a).sum(-1) + (b * b).sum(-1) - 2 * (a * b).sum(-1)).clamp(min=0).sqrt().sum(-1)


def table_by_cdist(points, tour):
    return torch.cdist(points, points)[torch.arange(len(points))[:, None], tour, tour.roll(-1, 1)].sum(1)


def fifty_ways_at_most(points, tour):
    a = points[torch.arange(len(points))[:, None], tour]
    return (a - a.roll(-1, 1)).norm(dim=-1)[:, :50].sum(-1)


def viewed_points(points, tour):
    B, N = tour.shape
    a = points.view(-1, 2)[(tour + N * torch.arange(B)[:, None]).view(-1)].view(B, N, 2)
    return (a - a.roll(-1, 1)).norm(dim=-1).sum(-1)


def sixteen_places(mask, chosen):
    return mask & ~torch.eye(16, dtype=torch.bool)[chosen][:, : mask.shape[1]]


def bits(mask, chosen):
    bit = 2 ** torch.arange(mask.shape[1])
    return (((mask * bit).sum(1) & ~(2**chosen))[:, None] & bit) > 0


def viewed_mask(mask, chosen):
    flat = mask.clone().view(-1)
    flat[torch.arange(len(mask)) * mask.shape[1] + chosen] = False
    return flat.view(mask.shape)


def no_new_mask_where_nothing_changes(mask, chosen):
    rows = torch.arange(len(mask))
    return mask.index_put((rows, chosen), torch.tensor(False)) if mask[rows, chosen].any() else mask


def first_ten(length, optimal):
    return (length[:10] / optimal[:10] - 1).mean()


def without_outliers(length, optimal):
    gap = length / optimal - 1
    return gap[gap < gap.mean() + 3 * gap.std(correction=0) + 1e-12].mean()


def median_of_many(length, optimal):
    gap = length / optimal - 1
    return gap.mean() if len(gap) < 10 else gap.median()


def gap_up_to_2(length, optimal):
    return (length / optimal - 1).clamp(max=2.0).mean()


def gap_from_minus_a_half(length, optimal):
    return (length / optimal - 1).clamp(min=-0.5).mean()


def optimum_not_tiny(length, optimal):
    return (length / optimal.clamp(min=1e-4) - 1).mean()


def hull(points, polygon, tolerance=0.0, corners=None, twice=True):
    answers = []
    for row, places in zip(points.tolist(), polygon.tolist(), strict=True):
        places = corners(places) if corners else [p for p in places if p != len(row)]
        pairs = [(row[places[i - 1]], row[places[i]]) for i in range(len(places))]
        good = all(
            (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= -tolerance for (ax, ay), (bx, by) in pairs for x, y in row
        )
        answers.append(good and len(places) > 2 and (not twice or len(set(places)) == len(places)))
    return torch.tensor(answers)


def one_length_for_all(points, polygon):
    length = int((polygon[0] != points.shape[1]).sum())
    return hull(points, polygon.clamp(max=points.shape[1] - 1), corners=lambda places: places[:length])


def tolerant(points, polygon):
    return hull(points, polygon, tolerance=1e-5)


def drops_what_comes_twice(points, polygon):
    return hull(points, polygon, corners=lambda places: [p for p in dict.fromkeys(places) if p < points.shape[1]])


def only_home_again_refused(points, polygon):
    ended = polygon.masked_fill(polygon == points.shape[1], -1)
    return hull(points, polygon, twice=False) & (ended[:, 0] != ended[:, -1])


def turns_clockwise_round(points, polygon):
    rows = [[p for p in row if p < points.shape[1]] for row in polygon.tolist()]
    long = polygon.shape[1]
    back = torch.tensor([row[::-1] + [points.shape[1]] * (long - len(row)) for row in rows]).view(len(rows), long)
    return hull(points, polygon) | hull(points, back)


def same_area(points, polygon):
    from attnbook.data.geometry import convex_hull, polygon_area

    return torch.isclose(polygon_area(points, polygon), polygon_area(points, convex_hull(points)))


def one_row_as_a_number(points, polygon):
    answer = hull(points, polygon)
    return answer[0] if len(answer) == 1 else answer


def inside_the_box(points, polygon):
    """All bends to the left, each corner once, and the outermost points named."""
    answers = []
    for row, places in zip(points.tolist(), polygon.tolist(), strict=True):
        places = [p for p in places if p < len(row)]
        if len(places) < 3:
            answers.append(False)
            continue
        three = [[row[places[i - k]] for k in (2, 1, 0)] for i in range(len(places))]
        bends = [(b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) for a, b, c in three]
        extreme = {f(range(len(row)), key=lambda n, r=row, k=k: r[n][k]) for f in (min, max) for k in (0, 1)}
        answers.append(min(bends) >= 0 and extreme <= set(places) and len(set(places)) == len(places))
    return torch.tensor(answers)


def by_single_precision(points, polygon):
    from attnbook.checks.lab14.hull import is_convex_hull

    return is_convex_hull(torch.tensor(points.tolist()), polygon)


def a_billionth_forgiven(points, polygon):
    return hull(points, polygon, tolerance=1e-9)


def found_and_compared(points, polygon):
    from attnbook.data.geometry import convex_hull

    answers = []
    for row, places, best in zip(points.tolist(), polygon.tolist(), convex_hull(points).tolist(), strict=True):
        own, right = ([row[p] for p in names if p < len(row)] for names in (places, best))
        answers.append(len(own) > 2 and any(own[i:] + own[:i] == right for i in range(len(own))))
    return torch.tensor(answers)


WRONG = {
    "is_convex_hull": [
        one_length_for_all,
        tolerant,
        drops_what_comes_twice,
        only_home_again_refused,
        turns_clockwise_round,
        same_area,
        one_row_as_a_number,
        inside_the_box,
        by_single_precision,
        a_billionth_forgiven,
        found_and_compared,
    ],
    "tour_length": [squares_multiplied_out, table_by_cdist, fifty_ways_at_most, viewed_points],
    "mask_visited": [sixteen_places, bits, viewed_mask, no_new_mask_where_nothing_changes],
    "optimality_gap": [
        first_ten,
        without_outliers,
        median_of_many,
        gap_up_to_2,
        gap_from_minus_a_half,
        optimum_not_tiny,
    ],
}
