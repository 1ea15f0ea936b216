"""The file of chapter 14, from labels and from lengths alone: it is the chapter's own, and both trainings change it."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import trip_file
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", trip_file.STEPS)
def test_a_run_trains_the_file_s_network_and_tests_it_before_and_after(name, tmp_path):
    figures = checked_run(trip_file, Job(name, 0, 2), tmp_path, "cpu", kept=name == "lengths")
    assert list(figures["before"]) == list(figures["after"]) == ["5", "8"]
    assert figures["before"] != figures["after"]
    assert 0 <= figures["after"]["5"]["shortest"] <= 1


def test_the_seed_of_the_job_makes_the_network_and_the_tests_leave_the_random_numbers_alone():
    one, other = (trip_file.file(seed)["TripNetwork"]().embed.weight for seed in (0, 1))
    assert not torch.equal(one, other)
    names = trip_file.file(0)
    network = names["TripNetwork"]()
    torch.testing.assert_close(network.embed.weight, one)
    before = torch.get_rng_state()
    trip_file.tested(names, network)
    assert torch.equal(before, torch.get_rng_state())


def test_drawn_trips_visit_each_city_once_and_the_log_probabilities_are_theirs():
    names = trip_file.file(0)
    network, points = names["TripNetwork"](), torch.rand(6, 5, 2)
    with torch.no_grad():
        trips, log_probs = names["answer"](network, points, draw=True)
        _, again = names["answer"](network, points, trips)
    assert trips.sort(dim=1).values.tolist() == [[0, 1, 2, 3, 4]] * 6
    torch.testing.assert_close(log_probs, again)


def test_the_record_has_three_seeds_of_each_and_the_weights_of_the_chapter():
    runs = load_result("trip_file")["runs"]
    assert {name: sorted(run["seed"] for run in runs if run["model"] == name) for name in trip_file.STEPS} == {
        name: [0, 1, 2] for name in trip_file.STEPS
    }
    weight = trip_file.trained("lengths").embed.weight
    assert weight.isfinite().all()


def test_a_trip_shorter_than_the_others_becomes_more_probable(monkeypatch):
    monkeypatch.setattr(trip_file, "DRAWS", 2)
    trips = torch.tensor([[0, 1, 2], [0, 2, 1], [0, 1, 2], [0, 2, 1]])  # two draws for each of two sets of cities
    logits = torch.zeros(4, 2, 3, requires_grad=True)
    trip_file.loss_of_lengths(logits.log_softmax(dim=2), trips, torch.tensor([1.0, 3.0, 5.0, 4.0])).backward()
    change = -logits.grad.gather(2, trips[:, 1:, None])[..., 0]  # (4, 2): by a step down
    assert [[value > 0 for value in row] for row in change.tolist()] == [
        [True] * 2,
        [False] * 2,
        [False] * 2,
        [True] * 2,
    ]
