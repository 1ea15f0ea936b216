"""The plain sum in place of attention: it has no weights, and its network gives a logit per colour at one position."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import summed_shapes
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_each_position_receives_the_same_sum_wherever_the_values_lie():
    layer, x = summed_shapes.PlainSum(8), torch.randn(2, 8, 3, 3)
    moved = x.flatten(2)[:, :, torch.randperm(9)].unflatten(2, (3, 3))
    received, other = layer(x) - x, layer(moved) - moved
    torch.testing.assert_close(received, received[:, :, :1, :1].expand_as(received))
    torch.testing.assert_close(received, other)


@pytest.mark.parametrize("name", summed_shapes.STEPS)
def test_a_network_gives_a_logit_per_colour(name):
    file, recipe = summed_shapes.file_names(0), summed_shapes.RECIPES[name]
    mix = summed_shapes.PlainSum if recipe.summed else file["quick_attention"]
    model = summed_shapes.OnePosition(mix, recipe, file["P"])
    images, positions, _ = file["pictures"](3)
    assert model(images, positions[:, 0]).shape == (3, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", summed_shapes.STEPS)
def test_a_run_tests_the_trained_network_by_distance(name, tmp_path):
    figures = checked_run(summed_shapes, Job(name, 1, 2), tmp_path, "cpu")
    assert list(figures["right"]) == ["2"]
    assert list(figures["by_distance"]) == [*"12345"]


def test_the_record_has_three_seeds_of_each():
    runs = load_result("summed_shapes")["runs"]
    assert sorted((run["model"], run["seed"]) for run in runs) == [
        (name, seed) for name in sorted(summed_shapes.STEPS) for seed in (0, 1, 2)
    ]
    assert all(run["steps"] == summed_shapes.STEPS[run["model"]] for run in runs)
