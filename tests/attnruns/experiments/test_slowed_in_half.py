"""Near copies of chapter 05 that learn in small steps in one half of the training, and in full steps in the other."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import depth_controls, residual_sides, slowed_in_half
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(slowed_in_half.RECIPES), indirect=["best"])
def test_each_translator_is_trained_and_measured(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(depth_controls, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(slowed_in_half, Job(name, 0, 2), tmp_path, best)
    assert len(figures["exact_match"]) == 1


@pytest.mark.parametrize("factors", [(0.1, 1.0), (1.0, 0.1)])
def test_the_rate_of_some_parameters_changes_after_some_steps(factors):
    slow, other = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    optimiser = slowed_in_half.Switched([slow, other], slow=[slow], factors=factors, after=2)
    for group in optimiser.param_groups:
        group["weight_decay"] = 0.0
    moved = []
    for _ in range(4):
        before = slow.item(), other.item()
        slow.grad, other.grad = torch.ones(1), torch.ones(1)
        optimiser.step()
        moved.append((slow.item() - before[0]) / (other.item() - before[1]))
    assert moved == pytest.approx([factors[0]] * 2 + [factors[1]] * 2, rel=1e-4)


def test_an_unknown_half_is_refused():
    with pytest.raises(ValueError, match="half"):
        slowed_in_half.Recipe(half="third")
