"""Of how many strings a copier finds the first letter, at each length."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import begun_by_length, slower_rotation
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_a_run_has_three_shares_of_each_length(tmp_path):
    figures = checked_run(begun_by_length, Job("file", 0, 2), tmp_path, "cpu")
    assert list(figures["lengths"]) == [str(size) for size in range(2, 42, 2)]
    for way in ("lengths", "slowed"):
        assert all(list(of) == ["begun", "exact", "letters"] for of in figures[way].values())


def test_only_the_first_letter_counts_as_a_beginning():
    def model(words):  # writes the first letter of the string at each step
        return torch.eye(26)[words[:, :1].expand_as(words)], []

    names = slower_rotation.file(0, 1) | {"models": {begun_by_length.KIND: model}}
    of = begun_by_length.begun(names, 6)
    assert (of["begun"], of["exact"]) == (1, 0)
    assert of["letters"] == pytest.approx((1 + 5 / 26) / 6, abs=0.03)


def test_the_record_has_three_seeds():
    assert sorted(run["seed"] for run in load_result("begun_by_length")["runs"]) == [0, 1, 2]
