"""Labels for round trips: a search that leaves where it is stuck, against the exact table."""

import pytest
import torch

from attnbook.data.points import tour_labels
from attnbook.data.points.geometry import random_points
from attnbook.data.points.pointing import tour_batch
from attnbook.data.points.tour_labels import (
    EXACT,
    double_bridge,
    draw_tours,
    iterated_two_opt,
    kept_tours,
    label_tours,
    labelled_tours,
)
from attnbook.data.points.tours import canonical_tour, held_karp, nearest_neighbour, tour_length, two_opt
from attnbook.seeding import generator


def test_a_double_bridge_exchanges_two_inner_parts():
    tour = torch.arange(9).expand(200, -1)
    found = double_bridge(tour, generator(0)).tolist()
    splits = [(a, b, c) for a in range(1, 7) for b in range(a + 1, 8) for c in range(b + 1, 9)]
    allowed = [[*range(a), *range(b, c), *range(a, b), *range(c, 9)] for a, b, c in splits]
    assert all(row in allowed for row in found)
    assert len({tuple(row) for row in found}) > 40  # of 56
    assert torch.equal(double_bridge(tour, generator(0)), double_bridge(tour, generator(0)))


def test_a_double_bridge_of_three_cities_is_refused():
    with pytest.raises(ValueError, match="tour has 3 cities; four parts need at least 4"):
        double_bridge(torch.arange(3)[None], generator(0))


def test_more_rounds_find_shorter_tours_and_nearly_all_are_the_shortest():
    points = random_points(9, 100, generator(3))
    shortest = tour_length(points, held_karp(points))
    start = tour_length(points, two_opt(points, nearest_neighbour(points)))
    found = [tour_length(points, iterated_two_opt(points, rounds, generator(0))) for rounds in (0, 3, 20)]
    assert torch.allclose(found[0], start)
    assert found[0].mean() > found[1].mean() > found[2].mean() >= shortest.mean() - 1e-5
    assert (found[2] <= shortest * (1 + 1e-6)).float().mean() >= 0.98


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_few_cities_are_no_exception(size):
    points = random_points(size, 6, generator(0))
    tour = iterated_two_opt(points, 4, generator(0))
    assert torch.allclose(tour_length(points, tour), tour_length(points, held_karp(points)), atol=1e-5)


def test_labels_are_exact_up_to_twelve_cities_and_searched_beyond(monkeypatch):
    points = random_points(7, 5, generator(0))
    assert torch.equal(label_tours(points), held_karp(points))
    monkeypatch.setattr(tour_labels, "EXACT", 6)
    monkeypatch.setattr(tour_labels, "ROUNDS", 2)
    monkeypatch.setattr(tour_labels, "TOGETHER", 2)
    source = generator(4)
    parts = [iterated_two_opt(part, 2, source) for part in points.split(2)]
    assert torch.equal(label_tours(points, seed=4), torch.cat(parts))


def test_small_sets_are_those_of_tour_batch_and_large_ones_begin_at_city_0():
    assert all(torch.equal(a, b) for a, b in zip(labelled_tours(6, 9, 2), tour_batch(6, 9, 2), strict=True))
    batch = labelled_tours(EXACT + 2, 3, 1)
    assert torch.equal(batch.target, canonical_tour(batch.source, batch.target))


def test_tours_are_made_once_and_read_afterwards(tmp_path, monkeypatch):
    made = kept_tours(5, 8, 1, tmp_path / "tours")
    monkeypatch.setattr(tour_labels, "labelled_tours", None)
    read = kept_tours(5, 8, 1, tmp_path / "tours")
    assert all(torch.equal(a, b) for a, b in zip(made, read, strict=True))
    assert [file.name for file in (tmp_path / "tours").iterdir()] == ["tours_5_8_1.pt"]
    with pytest.raises(TypeError):
        kept_tours(5, 8, 2, tmp_path / "tours")  # another seed is made anew


def test_drawn_tours_are_shortest_tours_of_the_pool_turned():
    pool = labelled_tours(6, 5, 0)
    drawn, again = draw_tours(pool, 40, 3), draw_tours(pool, 40, 3)
    assert torch.equal(drawn.source, again.source)
    assert torch.equal(drawn.target, held_karp(drawn.source))
    lengths = tour_length(pool.source, pool.target)
    assert ((tour_length(drawn.source, drawn.target)[:, None] - lengths).abs().amin(dim=1) < 1e-5).all()
