"""Fixed output layers in chapter 14's network: what they are given, what they can name, and what the test measures."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.seeding import generator
from attnruns.experiments import trip_file, trip_heads
from attnruns.results import load_result
from attnruns.shared.runner import Job

FIXED = [name for name, head in trip_heads.HEADS.items() if head is not None]


@pytest.mark.parametrize("name", trip_heads.STEPS)
def test_a_run_trains_the_network_and_tests_what_its_rows_can_name(name, tmp_path):
    tests = checked_run(trip_heads, Job(name, 0, 2), tmp_path, "cpu")["tests"]
    answers = {"pointer": 3, "eight_rows": 3}.get(name, 1)
    assert [of is not None for of in tests.values()] == [True] * answers + [False] * (3 - answers)
    assert all(0 <= share <= 1 for of in tests.values() if of for kind, share in of.items() if kind != "gap")
    if name == "pointer":
        assert all(of["same"] == 1 and of["shortest"] == of["shortest_shuffled"] for of in tests.values())


def test_the_pointer_is_the_file_s_own_and_all_heads_share_its_encoder():
    points, names = random_points(5, 6, generator(1)), trip_file.file(0)
    own = names["TripNetwork"]()
    networks = {name: trip_heads.network_of(trip_file.file(0), name) for name in trip_heads.HEADS}
    with torch.no_grad():
        torch.testing.assert_close(names["answer"](own, points), names["answer"](networks["pointer"], points))
    weights = [network.encoder.layers[0].linear1.weight for network in (own, *networks.values())]
    assert all(torch.equal(weights[0], weight) for weight in weights)


@pytest.mark.parametrize("name", FIXED)
def test_masked_rows_have_no_probability_and_the_others_sum_to_one(name):
    network, points = trip_heads.network_of(trip_file.file(0), name), random_points(5, 6, generator(1))
    with torch.no_grad():
        trips, log_probs = trip_file.file(0)["answer"](network, points)
    assert trips.sort(dim=1).values.tolist() == [[0, 1, 2, 3, 4]] * 6
    torch.testing.assert_close(log_probs.exp().sum(dim=2), torch.ones(6, 4))


@pytest.mark.parametrize("name", FIXED)
def test_only_a_head_that_is_given_positions_can_tell_where_a_city_stands(name):
    network, points = trip_heads.network_of(trip_file.file(0), name), random_points(5, 6, generator(1))
    moved = points[:, [0, 2, 1, 3, 4]]
    with torch.no_grad():
        one, other = (trip_file.file(0)["answer"](network, of)[1][:, 0] for of in (points, moved))
    assert torch.allclose(one, other, atol=1e-5) == (name == "pooled")


def test_a_shuffled_list_has_the_same_cities_and_its_answer_leads_back():
    points = random_points(6, 20, generator(1))
    order, moved = trip_heads.shuffled(points)
    assert bool((order[:, 0] == 0).all())
    assert not torch.equal(points, moved)
    trips = trip_file.file(0)["shortest"](moved)
    torch.testing.assert_close(tour_length(points, order.gather(1, trips)), tour_length(moved, trips))


def test_the_record_has_three_seeds_of_each():
    runs = load_result("trip_heads")["runs"]
    assert {name: sorted(run["seed"] for run in runs if run["model"] == name) for name in trip_heads.STEPS} == {
        name: [0, 1, 2] for name in trip_heads.STEPS
    }
