"""The experiment on lists at several distances, with a tiny model in the place of SmolLM2."""

import pytest
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_caches

from attnruns.experiments import cache_distances
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(cache_distances, "BACK", (20, 100))
    return tiny_for_caches(monkeypatch, cache_distances)


def test_a_run_asks_for_the_list_at_every_distance(tmp_path):
    figures = checked_run(cache_distances, Job("windows", 0, 128), tmp_path, "cpu")
    assert list(figures["by_distance"]) == [20, 100]
    for found in figures["by_distance"].values():
        assert all(2 <= word <= 8 for word in found["copied"] + found["another"])


def test_only_the_distance_of_the_list_differs(monkeypatch):
    seen = []
    monkeypatch.setattr(cache_distances, "loss_and_copied", lambda model, text, way: seen.append(text) or ([], [], []))
    cache_distances.run(Job("full", 0, 128))
    for text, back in zip(seen, (20, 100), strict=True):
        assert text.shape == (1, 136)
        assert text[0, 128 - back : 136 - back].tolist() == text[0, -8:].tolist()
