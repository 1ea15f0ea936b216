"""The small models that chapters compare with the one that they train."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import comparisons
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(comparisons.RECIPES), indirect=["best"])
def test_a_translator_is_trained_measured_and_kept(name, monkeypatch, tmp_path, best):
    whole = comparisons.task(name)
    monkeypatch.setattr(comparisons, "task", lambda name: replace(whole, train=whole.train[:128], test=whole.test[:4]))
    figures = checked_run(comparisons, Job(name, 0, 2), tmp_path, best, kept=True)
    assert 0 <= figures["exact_match"] <= 1


def test_a_patient_lstm_is_asked_for_the_letters_of_other_strings(tmp_path):
    assert 0 <= checked_run(comparisons, Job("patient_lstm", 0, 2), tmp_path, "cpu")["right"] <= 1


def test_the_models_of_chapter_3_differ_in_their_score_and_those_of_chapter_5_in_their_depth():
    content, location = (comparisons.build(name).score for name in ("content", "location"))
    assert type(content).__name__ == "Additive"
    assert type(location).__name__ == "Location"
    four, two = (comparisons.build(name) for name in ("four_layers", "two_layers"))
    assert (len(four.cells), len(two.cells)) == (4, 2)
    assert four.first_residual > 4
    assert two.first_residual > 2


def test_the_rate_of_chapter_5_does_not_change():
    assert {comparisons.constant(step) for step in range(0, 300, 50)} == {5e-3}


def test_trained_weights_are_those_of_seed_0():
    assert not comparisons.trained("two_layers").training
    with pytest.raises(ValueError, match="no model is called 'three_layers'; there is: content"):
        comparisons.trained("three_layers")
    assert all(torch.isfinite(p).all() for p in comparisons.trained("content").parameters())
