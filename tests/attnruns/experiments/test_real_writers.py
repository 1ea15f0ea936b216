"""Markers, finders and writers of a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.measure.inside import residuals
from attnruns.experiments import real_model, real_writers
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers of two heads with fixed weights, and a text of 600 tokens."""
    pretrained = tiny_pretrained(monkeypatch, real_writers)
    monkeypatch.setattr(real_model, "PERIOD", 4)
    monkeypatch.setattr(real_writers, "MARKERS", {"1.1": (0, 0), "1.2": (0, 1)})
    for name, value in {"FINDERS": 1, "WRITERS": (1, 2), "BEHIND": 1, "SMALL": 1.1, "DRAWS": 2}.items():
        monkeypatch.setattr(real_writers, name, value)
    return pretrained


@pytest.mark.parametrize("name", list(real_writers.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_writers, Job(name, 0, 2), tmp_path, "cpu")["seconds"] >= 0


def test_writers_stand_behind_the_finders_and_the_best_come_first():
    figures = real_writers.run(Job("removed", 1, 2)).figures
    assert len(figures["writers"]) == 2
    assert all(layer >= 1 for layer, _ in figures["writers"])
    assert figures["copying"] == sorted(figures["copying"], reverse=True)
    assert set(figures["without"]) == {"1.1", "1.2", "both", "finders", "writers 1", "writers 2"}
    assert len(figures["controls"]) == 2


def test_a_head_with_a_large_score_of_one_kind_is_no_control(monkeypatch):
    monkeypatch.setattr(real_writers, "SMALL", 0.1)
    copies = torch.tensor([[0.9, 0.0], [0.05, 0.5], [0.02, 0.0]])
    matched = torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.3, 0.01]])
    late, others = real_writers.late_heads(copies, matched)
    assert late == [(1, 1), (1, 0), (2, 0), (2, 1)]
    assert others == [(1, 0), (2, 1)]


def test_the_same_draw_twice_and_none_twice_in_it():
    among = [(layer, head) for layer in range(5) for head in range(4)]
    assert real_writers.drawn(among, 6, 3) == real_writers.drawn(among, 6, 3)
    assert len(set(real_writers.drawn(among, 6, 3))) == 6
    assert real_writers.drawn(among, 6, 3) != real_writers.drawn(among, 6, 4)


def test_each_ratio_is_the_first_length_over_the_mean_of_the_later_ones(tiny):
    ratios = torch.tensor(real_writers.run(Job("lengths", 0, 2)).figures["ratios"])
    assert ratios.shape == (2, 4)
    text = real_model.text_tokens(tiny)[:100].view(1, 100)
    sizes = residuals(tiny.model, text)[2].norm(dim=-1)[0]
    assert ratios[0, 2].item() == pytest.approx((sizes[0] / sizes[16:].mean()).item(), abs=1e-3)
