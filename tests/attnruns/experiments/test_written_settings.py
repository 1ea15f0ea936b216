"""The settings between those of `written_texts`, with a tiny model in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnruns.experiments import written_settings, written_texts
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A tiny model, six paragraphs of twelve tokens, and texts of five."""
    tiny_pretrained(monkeypatch, written_settings, ends=(2,))
    text = torch.randint(3, 100, (6, 12), generator=torch.Generator().manual_seed(3)).tolist()
    monkeypatch.setattr(written_texts, "paragraphs", lambda: [" ".join(map(str, row)) for row in text])
    for module in (written_texts, written_settings):
        monkeypatch.setattr(module, "BEGINNING", 3)
        monkeypatch.setattr(module, "LENGTH", 5)


def test_a_run_writes_with_all_settings_and_keeps_no_text(tmp_path):
    found = checked_run(written_settings, Job("texts", 0, 3), tmp_path, "cpu")["by_way"]
    assert found.keys() == written_settings.WAYS.keys()
    assert all(of.keys() == {"nats", "repeated"} and len(of["repeated"]) == 3 for of in found.values())


def test_settings_near_the_author_are_drawn_three_times(tmp_path):
    found = checked_run(written_settings, Job("near", 0, 2), tmp_path, "cpu")["by_way"]
    assert found.keys() == written_settings.NEAR.keys()
    assert all(len(of["repeated"]) == 6 for of in found.values())


def test_no_setting_stands_in_both_records():
    assert not written_settings.WAYS.keys() & written_texts.WAYS.keys()
