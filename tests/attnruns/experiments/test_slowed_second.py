"""The copiers whose second layer alone is slowed, and the strings that two letters do not find."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import slowed_second, slower_rotation
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_a_run_reads_two_copiers_slowed_and_one_by_pairs(tmp_path):
    figures = checked_run(slowed_second, Job("file", 0, 2), tmp_path, "cpu")
    assert list(figures["slowed"]) == list(slowed_second.KINDS)
    for scales in figures["slowed"].values():
        assert list(scales) == ["1.0", "0.5", "0.4"]
    assert set(figures["by_pairs"]) == {"strings", "twice", "once"}


def test_only_the_second_layer_is_slowed():
    names = slower_rotation.file(0, 1, slower_rotation.FOUR)
    seen = []
    layers = [layer for kind in slowed_second.KINDS for layer in names["models"][kind].layers]
    for layer in layers:
        layer.register_forward_pre_hook(lambda layer, _: seen.append(layer.scale.unique().item()))
    slowed_second.slowed(names)
    assert seen == pytest.approx([1, 1, 1, 0.5, 1, 0.4] * 2)
    assert all(layer.scale == 1 for layer in layers)


def test_strings_are_kept_apart_by_their_pairs():
    twice = torch.tensor([[0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]).bool()
    right = torch.tensor([[1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]).bool()
    assert slowed_second.by_pairs(right, twice) == {"strings": 0.5, "twice": 0.5, "once": 1.0}


def test_the_record_has_three_seeds():
    assert sorted(run["seed"] for run in load_result("slowed_second")["runs"]) == [0, 1, 2]
