"""The experiment that takes the time of a token, here with a tiny model in the place of SmolLM2."""

import pytest
import torch

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import cache_seconds
from attnruns.shared.runner import Job


def tiny() -> Pretrained:
    torch.manual_seed(0)
    config = TransformerConfig(d_model=16, heads=2, layers=1, max_length=40, positions="rotary")
    return Pretrained(LanguageModel(30, config).eval(), None, ())


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(cache_seconds, "smollm2", tiny)
    for name, value in {"CACHED": (2, 8), "NOT_CACHED": (2, 4), "BEFORE": 3, "TOGETHER": (1, 2)}.items():
        monkeypatch.setattr(cache_seconds, name, value)


@pytest.mark.parametrize("name, keys", [("cached", "2 8"), ("not_cached", "2 4"), ("together", "1 2")])
def test_a_run_takes_the_time_of_each_length_or_number(name, keys):
    figures = cache_seconds.run(Job(name, 0, 1)).figures
    assert figures["device"] == "cpu"
    (seconds,) = (figures[field] for field in figures if field.startswith("by_"))
    assert list(seconds) == keys.split()
    assert min(seconds.values()) >= 0


def test_the_cache_has_the_length_that_is_asked_for_and_what_is_read_comes_after_it():
    model = tiny().model
    state = cache_seconds.cache_of(model, 7)
    assert {part.shape[2] for part in state.past[0]} == {7}
    _, after, _ = model.read(cache_seconds.tokens(model, 3, seed=0), state)
    assert {part.shape[2] for part in after.past[0]} == {10}


def test_without_a_cache_the_call_that_is_timed_answers_as_with_it(monkeypatch):
    monkeypatch.setattr(cache_seconds, "shortest_time", lambda repeats, work, *given: [work(*given)])
    model, words = tiny().model, cache_seconds.tokens(tiny().model, 6, seed=0)
    _, state, _ = model.read(words[:, :5], model.start())
    logits, _, _ = cache_seconds.again_seconds(model, words, 1)
    torch.testing.assert_close(logits, model.read(words[:, 5:], state)[0][:, 0])


@pytest.mark.parametrize("count", [1, 2])
def test_with_a_cache_each_reading_goes_on_behind_the_one_before_and_moves_nothing(count, monkeypatch):
    read = []

    def timed(repeats, work, words, state):
        result = work(words, state)
        read.append((words.shape[1], state.past[0].key.shape[2], result[1].past[0].room is state.past[0].room))
        return 1.0 / len(read), result

    monkeypatch.setattr(cache_seconds, "shortest_time", timed)
    words = cache_seconds.tokens(tiny().model, count, seed=0)
    assert cache_seconds.read_seconds(tiny().model, 7, words, 3) == pytest.approx(1 / 3)  # the shortest
    assert read == [(count, 7 + count * number, True) for number in range(3)]
