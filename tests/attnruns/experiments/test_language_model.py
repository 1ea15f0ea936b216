"""The experiment with language models: equal size, each recipe runs, and nothing is fetched in a test."""

from dataclasses import asdict

import pytest
from experiment_runs import once_on_the_card

from attnbook.data.texts.language import text_task
from attnbook.data.texts.text import KINDS, own_corpus
from attnbook.models import KneserNey, LanguageModel, LSTMLanguageModel
from attnruns.experiments import language_model
from attnruns.shared import language
from attnruns.shared.runner import Job

KIND = {"kneser_ney": KneserNey, "lstm": LSTMLanguageModel, "transformer": LanguageModel}


@pytest.fixture(scope="module")
def small():
    """A few lines of the book's own text, in place of both texts."""
    parts = ([line.text for line in part] for part in own_corpus(train=120, validation=9, test=9))
    return text_task("small", *parts, 120)


@pytest.fixture
def nearby(small, monkeypatch):
    """Both texts are the small one, and little is written."""
    monkeypatch.setattr(language_model, "TEXTS", {"captions": lambda: small, "own": lambda: small})
    monkeypatch.setattr(language, "LONGEST", 4)
    monkeypatch.setattr(language, "TEXTS", 3)
    monkeypatch.setattr(language_model, "HELD_OUT", 4)
    monkeypatch.setattr(language_model, "questions", lambda kind: [("The keys", "are", "is"), ("A cat", "is", "are")])
    return small


def in_turn() -> list[tuple[str, str]]:
    """The transformer on the card, and every model on the CPU."""
    return once_on_the_card(["transformer", *(name for name in language_model.RECIPES if name != "transformer")])


@pytest.mark.parametrize("name, best", in_turn(), indirect=["best"])
def test_a_run_measures_a_model_of_its_name(name, nearby, best):
    recipe = language_model.RECIPES[name]
    outcome = language_model.run(Job(name, 0, 2))
    figures = outcome.figures
    assert isinstance(language_model.build(name, nearby.task), KIND[recipe.kind])
    assert figures["perplexity"].keys() == figures["bits_per_character"].keys() == {"validation", "test"}
    assert figures["perplexity"]["test"] > 1
    assert figures["seconds"] >= figures.get("training_seconds", 0)
    assert ("samples" in figures) == recipe.sampled
    assert ("right" in figures) == (recipe.text == "own")
    assert (outcome.model is not None) == (recipe.kept > 0)
    assert ("curve" in figures) == (recipe.kind != "kneser_ney")


def test_weights_of_later_seeds_are_not_kept(nearby):
    assert language_model.run(Job("own_text", 1, 1)).model is None


def test_the_lstm_and_the_transformer_are_of_equal_size():
    sizes = []
    for name in ("lstm", "transformer"):
        recipe = language_model.RECIPES[name]
        vocabulary = [None] * 2000
        model = recipe.build(type("Sized", (), {"target_vocabulary": vocabulary}))
        sizes.append(sum(parameter.numel() for parameter in model.parameters()))
    assert abs(sizes[0] / sizes[1] - 1) < 0.05


def test_questions_are_those_of_held_out_lines():
    test = {line.beginning for line in own_corpus().test}
    for kind in KINDS:
        assert len(language_model.questions(kind)) == 200
        assert {beginning for beginning, _, _ in language_model.questions(kind)} <= test


CHANGES = {
    "transformer": {"positions"},
    "learned": {"positions", "max_length"},
    "rms_norm": {"normalisation"},
    "swiglu": {"feed_forward"},
    "grouped": {"key_value_heads"},
    "no_bias": {"bias"},
    "modern": {"positions", "normalisation", "feed_forward", "key_value_heads", "bias"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_block_differs_from_the_original_in_what_its_name_says(name, nearby):
    original, changed = (asdict(language_model.build(which, nearby.task).config) for which in ("original", name))
    assert {field for field in original if original[field] != changed[field]} == CHANGES[name]


def test_only_grouped_queries_make_the_cache_smaller(nearby):
    sizes = {name: language.bytes_per_word(language_model.build(name, nearby.task)) for name in (*CHANGES, "original")}
    halved = {name for name, size in sizes.items() if size == sizes["original"] / 2}
    assert halved == {"grouped", "modern"}
    assert {sizes[name] for name in sizes.keys() - halved} == {sizes["original"]}
