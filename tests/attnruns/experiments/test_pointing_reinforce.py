"""Labels beside lengths alone: the same network, the same measures, and trainings that go on."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.models.pointer import pointer_loss
from attnbook.training.rollout import RolloutLoss, RolloutPolicy
from attnruns.experiments import pointing_reinforce
from attnruns.shared import resume
from attnruns.shared.runner import Job


@pytest.fixture
def small(monkeypatch, few_tours):
    """Six cities, a small network, and all files in a folder of the test's own."""
    wanted = {"CITIES": 6, "BATCH": 8, "HIDDEN": 16, "TESTS": 5, "HELD_OUT": 20, "EVERY": 2}
    for name, value in wanted.items():
        monkeypatch.setattr(pointing_reinforce, name, value)
    monkeypatch.setattr(resume, "CHECKPOINTS", few_tours / "checkpoints")
    return few_tours


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["reinforce", "labels"]), indirect=["best"])
def test_a_run_trains_the_network_and_measures_it(name, small, best):
    figures = checked_run(pointing_reinforce, Job(name, 0, 4), small, best, kept=True)
    assert len(figures["lengths_while_training"]) == 2
    assert {"gap", "gap_beam", "gap_two_opt", "gap_nearest_neighbour", "length_optimal"} <= figures.keys()
    assert not list((small / "checkpoints").iterdir())


def test_with_labels_it_learns_from_trips_and_without_from_their_lengths(small):
    policy = pointing_reinforce.build("labels")
    model, told = pointing_reinforce.training_of(pointing_reinforce.RECIPES["labels"], policy, 0)
    assert model is policy
    assert told["loss"] is pointer_loss
    assert told["batch_at"](0).target.shape == (8, 6)
    model, told = pointing_reinforce.training_of(pointing_reinforce.RECIPES["reinforce"], policy, 0)
    assert isinstance(model, RolloutPolicy)
    assert isinstance(told["loss"], RolloutLoss)
    batch, same, other = told["batch_at"](3), told["batch_at"](3), told["batch_at"](4)
    assert (batch.target == 0).all()
    assert torch.equal(batch.source, same.source)
    assert not torch.equal(batch.source, other.source)
