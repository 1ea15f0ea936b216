"""The experiment on the speed of translators: every figure where it belongs; what is tested is not the machine."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import once_on_the_card

from attnbook.data.texts.translation import TokenBatches
from attnruns.experiments import card_translators
from attnruns.experiments.translate import RECIPES, TINY
from attnruns.shared import timing
from attnruns.shared.runner import Job, run_job


@pytest.fixture
def own_text(monkeypatch):
    """The book's own sentences in place of the captions, which are fetched; and a small Transformer."""
    monkeypatch.setattr(card_translators, "BATCHES", (64, 128))
    for name in card_translators.EXPERIMENT.steps:
        recipe = RECIPES[f"{name}_de_en"]
        config = TINY if name == "transformer" else {}
        monkeypatch.setitem(card_translators.RECIPES, f"{name}_de_en", replace(recipe, text="own", config=config))


@pytest.mark.parametrize("name, best", once_on_the_card(["transformer", "plain"]), indirect=["best"])
def test_a_run_has_pieces_per_second_of_the_processor_and_of_a_card(name, best, own_text, tmp_path):
    figures = run_job(card_translators.EXPERIMENT, tmp_path, Job(name, 0, 1))
    assert figures["device"] == best
    assert figures["processor"] > 0
    for precision in ("on_card", "on_card_half"):
        assert (precision in figures) == (best == "card")
        found = figures.get(precision, {"64": 1, "128": 1})
        assert list(found) == ["64", "128"]
        assert min(found.values()) > 0


def test_pieces_are_counted_without_padding_and_the_first_step_only_warms_up(monkeypatch):
    recipe = replace(RECIPES["tiny_de_en"], dropout=0.0)
    data = recipe.data()
    model, batch = recipe.build(data.sizes()), TokenBatches(data.task).batch_at(1, 128, 0)
    seconds = iter([0.001, 0.5, 0.25])
    monkeypatch.setattr(timing, "wall_seconds", lambda *arguments, device: next(seconds))
    assert card_translators.pieces_per_second(model, batch, repeats=2) == 4 * batch.tokens()


def test_a_step_changes_the_weights_and_returns_the_loss():
    recipe = replace(RECIPES["tiny_de_en"], dropout=0.0)
    data = recipe.data()
    model, batch = recipe.build(data.sizes()), TokenBatches(data.task).batch_at(1, 128, 0)
    before = [parameter.clone() for parameter in model.parameters()]
    loss = card_translators.training_step(model, torch.optim.AdamW(model.parameters(), lr=1e-3), batch, half=False)
    assert 3 < loss.item() < 9  # log 300 is 5.7
    assert all(not torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))
