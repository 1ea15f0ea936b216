"""Batches of the three tasks: right targets, fixed by their seeds."""

import pytest
import torch

from attnbook.data.points import pointing
from attnbook.data.points.geometry import is_convex_hull
from attnbook.data.points.pointing import hull_batch, sorting_batch, tour_batch, training_tours
from attnbook.data.points.tours import canonical_tour, held_karp, nearest_neighbour, tour_length


def test_sorted_numbers_rise():
    batch = sorting_batch(6, 20)
    assert batch.source.shape == (20, 6, 1)
    in_order = batch.source[..., 0].gather(1, batch.target)
    assert (in_order.diff(dim=1) >= 0).all()
    assert torch.equal(batch.target.sort(dim=1).values, torch.arange(6).expand(20, -1))


def test_hulls_are_hulls_and_end_with_n():
    batch = hull_batch(6, 20)
    assert batch.source.shape == (20, 6, 2)
    assert is_convex_hull(batch.source, batch.target).all()
    assert (batch.target == 6).any(dim=1).all()


def test_tours_are_shortest_from_city_0_counter_clockwise():
    batch = tour_batch(6, 20)
    assert torch.equal(batch.target, canonical_tour(batch.source, batch.target))
    assert (batch.target[:, 0] == 0).all()
    shortest = tour_length(batch.source, batch.target)
    assert (shortest <= tour_length(batch.source, nearest_neighbour(batch.source)) + 1e-5).all()


@pytest.mark.parametrize("draw", [sorting_batch, hull_batch, tour_batch])
def test_a_seed_fixes_the_batch_and_lengths_say_how_many_places_there_are(draw):
    one, same, other = draw(5, 4, 1), draw(5, 4, 1), draw(5, 4, 2)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.source, other.source)
    assert one.lengths.tolist() == [5] * 4


def test_tours_to_train_on_are_solved_once_and_drawn_turned(monkeypatch):
    pool = tour_batch(5, 30, 1)
    calls = []
    monkeypatch.setattr(pointing, "held_karp", lambda points: calls.append(1) or held_karp(points))
    pointing.solved_tours.cache_clear()
    one, same, other = (training_tours(5, 40, seed, pool=30) for seed in (1, 1, 2))
    assert len(calls) == 1
    pointing.solved_tours.cache_clear()
    assert torch.equal(one.source, same.source)
    assert torch.equal(one.target, same.target)
    assert not torch.equal(one.source, other.source)
    assert torch.equal(one.target, held_karp(one.source))
    lengths = tour_length(pool.source, pool.target)  # each drawn instance is one of the pool
    found = tour_length(one.source, one.target)
    assert ((found[:, None] - lengths).abs().amin(dim=1) < 1e-5).all()


def test_a_hull_of_two_points_is_refused():
    with pytest.raises(ValueError, match="at least 3 points"):
        hull_batch(2, 4)
