"""Pointer and fixed layer on lists of several sizes: the same batches, what can be answered, and what is measured."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import held_karp
from attnbook.seeding import generator
from attnruns.experiments import trip_file, trip_sizes
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", trip_sizes.STEPS)
def test_a_run_trains_and_tests_what_the_head_can_name(name, tmp_path):
    tests = checked_run(trip_sizes, Job(name, 0, 4), tmp_path, "cpu", kept=name not in trip_sizes.ONE_SIZE)["tests"]
    assert [size for size, of in tests.items() if of] == [
        str(n) for n in trip_sizes.TESTED if name != "fixed" or n <= 8
    ]
    assert all(of["same"] == 1 for of in tests.values() if of and name != "fixed")


def test_both_networks_have_the_same_batches_of_all_sizes(monkeypatch):
    seen = {}
    for name in ("pointer", "fixed"):
        names, of_one = trip_file.file(0), seen.setdefault(name, [])
        answer = names["answer"]
        names["answer"] = lambda network, points, target, answer=answer, of_one=of_one: (
            of_one.append(points),
            answer(network, points, target),
        )[1]
        trip_sizes.train_on_sizes(names, trip_sizes.build(name), 4, seed=0)
    assert [points.shape[1] for points in seen["pointer"]] == list(trip_sizes.SIZES)
    assert all(torch.equal(*pair) for pair in zip(*seen.values(), strict=True))


@pytest.mark.parametrize(("name", "cities"), [("five_longer", 5), ("ten", 10)])
def test_a_control_sees_one_size_only(name, cities, monkeypatch):
    seen = []
    monkeypatch.setattr(trip_sizes, "held_karp", lambda points: (seen.append(points.shape[1]), held_karp(points))[1])
    monkeypatch.setattr(trip_sizes, "tested", lambda names, network: {})
    monkeypatch.setattr(trip_sizes, "nearest_first", dict)
    trip_sizes.run(Job(name, 0, 3))
    assert seen == [cities] * 3


def test_the_shortest_trips_are_measured_as_shortest_and_the_same():
    points = random_points(6, 20, generator(1))
    best = held_karp(points)
    assert trip_sizes.measured(points, best, best) == {"shortest": 1, "same": 1, "gap": 0}
    worse = trip_sizes.measured(points, best[:, [0, 2, 1, 3, 4, 5]], best)
    assert worse["gap"] > 0.01
    assert worse["same"] == 0


def test_the_record_has_three_seeds_of_each_and_the_seed_0_weights():
    runs = load_result("trip_sizes")["runs"]
    assert {name: sorted(run["seed"] for run in runs if run["model"] == name) for name in trip_sizes.STEPS} == {
        name: [0, 1, 2] for name in trip_sizes.STEPS
    }
    assert trip_sizes.trained("five").pointer.W_q.weight.shape == (64, 192)
