"""Chapter 6's file with other baselines: its parts are the file's, and what is measured leaves the training alone."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import hard_attention
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def file():
    return hard_attention.names_of(0)


@pytest.fixture
def model(file):
    torch.manual_seed(4)
    return file["Captioner"](file["feature_map"]())


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(hard_attention, "TESTS", 20)
    monkeypatch.setattr(hard_attention, "REPEATS", 2)


def test_the_loss_with_leave_one_out_is_that_of_the_file(file, model):
    found = []
    for loss in (file["hard_loss"], hard_attention.HardLoss(file, "leave_one_out")):
        torch.manual_seed(5)
        found.append(torch.autograd.grad(loss(model), [*model.parameters()]))
    torch.testing.assert_close(*found)
    plain = [lambda model: file["hard_loss"](model, baseline=False), hard_attention.HardLoss(file, "none")]
    values = []
    for loss in plain:
        torch.manual_seed(5)
        values.append(loss(model))
    torch.testing.assert_close(*values)


def test_the_moving_baseline_comes_from_earlier_batches_only(file, model):
    loss, none = (hard_attention.HardLoss(file, name) for name in ("moving", "none"))
    values = []
    for each in (loss, none):
        torch.manual_seed(5)
        values.append(each(model).item())
    assert values[0] == values[1]  # nothing has been seen before the first batch
    first = loss.moving.clone()
    loss(model)
    assert (first < 0).all()
    assert (loss.moving < first).all()


def test_baselines_of_two_draws():
    rewards = torch.tensor([[[-3.0, -1.0, -2.0]], [[-1.0, -5.0, -2.0]]])  # (2, 1, 3)
    found = hard_attention.baselines(rewards, torch.full((3,), -7.0))
    assert found["leave_one_out"].tolist() == rewards.flip(0).tolist()
    assert found["none"].tolist() == [0, 0, 0]
    assert found["moving"].tolist() == [-7, -7, -7]


def test_the_spread_of_gradients():
    found = hard_attention.spread([torch.tensor([1.0, 0.0]), torch.tensor([3.0, 0.0])])
    assert found == {"variance": 2.0, "signal": 4.0 - 1.0}


def test_measuring_leaves_the_random_numbers_and_the_parameters_alone(file, model):
    torch.manual_seed(6)
    before, parameters = torch.get_rng_state(), [p.clone() for p in model.parameters()]
    found = hard_attention.measured(file, model, "moving", 50)
    assert torch.equal(before, torch.get_rng_state())
    torch.testing.assert_close(parameters, [*model.parameters()])
    assert all(p.grad is None for p in model.parameters())
    assert set(found) == {"step", "exact", "pointing", "relation", "none", "moving", "leave_one_out"}


@pytest.mark.parametrize("name", hard_attention.STEPS)
def test_a_run_is_measured_at_its_points_and_at_its_end(name, tmp_path):
    figures = checked_run(hard_attention, Job(name, 1, 2), tmp_path, "cpu")
    assert [point["step"] for point in figures["curve"]] == [0, 2]
    assert ("drawn" in figures) == (name != "soft")


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match="there is: soft"):
        hard_attention.run(Job("nothing", 0, 1))
