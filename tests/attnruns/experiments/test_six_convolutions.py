"""Six convolutions in the chapter's painter reach every position of its pictures."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import six_convolutions
from attnruns.experiments.summed_shapes import file_names
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_a_corner_depends_on_the_opposite_one():
    layer, x = six_convolutions.deep(file_names(0), 8), torch.randn(1, 8, 6, 6, requires_grad=True)
    layer(x)[0, :, 0, 0].sum().backward()
    assert x.grad[0, :, 5, 5].abs().max() > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", six_convolutions.RATES)
def test_a_run_tests_the_trained_network_by_distance(name, tmp_path):
    figures = checked_run(six_convolutions, Job(name, 1, 2), tmp_path, "cpu")
    assert list(figures["by_distance"]) == [*"12345"]


def test_the_record_has_three_seeds_at_the_rate_of_the_file():
    runs = load_result("six_convolutions")["runs"]
    assert [run["seed"] for run in runs if run["model"] == "rate_of_the_file"] == [0, 1, 2]
    assert all(run["steps"] == six_convolutions.STEPS for run in runs)
