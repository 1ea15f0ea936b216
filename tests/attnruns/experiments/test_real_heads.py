"""The experiment on heads and sinks of a real model, with a tiny one in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnruns.experiments import real_heads, real_model
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers of two heads with fixed weights, a text of 600 tokens, short windows."""
    pretrained = tiny_pretrained(monkeypatch, real_heads)
    for name, value in {"PERIOD": 4, "TEXT": 16}.items():
        monkeypatch.setattr(real_model, name, value)
    for name, value in {"RECEIVERS": (1, 2), "GROUPS": (1, 2), "CONTROLS": 2, "SHORT": 40, "WINDOW": 8}.items():
        monkeypatch.setattr(real_heads, name, value)
    return pretrained


@pytest.mark.parametrize("name", list(real_heads.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_heads, Job(name, 0, 2), tmp_path, "cpu")["seconds"] >= 0


def test_each_earlier_head_is_left_out_of_the_keys_once():
    figures = real_heads.run(Job("composition", 0, 2)).figures
    for layer in (1, 2):
        assert torch.tensor(figures[str(layer)]["all"]).shape == (2,)
        assert torch.tensor(figures[str(layer)]["without"]).shape == (layer, 2, 2)  # earlier layer, its head, receiver


def test_without_any_head_both_kinds_of_ablation_are_the_whole_model():
    figures = real_heads.run(Job("means", 0, 2)).figures
    assert figures["all"]["zero"] == figures["all"]["mean"]
    assert len(figures["controls"]) == 2


def test_the_texts_first_token_is_one_case_of_several():
    figures = real_heads.run(Job("first_tokens", 0, 2)).figures["by_first"]
    assert list(figures) == ["its own", *real_heads.FIRST]
    assert all(0 <= case["share"] <= 1 for case in figures.values())


def test_other_positions_are_tried_as_sinks_on_every_text():
    figures = real_heads.run(Job("other_sinks", 0, 2)).figures["nats"]
    assert list(figures) == ["all", "window", "first four", "four others"]
    assert {len(losses) for losses in figures.values()} == {2}
