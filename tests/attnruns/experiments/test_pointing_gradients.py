"""The experiment on the scatter of gradients, in miniature."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.models.pointer import greedy_pointer_decode
from attnbook.seeding import generator
from attnruns.experiments import pointing_gradients
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Six cities, two sets, and two trips of each."""
    names = pointing_gradients.BASELINES
    small = {"CITIES": 6, "FIXED": 2, "DRAWS": 2, "TRIPS": ((4, 1, names[1:3]), (2, 2, names[2:]))}
    for name, value in small.items():
        monkeypatch.setattr(pointing_gradients, name, value)


@pytest.mark.parametrize("stage", ["untrained", "trained"])
def test_a_run_measures_each_baseline_on_fixed_and_on_new_sets(stage, tmp_path):
    figures = checked_run(pointing_gradients, Job(stage, 0, 2), tmp_path, "cpu")
    assert tuple(figures["fixed"]) == pointing_gradients.BASELINES
    assert figures["fixed"]["none"][1] == 1  # every trip is longer than nothing
    assert list(figures["new"]) == ["4", "2"]
    assert all(scatter > 0 for of in figures["new"].values() for scatter in of.values())


def test_equal_estimates_do_not_scatter():
    assert pointing_gradients.scatter_of(torch.ones(3, 5)) == 0
    assert pointing_gradients.scatter_of(torch.tensor([[0.0, 0.0], [2.0, 4.0]])) == pytest.approx(10**0.5, abs=1e-4)


def test_the_encoder_runs_once_and_afterwards_as_before():
    network, sets = pointing_gradients.network_at("untrained"), random_points(6, 3, generator(0))
    usual = greedy_pointer_decode(network, sets).tokens
    with pointing_gradients.reading_once(network, sets):
        assert "forward" in vars(network.encoder)
        assert torch.equal(greedy_pointer_decode(network, sets).tokens, usual)
    assert "forward" not in vars(network.encoder)
    _, _, greedy = pointing_gradients.lengths_of(network, sets, 2, generator(1))
    assert torch.allclose(greedy, tour_length(sets, usual).repeat_interleave(2))
