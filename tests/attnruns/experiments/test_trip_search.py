"""Chapter 14's file on ten cities: its beam and its best of many draws, beside trying everything on small sets."""

from itertools import permutations

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import held_karp, tour_length
from attnbook.seeding import generator
from attnruns.experiments import trip_file, trip_search
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_a_run_trains_the_network_on_ten_cities_and_searches_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(trip_search, "DRAWS", (1, 4))
    figures = checked_run(trip_search, Job("ten", 0, 2), tmp_path, "cpu", kept=True)
    ways = figures["ways"]
    assert list(ways) == ["nearest", "two_opt", "random_64", "greedy", "beam", "beam_probable", "drawn_1", "drawn_4"]
    assert all(of["gap"] >= 0 and 0 <= of["shortest"] <= 1 for of in ways.values())
    assert ways["drawn_4"]["gap"] < ways["drawn_1"]["gap"]
    assert ways["beam"]["gap"] <= ways["beam_probable"]["gap"]
    assert ways["two_opt"]["gap"] < ways["nearest"]["gap"]


def test_a_wide_beam_gives_all_trips_and_a_narrow_one_is_greedy():
    names, points = trip_file.file(0), random_points(5, 3, generator(1))
    network = names["TripNetwork"]()
    with torch.no_grad():
        every = torch.tensor([(0, *rest) for rest in permutations(range(1, 5))])  # (24, 5)
        repeated = points.repeat_interleave(24, dim=0)  # (72, 5, 2)
        _, log_probs = names["answer"](network, repeated, every.repeat(3, 1))
        log_p = log_probs.gather(2, every.repeat(3, 1)[:, 1:, None]).sum(dim=(1, 2)).reshape(3, 24)
        assert torch.equal(trip_search.beam(names, network, points, 1)[:, 0], names["answer"](network, points)[0])
        wide = trip_search.beam(names, network, points, 24)  # (3, 24, 5)
    assert torch.equal(wide, every[log_p.argsort(dim=1, descending=True)])


def test_best_of_keeps_the_shortest_of_the_drawn_trips():
    names, points = trip_file.file(0), random_points(6, 20, generator(1))
    network = names["TripNetwork"]()
    torch.manual_seed(3)
    kept = trip_search.best_of(names, network, points, 5)
    torch.manual_seed(3)
    with torch.no_grad():
        drawn = [names["answer"](network, points, draw=True)[0] for _ in range(5)]
    least = torch.stack([tour_length(points, trip) for trip in drawn]).amin(dim=0)
    torch.testing.assert_close(tour_length(points, kept), least)


def test_the_pointer_by_hand_draws_whole_trips_with_the_chapter_s_probabilities():
    points = torch.tensor([[[0.2, 0.8], [0.5, 0.3], [0.4, 0.6], [0.1, 0.3], [0.9, 0.6]]]).expand(4000, -1, -1)
    torch.manual_seed(0)
    trips = trip_search.drawn_by_distance(points)
    assert trips.sort(dim=1).values.tolist() == [[0, 1, 2, 3, 4]] * 4000
    assert trips[:, 0].tolist() == [0] * 4000
    greedy = (trips == torch.tensor([0, 2, 1, 3, 4])).all(dim=1).float().mean().item()
    assert greedy == pytest.approx(0.859 * 0.667 * 0.731, abs=0.03)


def test_gaps_are_zero_for_the_shortest_trip_alone():
    points = random_points(6, 10, generator(2))
    best, listed = held_karp(points), torch.arange(6).expand(10, -1)
    found = trip_search.gaps(points, torch.stack([best, listed], dim=1))
    assert found[:, 0].max() < 1e-5 < found[:, 1].max()
    assert trip_search.of_best(found) == {"gap": pytest.approx(0, abs=1e-5), "shortest": 1.0}


def test_the_record_has_three_seeds_and_the_weights_of_the_chapter():
    runs = load_result("trip_search")["runs"]
    assert sorted(run["seed"] for run in runs) == [0, 1, 2]
    assert trip_search.trained("ten").embed.weight.isfinite().all()
