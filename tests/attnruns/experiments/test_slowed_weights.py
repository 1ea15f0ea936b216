"""Weights of the second layer of a model that is read with slower rotation: what is counted, and that it stays."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import slowed_weights, slower_rotation
from attnruns.experiments.slower_rotation import scales_of
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("shift, expected", [(0, (1.0, 0.0)), (1, (0.0, 1.0))])
def test_the_right_position_and_the_one_behind_it_are_counted(shift, expected):
    weights = torch.zeros(1, 1, 30, 30)
    rows = torch.arange(15, 30)
    weights[0, 0, rows, rows - 15 + shift] = 1.0
    found = slowed_weights.shares(weights)
    assert (found["right"], found["next"]) == expected
    assert found["rewarded"] == 0  # 15 or 14 back


def test_rewarded_distances_are_two_to_twelve():
    weights = torch.full((1, 1, 30, 30), 1.0).tril()
    assert slowed_weights.shares(weights)["rewarded"] == 11


def test_weights_by_distance_are_means_over_the_rows_of_the_copy():
    weights = torch.zeros(2, 1, 6, 6)
    weights[:, :, range(3, 6), range(3)] = 0.75  # three back
    weights[:, :, range(3, 6), range(3, 6)] = 0.25
    weights[0, 0, 5, 0], weights[0, 0, 5, 2] = 0.75, 0.0  # one of six rows attends five back instead
    assert slowed_weights.by_distance(weights) == [0.25, 0, 0, 0.625, 0, 0.125]


def test_distances_are_read_at_the_trained_length_and_at_twice_it():
    names = slower_rotation.file(0, 1)
    found = {way: slowed_weights.distances_of(names, way) for way in slowed_weights.READ}
    assert {way: {n: len(of) for n, of in lengths.items()} for way, lengths in found.items()} == {
        "trained": {"12": 24, "24": 48}, "second": {"24": 48}, "both": {"24": 48}, "window": {"12": 24, "24": 48},
    }  # fmt: skip
    assert all(abs(sum(of) - 1) < 0.005 for lengths in found.values() for of in lengths.values())
    weights = slowed_weights.read_in(names, names["models"]["rotary, rotary"], scales_of("second", 24))
    assert found["second"]["24"] == slowed_weights.by_distance(weights)


def test_a_model_is_read_by_scales_and_then_as_before():
    names = slower_rotation.file(0, 1)
    model = names["models"]["rotary, rotary"]
    before, state = slowed_weights.read_in(names, model, scales_of("trained", 24)), torch.get_rng_state()
    assert before.shape == (400, 4, 48, 48)
    assert not torch.allclose(slowed_weights.read_in(names, model, scales_of("both", 24)), before)
    assert torch.equal(slowed_weights.read_in(names, model, scales_of("trained", 24)), before)
    assert [layer.scale for layer in model.layers] == [1.0, 1.0]
    assert torch.equal(torch.get_rng_state(), state)


def test_a_run_measures_each_way(tmp_path):
    figures = checked_run(slowed_weights, Job("file", 0, 2), tmp_path, "cpu")
    for way in (*slowed_weights.WAYS, "window"):
        assert set(figures[way]) == {"right", "next", "rewarded"}
        if way in figures["distances"]:
            assert figures["distances"][way]["24"][24] == pytest.approx(figures[way]["right"], abs=1e-4)


def test_the_record_has_three_seeds():
    runs = load_result("slowed_weights")["runs"]
    assert sorted(run["seed"] for run in runs) == [0, 1, 2]
    assert all(set(run["distances"]) == set(slowed_weights.READ) for run in runs)
