"""The experiment that takes the time of many texts' next tokens, here with a tiny model in the place of SmolLM2."""

import pytest
import torch

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import batch_seconds, cache_seconds
from attnruns.shared.runner import Job


def tiny() -> Pretrained:
    torch.manual_seed(0)
    config = TransformerConfig(d_model=16, heads=2, layers=1, max_length=40, positions="rotary")
    return Pretrained(LanguageModel(30, config).eval(), None, ())


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(batch_seconds, "smollm2", tiny)
    for name, value in {"TEXTS": (1, 3), "BEFORE": (2, 8), "READ": 20, "MULTIPLIED": 10}.items():
        monkeypatch.setattr(batch_seconds, name, value)


def test_a_run_takes_the_time_for_each_length_and_each_number_of_texts(monkeypatch):
    monkeypatch.setattr(cache_seconds, "shortest_time", lambda repeats, work, *given: (0.25, work(*given)))
    figures = batch_seconds.run(Job("passes", 0, 1)).figures
    assert figures["device"] == "cpu"
    assert figures["by_before"] == {length: {"1": 0.25, "3": 0.25} for length in ("2", "8")}


def test_the_speeds_are_bytes_and_operations_over_seconds(monkeypatch):
    monkeypatch.setattr(batch_seconds, "shortest_time", lambda repeats, work, *given: (0.5, work(*given)))
    per_second = batch_seconds.run(Job("speeds", 0, 3)).figures["per_second"]
    assert per_second == {"bytes": 4 * 20 * 20 / 0.5, "operations": 2 * 10**3 / 0.5}


def test_each_text_has_a_cache_of_its_own_with_the_length_that_is_asked_for():
    keys = cache_seconds.cache_of(tiny().model, 7, texts=3).past[0].key
    assert keys.shape[:3] == (3, 2, 7)
    assert keys.stride(0) == keys[0].numel()  # not one in three places


def test_each_pass_goes_on_behind_the_one_before_and_moves_nothing(monkeypatch):
    read = []

    def timed(repeats, work, words, state):
        result = work(words, state)
        read.append((tuple(words.shape), state.past[0].key.shape[2], result[1].past[0].room is state.past[0].room))
        return 1.0 / len(read), result

    monkeypatch.setattr(cache_seconds, "shortest_time", timed)
    words = cache_seconds.tokens(tiny().model, 4, seed=0).mT  # (4, 1)
    assert cache_seconds.read_seconds(tiny().model, 7, words, 3) == pytest.approx(1 / 3)  # the shortest
    assert read == [((4, 1), 7 + number, True) for number in range(3)]
