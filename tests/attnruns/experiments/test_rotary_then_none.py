"""Copiers with rotary positions in the first layer only: what is built, and what a run measures."""

import pytest
from experiment_runs import checked_run

from attnbook.attention import NoPositions, Rotary
from attnruns.experiments import rotary_then_none
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_only_the_first_layer_has_positions():
    layers = rotary_then_none.build().blocks.layers
    assert [type(layer.self_attention.positions) for layer in layers] == [Rotary, NoPositions]
    names, _ = rotary_then_none.file(0, 1)
    assert [layer.rotary for layer in names["models"]["rotary"].layers] == [True, False]
    assert [layer.window for layer in names["models"]["rotary"].layers] == [float("inf")] * 2
    assert [layer.rotary for layer in names["models"]["window"].layers] == [True, False]


@pytest.mark.parametrize("name", rotary_then_none.STEPS)
def test_a_run_copies_each_size(name, tmp_path, monkeypatch):
    monkeypatch.setattr(rotary_then_none, "SIZES", (12, 15))
    figures = checked_run(rotary_then_none, Job(name, 0, 2), tmp_path, "cpu")
    assert set(figures["copied"]) == {"12", "15"}
    assert set(figures["copied"]["15"]) == {"exact", "letters"}


def test_the_record_has_three_seeds_of_each():
    runs = load_result("rotary_then_none")["runs"]
    for name in rotary_then_none.STEPS:
        assert sorted(run["seed"] for run in runs if run["model"] == name) == [0, 1, 2]
