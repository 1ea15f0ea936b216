"""The exact solver against all permutations; quicker ways between it and chance."""

import math
from itertools import pairwise, permutations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data.points.geometry import polygon_area, random_points
from attnbook.data.points.tours import (
    MOST_CITIES,
    augment_tours,
    canonical_tour,
    distances,
    held_karp,
    nearest_neighbour,
    optimality_gap,
    random_tours,
    round_the_centre,
    tour_length,
    turns_round_centre,
    two_opt,
)
from attnbook.seeding import generator

tours = st.builds(
    lambda size, seed: (random_points(size, 1, generator(seed)), random_tours(size, 1, generator(seed + 1))),
    st.integers(1, 8),
    st.integers(0, 10_000),
)


def slow_length(points, tour):
    """The ways from each stop to the next, one by one, and home."""
    stops = [points[place] for place in tour]
    return sum(math.dist(a, b) for a, b in zip(stops, [*stops[1:], stops[0]], strict=True))


def is_a_tour(tour, size):
    return sorted(tour.tolist()) == list(range(size))


@given(tours)
def test_a_tour_is_as_long_as_its_ways_together(drawn):
    points, tour = drawn
    wanted = slow_length(points[0].tolist(), tour[0].tolist())
    assert tour_length(points, tour).item() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7])
def test_held_and_karp_find_what_trying_all_orders_finds(size):
    points = random_points(size, 20 if size < 7 else 6, generator(size))
    for row, tour in zip(points, held_karp(points), strict=True):
        orders = permutations(range(1, size))
        shortest = min(slow_length(row.tolist(), (0, *order)) for order in orders)
        assert is_a_tour(tour, size)
        assert slow_length(row.tolist(), tour.tolist()) == pytest.approx(shortest, abs=1e-6)


def test_many_tours_at_once_are_the_tours_one_by_one(monkeypatch):
    points = random_points(6, 9, generator(0))
    together = held_karp(points)
    monkeypatch.setattr("attnbook.data.points.tours._ENTRIES", 1)  # one instance at a time
    assert torch.equal(held_karp(points), together)


def test_nothing_quick_beats_the_exact_solver_on_ten_cities():
    points = random_points(10, 100, generator(1))
    lengths = [
        tour_length(points, tour)
        for tour in (
            held_karp(points),
            two_opt(points, nearest_neighbour(points)),
            nearest_neighbour(points),
            random_tours(10, 100, generator(2)),
        )
    ]
    assert all((better <= worse + 1e-5).all() for better, worse in pairwise(lengths[:3]))
    means = [length.mean().item() for length in lengths]
    assert means == sorted(means)
    assert means[3] > 1.5 * means[0]


@given(tours)
def test_a_tour_told_anew_starts_at_city_0_counter_clockwise_and_is_the_same_trip(drawn):
    points, tour = drawn
    told = canonical_tour(points, tour)
    assert told[0, 0] == 0
    assert polygon_area(points, told) >= 0
    torch.testing.assert_close(tour_length(points, told), tour_length(points, tour))
    for same in (tour.roll(2, dims=1), tour.flip(1)):
        if points.shape[1] > 2:
            assert torch.equal(canonical_tour(points, same), told)


def test_the_shortest_tour_of_a_square_goes_around_it():
    square = torch.tensor([[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]])
    assert held_karp(square).tolist() == [[0, 2, 1, 3]]
    assert tour_length(square, held_karp(square)).item() == 4


def test_turned_and_mirrored_tours_are_as_short_and_told_the_same_way():
    points = random_points(6, 64, generator(3))
    tour = held_karp(points)
    turned, told = augment_tours(points, tour, generator(4))
    torch.testing.assert_close(tour_length(turned, told), tour_length(points, tour))
    assert torch.equal(told, canonical_tour(turned, told))
    torch.testing.assert_close(tour_length(turned, held_karp(turned)), tour_length(turned, told))
    assert not torch.equal(turned, points)
    again = augment_tours(points, tour, generator(4))
    assert torch.equal(again[0], turned)
    assert torch.equal(again[1], told)


def test_round_the_centre_visits_the_cities_by_their_angle_counter_clockwise_from_city_0():
    square = torch.tensor([[[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]]) + 3
    torch.testing.assert_close(turns_round_centre(square), torch.tensor([[0.0, 180.0, 270.0, 90.0]]))
    assert round_the_centre(square).tolist() == [[0, 3, 1, 2]]
    points = random_points(8, 20, generator(0))
    turned = turns_round_centre(points).gather(1, round_the_centre(points))
    assert (turned.diff(dim=1) > 0).all()
    assert (turned[:, 0] == 0).all()
    with pytest.raises(ValueError, match="points"):
        round_the_centre(points[0])


def test_the_nearest_neighbour_is_the_nearest_not_yet_seen():
    points = random_points(7, 10, generator(5))
    for row, tour in zip(points.tolist(), nearest_neighbour(points).tolist(), strict=True):
        assert tour[0] == 0
        for step in range(1, 7):
            left = [place for place in range(7) if place not in tour[:step]]
            assert tour[step] == min(left, key=lambda place: math.dist(row[tour[step - 1]], row[place]))


def test_after_two_opt_no_exchange_of_two_edges_helps():
    points = random_points(9, 10, generator(6))
    start = random_tours(9, 10, generator(7))
    ended = two_opt(points, start)
    assert (ended[:, 0] == start[:, 0]).all()
    for row, tour in zip(points.tolist(), ended.tolist(), strict=True):
        length = slow_length(row, tour)
        for i in range(8):
            for j in range(i + 1, 9):
                other = [*tour[: i + 1], *reversed(tour[i + 1 : j + 1]), *tour[j + 1 :]]
                assert slow_length(row, other) > length - 1e-6


@pytest.mark.parametrize("scale", [0.0, 1e-6, 1e6])
def test_two_opt_ends_whatever_the_scale(scale):
    points = random_points(9, 20, generator(8)) * scale
    tour = two_opt(points, random_tours(9, 20, generator(9)))
    assert all(is_a_tour(row, 9) for row in tour)


def test_random_tours_start_anywhere_and_are_tours():
    tour = random_tours(5, 2000, generator(0))
    assert all(is_a_tour(row, 5) for row in tour)
    assert tour[:, 0].bincount(minlength=5).min() > 300
    assert not torch.equal(tour, random_tours(5, 2000, generator(1)))


def test_distances_are_symmetric_and_zero_to_oneself():
    way = distances(random_points(5, 3, generator(0)))
    assert torch.equal(way, way.mT)
    assert (way.diagonal(dim1=1, dim2=2) == 0).all()


def test_the_gap_is_the_mean_of_the_parts_and_not_the_part_of_the_means():
    length, optimal = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 3.0])
    assert optimality_gap(length, optimal).item() == 0.5
    assert optimality_gap(optimal, optimal).item() == 0


@pytest.mark.parametrize(
    ("length", "optimal", "message"), [([1.0, 2.0], [1.0], "same shape"), ([], [], "B > 0"), ([1.0], [0.0], "length 0")]
)
def test_a_gap_needs_lengths_that_can_be_compared(length, optimal, message):
    with pytest.raises(ValueError, match=message):
        optimality_gap(torch.tensor(length), torch.tensor(optimal))


@pytest.mark.parametrize("tour", [[0, 1, 1], [0, 1], [0, 1, 3], [-1, 0, 1]])
def test_what_names_no_city_or_one_twice_is_no_tour(tour):
    points = random_points(3, 1, generator(0))
    for use in (tour_length, canonical_tour, two_opt):
        with pytest.raises(ValueError, match="tour must"):
            use(points, torch.tensor([tour]))


def test_too_many_cities_for_the_exact_solver_are_refused():
    with pytest.raises(ValueError, match=f"at most {MOST_CITIES}"):
        held_karp(random_points(MOST_CITIES + 1, 1, generator(0)))


def test_tours_are_shortened_and_turned_on_each_device_alike(device):
    """Whether the device has float64 or not: the card of this test has none."""
    points = random_points(8, 20, generator(0))
    tour = nearest_neighbour(points)
    for change in (two_opt, canonical_tour):
        found = change(points.to(device), tour.to(device))
        assert found.device.type == device.type
        assert torch.equal(found.cpu(), change(points, tour))
