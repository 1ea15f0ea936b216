"""Captions that are made up here, so that nothing must be fetched, and few round trips, so that solving is quick."""

import itertools
from functools import cache

import pretended_card
import pytest

from attnbook.data.texts import multi30k
from attnbook.data.texts.language import TextTask, text_task
from attnruns.experiments import masked_language_model
from attnruns.shared import few_labels, solved_tours

WHO = ["A man", "Two women", "Three boys", "A girl and a boy", "Seven people", "A lady"]
WHAT = ["sits near the old river.", "runs over a green field.", "plays in the snow, alone."]
CAPTIONS = tuple(" ".join(parts) for parts in itertools.product(WHO, WHAT))


WITHOUT_PARAMETERS = {"kneser_ney", "glyphs_pixels", "glyphs_pixels_blurred"}


@pytest.fixture(params=["cpu", "card"])
def best(request, monkeypatch):
    """An experiment finds this device to be the best one: the CPU, and the pretended card (without float64, as a Mac).

    The card must have computed something, so that no experiment stays on the CPU without being noticed; but for models
    that have no parameters to be moved there.
    """
    if request.param == "cpu":
        monkeypatch.setenv("ATTNBOOK_DEVICE", "cpu")
        yield "cpu"
        return
    if reason := pretended_card.why_not():
        pytest.skip(reason)
    monkeypatch.setenv("ATTNBOOK_DEVICE", "card")
    before = pretended_card.calls()
    with pretended_card.without_float64():
        yield "card"
    assert pretended_card.calls() > before or request.node.callspec.params.get("name") in WITHOUT_PARAMETERS


@cache
def _tiny_task() -> TextTask:
    lower = [caption.lower() for caption in CAPTIONS]
    return text_task("tiny", lower[6:], lower[:3], lower[3:6], 60)


@pytest.fixture
def tiny_captions(monkeypatch):
    """The experiments about captions have 18 of these, and 4 or 8 labels."""
    monkeypatch.setattr(multi30k, "lines", lambda part: CAPTIONS)
    monkeypatch.setattr(few_labels, "PROBE_STEPS", 2)
    for name in ("FINE_TUNING_STEPS", "SCRATCH_STEPS", "LINEAR_STEPS"):
        monkeypatch.setattr(masked_language_model, name, {4: 2, 8: 2})
    for module in (masked_language_model, few_labels):
        monkeypatch.setattr(module, "caption_task", _tiny_task)
    for cached in (masked_language_model.held_out, few_labels.labelled):
        cached.cache_clear()
    yield
    for cached in (masked_language_model.held_out, few_labels.labelled):
        cached.cache_clear()


@pytest.fixture
def few_tours(monkeypatch, tmp_path):
    """A pool of ten round trips of each size, whose files lie in ``tours``, in a folder of the test's own."""
    monkeypatch.setattr(solved_tours, "POOL", 10)
    monkeypatch.setattr(solved_tours, "TOURS", tmp_path / "tours")
    solved_tours.pool_of.cache_clear()
    yield tmp_path
    solved_tours.pool_of.cache_clear()
