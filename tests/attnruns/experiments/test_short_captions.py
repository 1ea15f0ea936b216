"""Small translators of short captions: neighbours differ in one part, and only short captions are read."""

import pytest

from attnbook.data.texts.translation import own_translation_task
from attnruns.experiments import short_captions
from attnruns.shared.runner import Job


@pytest.fixture
def few(monkeypatch):
    """The book's own sentences in place of the captions."""
    data = own_translation_task()
    monkeypatch.setattr(short_captions, "task", lambda: data)
    return data


@pytest.mark.parametrize("name", ["plain", "luong"])
def test_a_run_trains_a_translator_and_counts_in_each_translation(name, few):
    figures = short_captions.run(Job(name, 0, 2)).figures
    assert figures["device"] == "cpu"
    assert len(figures["losses"]) == 2
    assert 0 < figures["validation_loss"] < 10
    assert len(figures["test"]["bleu_counts"]) == len(few.tests["test"])
    assert all(len(row.split()) == 10 for row in figures["test"]["bleu_counts"])
    again = short_captions.run(Job(name, 0, 2)).figures
    assert again["losses"] == figures["losses"]
    assert again["test"] == figures["test"]


def test_two_directions_and_attention_make_four_models():
    with_directions = {}
    for name in ("plain", "plain_both_ways", "attention", "attention_both_ways"):
        model = short_captions.RECIPES[name].build((50, 60))
        with_directions[name] = (hasattr(model, "score"), model.encoder.rnn.bidirectional)
    assert with_directions == {
        "plain": (False, False), "plain_both_ways": (False, True),
        "attention": (True, False), "attention_both_ways": (True, True),
    }  # fmt: skip


def test_both_of_luongs_models_differ_in_what_is_fed_alone():
    fed, unfed = (short_captions.RECIPES[name].build((50, 60)) for name in ("luong", "luong_unfed"))
    assert (fed.fed_size, unfed.fed_size) == (short_captions.SIZES["hidden"], 0)
    assert fed.placement == unfed.placement


def test_only_short_captions_are_read(monkeypatch):
    lines = {"de": ["Ein Hund.", "Ein " * 10 + "Hund.", "Ein " * 9 + "Hund."], "en": ["A dog.", "long", "short"]}
    monkeypatch.setattr(short_captions.multi30k, "lines", lambda split, language: lines[language])
    assert [target for _, target in short_captions.short_pairs("train")] == ["A dog.", "short"]


def test_an_unknown_model_is_refused(few):
    with pytest.raises(ValueError, match="no model is called 'rnn'; there is: plain"):
        short_captions.run(Job("rnn", 0, 2))
