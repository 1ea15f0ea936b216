"""Linear regression in context, with few steps and few tests."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.worlds.linear_functions import linear_functions
from attnruns.experiments import linear_in_context
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Small batches and few tests."""
    monkeypatch.setattr(linear_in_context, "TESTS", 20)
    monkeypatch.setitem(linear_in_context.TRAINING, "batch", 4)


@pytest.mark.parametrize("name, best", once_on_the_card(linear_in_context.RECIPES), indirect=["best"])
def test_a_run_trains_and_measures_the_model_of_its_name(name, best, tmp_path):
    figures = checked_run(linear_in_context, Job(name, 0, 2), tmp_path, best, kept=name == "four_layers")
    lengths = {setting: len(errors) for setting, errors in figures["errors"].items()}
    assert lengths == {"as trained": 16, "twice as large": 16, "longer": 32}
    assert ("rules" in figures) == (name == "four_layers")


def test_training_and_test_share_no_sequence():
    steps = [linear_in_context.Lines().batch_at(step, 2, seed).points for step, seed in ((0, 0), (1, 0), (0, 1))]
    assert torch.equal(steps[0], linear_functions(2, 1_000_003).points)
    assert not any(torch.equal(steps[0], other) for other in (*steps[1:], linear_functions(2, 0).points))


def test_the_loss_is_that_of_the_noisy_values():
    batch = linear_functions(3)

    def model(x):
        return torch.ones(3, 16, 1), None

    assert linear_in_context.value_loss(model, batch).item() == pytest.approx(((1 - batch.values) ** 2).mean().item())


def test_errors_are_measured_without_the_noise():
    batch = linear_functions(5)
    assert linear_in_context.errors(batch.true, batch) == [0.0] * 16
    assert max(linear_in_context.errors(batch.values, batch)) > 0.01


def test_ridge_is_the_best_rule_after_some_examples(monkeypatch):
    monkeypatch.setattr(linear_in_context, "TESTS", 500)
    rules = linear_in_context.rule_errors()["as trained"]
    assert min(rules, key=lambda name: rules[name][8]) == "ridge"
