"""The experiment on single heads and prose, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnruns.experiments import prose_heads
from attnruns.shared.runner import Job


@pytest.fixture
def tiny(monkeypatch):
    """Three layers of two heads, and short texts."""
    pretrained = tiny_pretrained(monkeypatch, prose_heads)
    for name, value in {"TEXT": 16, "GROUPS": (1, 6)}.items():
        monkeypatch.setattr(prose_heads, name, value)
    return pretrained


@pytest.fixture
def figures(tiny, tmp_path):
    """What is measured on them."""
    return checked_run(prose_heads, Job("heads", 0, 2), tmp_path, "cpu")


def test_a_head_removed_from_its_layer_on_is_removed_from_the_whole_model(tiny):
    texts = torch.arange(24).view(2, 12)
    table = prose_heads.singles(tiny.model, texts)
    for layer, head in ((0, 1), (2, 0)):
        assert table[layer][head] == pytest.approx(prose_heads.nats(tiny.model, texts, [(layer, head)]), abs=2e-4)


def test_each_head_is_removed_once(figures):
    assert [len(row) for row in figures["single"]] == [2, 2, 2]
    assert all(loss != figures["all"] for row in figures["single"] for loss in row)


def test_all_heads_together_are_the_same_whether_chosen_or_drawn(figures):
    together = figures["groups"]["6"]
    assert len(together["drawn"]) == prose_heads.DRAWS
    assert {together["cheapest"], *together["drawn"]} == {together["cheapest"]}
