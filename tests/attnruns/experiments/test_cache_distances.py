"""The experiment on lists at several distances, with a tiny model in the place of SmolLM2."""

import pytest
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnruns.experiments import cache_distances, smaller_caches
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers with fixed weights, and texts of 128 tokens before a list of eight words."""
    pretrained = tiny_pretrained(monkeypatch, cache_distances, ends=(2,), d_model=32, d_ff=64)
    monkeypatch.setattr(smaller_caches, "text_tokens", lambda found: cache_distances_tokens(found))
    monkeypatch.setattr(smaller_caches, "common_words", lambda found: list(range(3, 30)))
    for name, value in {"BEGINNING": 4, "WORDS": 8, "SCORED": 20}.items():
        monkeypatch.setattr(smaller_caches, name, value)
    monkeypatch.setattr(cache_distances, "BACK", (20, 100))
    return pretrained
