"""Copiers with rotary positions in the first layer only: what is built, and what a run measures."""

from experiment_runs import checked_run

from attnbook.attention import NoPositions, Rotary
from attnruns.experiments import rotary_then_none
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_only_the_first_layer_has_positions():
    layers = rotary_then_none.build().blocks.layers
    assert [type(layer.self_attention.positions) for layer in layers] == [Rotary, NoPositions]


def test_a_run_copies_each_size(tmp_path, monkeypatch):
    monkeypatch.setattr(rotary_then_none, "SIZES", (12, 15))
    figures = checked_run(rotary_then_none, Job("blocks", 0, 2), tmp_path, "cpu")
    assert set(figures["copied"]) == {"12", "15"}
    assert set(figures["copied"]["15"]) == {"exact", "letters"}


def test_the_record_has_three_seeds():
    runs = load_result("rotary_then_none")["runs"]
    assert sorted((run["model"], run["seed"]) for run in runs) == [("blocks", 0), ("blocks", 1), ("blocks", 2)]
