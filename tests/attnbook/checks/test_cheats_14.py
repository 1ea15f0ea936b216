"""Answers of lab 14 that are right on the small and tame, and wrong on what else may come."""

import pytest
import torch

from attnbook.checks import evaluate


def scored(query, key, W_q, W_k, v):
    return ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v


def logs(scores, mask, fill=-torch.inf):
    return scores.masked_fill(~mask, fill).log_softmax(-1).masked_fill(~mask, -torch.inf)


def squeezed(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v).squeeze(), mask.squeeze())


def clamped_scores(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v).clamp(-500, 500), mask)


def clamped_probabilities(query, key, W_q, W_k, v, mask):
    weights = scored(query, key, W_q, W_k, v).masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.clamp(min=1e-30).log().masked_fill(~mask, -torch.inf)


def single_precision(query, key, W_q, W_k, v, mask):
    return logs(scored(*(x.float() for x in (query, key, W_q, W_k, v))), mask).to(query.dtype)


def opens_a_closed_row(query, key, W_q, W_k, v, mask):
    mask = torch.where(mask.any(-1, keepdim=True), mask, True)
    return logs(scored(query, key, W_q, W_k, v), mask)


def opens_the_mask_itself(query, key, W_q, W_k, v, mask):
    closed = ~mask.any(-1)
    mask[closed] = True
    return logs(scored(query, key, W_q, W_k, v), mask).masked_fill(closed[:, None], -torch.inf)


def closed_only_if_all_are(query, key, W_q, W_k, v, mask):
    scores = scored(query, key, W_q, W_k, v)
    return logs(scores, mask) if not mask.any() else scores.masked_fill(~mask, -torch.inf).log_softmax(-1)


def looks_at_row_0_of_the_mask(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v), mask[:1].expand_as(mask))


def ten_places_at_most(query, key, W_q, W_k, v, mask):
    near = torch.arange(mask.shape[1]) < 10
    return logs(scored(query, key, W_q, W_k, v), mask & near)


def query_apart(query, key, W_q, W_k, v, mask):
    return logs(scored(query.detach(), key, W_q, W_k, v), mask)


def hull(points, polygon, tolerance=0.0, corners=None, twice=True):
    answers = []
    for row, places in zip(points.tolist(), polygon.tolist(), strict=True):
        places = corners(places) if corners else [p for p in places if p != len(row)]
        pairs = [(row[places[i - 1]], row[places[i]]) for i in range(len(places))]
        good = all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= -tolerance
                   for (ax, ay), (bx, by) in pairs for x, y in row)
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
        answers.append(min(bends) >= 0 and extreme <= set(places)
                       and len(set(places)) == len(places))
    return torch.tensor(answers)


def decoded(step, state, points, first, choose=None, features=None, read=None):
    rows, tour = torch.arange(len(points)), [first]
    mask = torch.ones(points.shape[:2], dtype=torch.bool)
    for _ in range(points.shape[1] - 1):
        mask = mask.scatter(1, tour[-1][:, None], False)
        scores, state = step((points if read is None else read(points))[rows, tour[-1]][:, :features], state)
        tour.append((choose or (lambda s, m: s.masked_fill(~m, -torch.inf).argmax(-1)))(scores, mask))
    return torch.stack(tour, 1)


def one_beginning_for_all(step, state, points, first):
    return decoded(step, state, points, first[:1].expand_as(first))


def two_features(step, state, points, first):
    return decoded(step, state, points, first, features=2)


def single_precision_scores(step, state, points, first):
    return decoded(step, state, points, first, lambda s, m: s.float().masked_fill(~m, -torch.inf).argmax(-1))


def minus_a_million(step, state, points, first):
    return decoded(step, state, points, first, lambda s, m: s.masked_fill(~m, -1e6).argmax(-1))


def shifted_above_0(step, state, points, first):
    return decoded(step, state, points, first, lambda s, m: ((s + 100) * m).argmax(-1))


def ends_sorted(step, state, points, first):
    tour = decoded(step, state, points, first)
    return tour if tour.shape[1] < 3 else torch.cat([tour[:, :-2], tour[:, -2:].sort(1).values], 1)


def once_over_scores(step, state, points, first):
    scores, _ = step(points[torch.arange(len(points)), first], state)
    order = scores.scatter(1, first[:, None], torch.inf).argsort(1, descending=True)
    return order


def normalised_points(step, state, points, first):
    return decoded(step, state, points, first, read=lambda p: p - p.mean(1, keepdim=True))


def whole_numbers(step, state, points, first):
    return decoded(step, state, points, first).to(torch.int16)


def restarts(step, state, points, first):
    """All stops are read again in each step, as a decoder without a state would, from the newest state on."""
    rows, tour = torch.arange(len(points)), [first]
    mask = torch.ones(points.shape[:2], dtype=torch.bool)
    for _ in range(points.shape[1] - 1):
        mask = mask.scatter(1, tour[-1][:, None], False)
        for place in tour:
            scores, state = step(points[rows, place], state)
        tour.append(scores.masked_fill(~mask, -torch.inf).argmax(-1))
    return torch.stack(tour, 1)


CHEATS = {
    "pointer_log_probs": [squeezed, clamped_scores, clamped_probabilities, single_precision, opens_a_closed_row,
                          opens_the_mask_itself, closed_only_if_all_are, looks_at_row_0_of_the_mask,
                          ten_places_at_most, query_apart],
    "is_convex_hull": [one_length_for_all, tolerant, drops_what_comes_twice, only_home_again_refused,
                       turns_clockwise_round, same_area, one_row_as_a_number, inside_the_box],
    "greedy_pointer_decode": [one_beginning_for_all, two_features, single_precision_scores, minus_a_million,
                              shifted_above_0, ends_sorted, once_over_scores, normalised_points, whole_numbers,
                              restarts],
}


@pytest.mark.parametrize(
    "exercise, cheat", [(name, cheat) for name, cheats in CHEATS.items() for cheat in cheats],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_cheat_of_lab_14_does_not_get_through(exercise, cheat):
    for variant in (0, 2, 3):  # what a student sees, and what is hidden
        assert not evaluate("lab14", exercise, cheat, variant).passed
