"""The experiment that takes times: the same words with and without the cache, and every figure where it belongs."""

import pytest
import torch

from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq, Transformer
from attnruns.experiments import decoding_speed
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few words and few sentences: what is tested is not the machine."""
    monkeypatch.setattr(decoding_speed, "DECODES", {"tiny": (8, 2, (3, 6))})
    monkeypatch.setattr(decoding_speed, "TRAINS", {"recurrent": (3,), "transformer": (3, 4)})
    monkeypatch.setattr(decoding_speed, "WRITTEN", 4)


def test_decoding_has_seconds_by_length_with_and_without_the_cache():
    figures = decoding_speed.run(Job("tiny", 0, 2)).figures
    assert figures.keys() == {"seconds", "cached", "not_cached", "same_words"}
    assert list(figures["cached"]) == list(figures["not_cached"]) == ["3", "6"]
    assert all(seconds >= 0 for kind in ("cached", "not_cached") for seconds in figures[kind].values())


def test_both_ways_of_decoding_write_the_same_words():
    assert decoding_speed.measure_decoding("tiny", 0, 1)["same_words"] is True


def test_other_words_are_noticed(monkeypatch):
    class Careless(decoding_speed.WithoutCache):
        def step(self, token, state):
            logits, state, weights = super().step(token, state)
            return -logits, state, weights

    monkeypatch.setattr(decoding_speed, "WithoutCache", Careless)
    assert decoding_speed.measure_decoding("tiny", 0, 1)["same_words"] is False


@pytest.mark.parametrize(
    "name, kind", [("plain", PlainSeq2Seq), ("attention", AttentionSeq2Seq), ("base", Transformer)]
)
def test_beams_have_seconds_by_width(name, kind):
    assert type(decoding_speed.writer(name)) is kind
    figures = decoding_speed.run(Job(name, 0, 1)).figures
    assert list(figures["by_width"]) == ["1", "2", "4", "8"]


@pytest.mark.parametrize("name, lengths", [("recurrent", ["3"]), ("transformer", ["3", "4"])])
def test_training_has_seconds_by_length_for_each_loss(name, lengths):
    figures = decoding_speed.run(Job(name, 0, 1)).figures
    assert all(list(figures[loss]) == lengths for loss in ("teacher_forcing", "two_pass", "word_by_word"))


def test_a_batch_is_random_words_of_the_length_asked_for_and_the_same_for_a_seed():
    batch = decoding_speed.random_batch(2, 7, 1)
    assert batch.target.shape == (2, 7)
    assert batch.source.min() >= 3  # no word ends or pads a sentence
    assert torch.equal(batch.source, decoding_speed.random_batch(2, 7, 1).source)
    assert not torch.equal(batch.source, decoding_speed.random_batch(2, 7, 2).source)
