"""Exchanged paths, names and skipped positions of a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.attention.positions import Rotary
from attnbook.measure.inside import attentions_of
from attnruns.experiments import real_model, real_paths
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers of two heads with rotary positions, fixed weights, and a text of 600 tokens."""
    pretrained = tiny_pretrained(monkeypatch, real_paths, positions="rotary")
    for module in (real_model, real_paths):
        monkeypatch.setattr(module, "PERIOD", 4)
    markers = {"17.1": (0, 0), "18.9": (0, 1), "12.2": (0, 1)}
    for name, value in {
        "MARKERS": markers,
        "SHOWN": {"2.1": (1, 0), "24.3": (2, 1)},
        "FINDERS": 1,
        "BEHIND": 2,
    }.items():
        monkeypatch.setattr(real_paths, name, value)
    monkeypatch.setattr(real_paths, "DRAWS", 1)
    monkeypatch.setattr(real_paths, "GAPS", (0, 5))
    monkeypatch.setattr(real_paths, "FRAME", "1 2 {0} 3 {0} 4")
    monkeypatch.setattr(real_paths, "NAMES", ("7 8", "9 10 11"))
    return pretrained


@pytest.mark.parametrize("name", list(real_paths.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_paths, Job(name, 0, 2), tmp_path, "cpu")["seconds"] >= 0


def test_a_name_has_one_number_per_token_each_time():
    found = real_paths.run(Job("names", 0, 2)).figures["names"]
    assert [len(found[name]["first"]) for name in ("7 8", "9 10 11")] == [2, 3]
    assert all(len(of["second"]) == len(of["without"]["finders"]) == len(of["controls"][0]) for of in found.values())


def test_positions_are_skipped_inside_the_block_only(tiny):
    words = torch.arange(8)[None]
    usual, _ = tiny.model(words)
    with real_paths.skipped(tiny.model, 0):
        torch.testing.assert_close(tiny.model(words)[0], usual)
    with real_paths.skipped(tiny.model, 50):
        moved, _ = tiny.model(words)
    torch.testing.assert_close(moved[:, :4], usual[:, :4])
    assert (moved[:, 4:] - usual[:, 4:]).abs().max() > 1e-3
    assert all(type(attention.positions) is Rotary for attention in attentions_of(tiny.model))


def test_an_exchange_into_no_reader_leaves_the_usual_figures():
    figures = real_paths.run(Job("paths", 1, 2)).figures
    assert set(figures["onwards"]) == {"queries", "keys", "values", "feed_forward", "output"}
    assert figures["usual"]["matched"]["2.1"] == figures["onwards"]["queries"]["matched"]["2.1"]
