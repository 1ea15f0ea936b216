"""Searching or drawing: which sentences are translated in which ways, and what is measured of them."""

from types import SimpleNamespace

import pytest

from attnbook.data.texts.translation import own_translation_task
from attnruns.experiments import translate, translate_ways
from attnruns.shared.runner import Job


@pytest.fixture
def tiny(monkeypatch):
    """The book's own sentences and an untrained translator of them take the place of the captions."""
    recipe = translate.RECIPES["tiny_de_en"]
    data, test = recipe.data(), translate_ways.TEST
    own = data._replace(tests={test: data.tests["test"]}, references={test: data.references["test"]})
    monkeypatch.setattr(translate_ways, "RECIPES", {"tiny": SimpleNamespace(data=lambda: own)})
    monkeypatch.setattr(translate_ways, "trained", lambda name, seed: recipe.build(own.sizes()).eval())
    monkeypatch.setattr(translate_ways, "BEAMS", {"greedy": (1, 0.0), "beam of 2": (2, 0.6)})


def test_each_way_translates_the_same_sentences(tiny):
    found = translate_ways.run(Job("tiny", 0, 3)).figures
    assert found["sentences"] == 3
    assert {name: len(of) for name, of in found["by_way"].items()} == {
        "greedy": 1, "beam of 2": 1, **dict.fromkeys(translate_ways.DRAWN, translate_ways.DRAWS)
    }  # fmt: skip
    assert found["gain"].keys() == {"beam of 2"}
    value, low, high = found["gain"]["beam of 2"]
    assert low <= value <= high


def test_draws_come_back_in_the_order_of_their_sentences_and_with_their_seed(monkeypatch):
    data, given = own_translation_task(), []

    def sample(model, source, lengths, *, max_length, generator, **how):
        given.append((len(source), how, generator.initial_seed()))
        return SimpleNamespace(tokens=data.task.collate(data.tests["test"][: len(source)]).target)

    monkeypatch.setattr(translate_ways, "sample", sample)
    monkeypatch.setattr(translate_ways, "ROWS", 2)
    sources = [data.source_pieces.decode(example.source) for example in data.tests["test"][:3]]
    lines = translate_ways.drawn(None, data, sources, {"temperature": 0.5}, 7)
    assert given == [(2, {"temperature": 0.5}, 7), (1, {"temperature": 0.5}, 7)]
    assert lines == [data.references["test"][i] for i in (0, 1, 0)]


def test_empty_translations_are_counted():
    found = translate_ways.measured(["", "A brown dog runs"], ["Two birds fly away", "A brown dog runs"])
    assert (found["length_ratio"], found["empty"]) == (0.5, 0.5)
