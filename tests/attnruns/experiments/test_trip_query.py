"""The query of chapter 14's file with one more part: the file itself otherwise, and tests that lead it astray."""

from functools import partial

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.seeding import generator
from attnruns.experiments import trip_file, trip_query
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", trip_query.STEPS)
def test_a_run_trains_the_network_and_tests_whole_and_led_trips(name, tmp_path):
    figures = checked_run(trip_query, Job(name, 0, 2), tmp_path, "cpu", kept=name.endswith("remaining"))
    for of in (figures["whole"], figures["led"]):
        assert list(of) == ["5", "6", "7", "8"]
        assert all(0 <= each["best"] <= 1 and each["gap"] >= -1e-4 for each in of.values())


def test_the_plain_query_is_the_file_s_own():
    points, answers = random_points(5, 6, generator(1)), []
    for file in (partial(trip_query.file, "plain"), trip_file.file):
        names = file(0)
        network = names["TripNetwork"]()
        with torch.no_grad():
            answers.append(names["answer"](network, points))
    torch.testing.assert_close(*answers)


def test_only_the_query_of_what_remains_tells_histories_with_the_same_last_city_apart():
    points = torch.tensor([[[0.2, 0.8], [0.5, 0.3], [0.4, 0.6], [0.1, 0.3], [0.9, 0.6]]])
    for query in trip_query.ADDED:
        names = trip_query.file(query, 0)
        network, odds = names["TripNetwork"](), []
        for begun in ([[0, 2]], [[0, 3, 2]]):
            with torch.no_grad():
                log_p = names["answer"](network, points, torch.tensor(begun))[1][0, len(begun[0]) - 1]
            odds.append((log_p[4] - log_p[1]).item())
        assert (abs(odds[0] - odds[1]) < 1e-5) == (query != "remaining")


def test_the_best_end_of_a_led_trip_is_never_shorter_than_the_shortest_trip_and_keeps_its_beginning():
    points = random_points(6, 30, generator(1))
    begun, best = trip_query.misled(points, 2)
    assert torch.equal(best[:, :3], begun)
    assert best.sort(dim=1).values.tolist() == [list(range(6))] * 30
    shortest = trip_query.file("plain", 0)["shortest"](points)
    assert bool((tour_length(points, best) > tour_length(points, shortest) - 1e-4).all())


def test_the_record_has_three_seeds_of_each():
    runs = load_result("trip_query")["runs"]
    assert {name: sorted(run["seed"] for run in runs if run["model"] == name) for name in trip_query.STEPS} == {
        name: [0, 1, 2] for name in trip_query.STEPS
    }
