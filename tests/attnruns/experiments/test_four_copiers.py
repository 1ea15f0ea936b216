"""The four copiers of a chapter's file: what is read of a first layer, and what a run measures."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import four_copiers, slower_rotation
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("back", [0, 1, 7])
def test_near_weights_are_those_of_the_string(back):
    weights = torch.zeros(2, 3, 24, 24)
    weights[:, 1] = torch.eye(24)
    rows = torch.arange(back, 12)
    weights[:, 0, rows, rows - back] = 1.0  # in the string; the rows of the copy look nowhere
    weights[:, 0, :7] = torch.eye(24)[:7]  # the first seven queries look at themselves, and do not count
    found = four_copiers.near(weights, 12)
    assert found[0] == [float(distance == back) for distance in range(8)]
    assert found[1] == [1.0] + [0.0] * 7


def test_the_file_has_the_four_kinds():
    names = slower_rotation.file(0, 1)
    assert tuple(names["models"]) == four_copiers.KINDS
    for kind, model in names["models"].items():
        first, second = kind.split(", ")
        assert [layer.window for layer in model.layers] == [4 if first == "window" else float("inf"), float("inf")]
        assert [layer.rotary for layer in model.layers] == [True, second == "rotary"]


def test_a_run_copies_and_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(four_copiers, "SIZES", (12, 15))
    figures = checked_run(four_copiers, Job("file", 0, 2), tmp_path, "cpu")
    assert list(figures["copied"]) == list(four_copiers.KINDS)
    assert all(list(sizes) == ["12", "15"] for sizes in figures["copied"].values())
    for way in ("trained", "both"):
        assert [len(head) for head in figures["first_layer"][way]] == [four_copiers.NEAR] * 4


def test_the_record_has_three_seeds_within_ten_points_of_the_older_record():
    runs = load_result("four_copiers")["runs"]
    assert sorted(run["seed"] for run in runs) == [0, 1, 2]
    older = {run["seed"]: run for run in load_result("slower_rotation")["runs"] if run["model"] == "file"}
    for run in runs:
        for kind, way in (("rotary, rotary", "trained"), ("window, none", "window")):
            for size in ("12", "24"):
                assert run["copied"][kind][size]["exact"] == pytest.approx(
                    older[run["seed"]][way][size]["exact"], abs=0.1
                )
