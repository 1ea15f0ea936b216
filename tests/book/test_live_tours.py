"""What the page compares its pointer network with is what the package computes: tours, crossings and hulls."""

import pytest
import torch
from browser import chromium
from live_pages import answer

from attnbook.data.points.geometry import convex_hull, is_convex_hull, is_simple, random_points
from attnbook.data.points.tours import held_karp, nearest_neighbour, random_tours, tour_length, two_opt
from attnbook.seeding import generator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
TOURS = """
    return GIVEN.points.map((points, n) => {
      const nearest = LIVE.nearestFirst(points), better = LIVE.twoOpt(points, nearest);
      const best = points.length <= LIVE.MOST_CITIES ? LIVE.shortestTour(points) : better;
      const crossed = LIVE.crossings(points, GIVEN.others[n]), length = (tour) => LIVE.tourLength(points, tour);
      const bestCrossed = LIVE.crossings(points, best), lengths = [nearest, better, best].map(length);
      return { nearest, best, crossed, bestCrossed, lengths };
    });"""
HULLS = "return GIVEN.points.map((points, n) => LIVE.judged('hull', points, GIVEN.answers[n]));"


@pytest.mark.parametrize("size", [3, 4, 7, 10, 13, 20])
def test_tours_are_those_of_the_package(size, tmp_path):
    points = random_points(size, 12, generator(size))
    others = random_tours(size, 12, generator(size + 1))
    found = answer(tmp_path, TOURS, given={"points": points.tolist(), "others": others.tolist()})
    nearest = nearest_neighbour(points)
    better = two_opt(points, nearest)
    best = held_karp(points) if size <= 13 else better
    assert [one["nearest"] for one in found] == nearest.tolist()
    lengths = torch.stack([tour_length(points, tour) for tour in (nearest, better, best)], dim=1)
    torch.testing.assert_close(torch.tensor([one["lengths"] for one in found]), lengths, atol=1e-5, rtol=0)
    assert [one["crossed"] == 0 for one in found] == is_simple(points, others).tolist()
    assert all(one["bestCrossed"] == 0 for one in found)
    assert all(sorted(one["best"]) == list(range(size)) for one in found)


def test_a_hull_is_judged_as_the_package_judges_it(tmp_path):
    points = random_points(9, 12, generator(0))
    answers = []
    for n, one in enumerate(points):
        hull = convex_hull(one[None])[0]
        row = hull[hull < 9].tolist()
        kinds = [row, row[2:] + row[:2], row[::-1], row[:-1], [*row, next(i for i in range(9) if i not in row)]]
        answers.append(kinds[n % len(kinds)])
    found = answer(tmp_path, HULLS, given={"points": points.tolist(), "answers": answers})
    padded = torch.full((12, 10), 9)
    for n, row in enumerate(answers):
        padded[n, : len(row)] = torch.tensor(row)
    assert [judged["right"] for judged in found] == is_convex_hull(points, padded).tolist()
    for n, judged in enumerate(found):
        wrong = {3: (1, 0), 4: (0, 1)}.get(n % 5, (0, 0))  # a corner left out, a point that is none
        assert (judged["missing"], judged["extra"]) == wrong
