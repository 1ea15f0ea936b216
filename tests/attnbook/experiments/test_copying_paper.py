"""Copying in the paper's setting: what a lesson is, when a training ends, and what it leaves."""

import pytest
import torch

from attnbook.experiments import copying_paper as experiment
from attnbook.experiments.shared.runner import Job


def test_lessons_are_copies_of_1_to_20_vectors_on_128_rows_and_depend_on_step_and_seed_alone():
    lengths = set()
    for step in range(200):
        bits, rows = experiment.lesson_at(step, 2, 0)
        lengths.add((bits.inputs.shape[1] - 1) // 2)
        assert rows == 128
        assert bits.inputs.shape == (2, bits.inputs.shape[1], 9)
    assert lengths == set(range(1, 21))
    assert torch.equal(experiment.lesson_at(7, 2, 1).bits.inputs, experiment.lesson_at(7, 2, 1).bits.inputs)
    others = experiment.lesson_at(7, 2, 2).bits.inputs, experiment.lesson_at(8, 2, 1).bits.inputs
    assert all(not torch.equal(experiment.lesson_at(7, 2, 1).bits.inputs, other) for other in others)


def test_the_state_is_not_chosen_on_the_longest_length_and_the_longest_fits_the_memory():
    assert experiment.LONGEST < min(experiment.CHOICE)
    assert max(experiment.CHOICE) < max(experiment.TESTS) < experiment.ROWS


@pytest.mark.parametrize("name", experiment.RECIPES)
def test_each_recipe_is_what_its_name_says(name):
    recipe = experiment.RECIPES[name]
    optimiser = recipe.make_optimiser()(experiment.build(name).parameters())
    wanted = torch.optim.RMSprop if name.startswith("paper") else torch.optim.Adam
    assert isinstance(optimiser, wanted)
    assert recipe.controller == name.split("_")[1]
    assert experiment.STEPS[name] * recipe.batch == 1_000_000


def test_the_papers_settings():
    recipe = experiment.RECIPES["paper_lstm"]
    group = recipe.make_optimiser()(experiment.build("paper_lstm").parameters()).param_groups[0]
    assert (recipe.batch, group["lr"], group["momentum"], group["alpha"], group["centered"]) == (1, 1e-4, 0.9, 0.95, True)
    config = experiment.build("paper_lstm").config
    assert (config.hidden, config.width, config.read_heads, config.write_heads) == (100, 20, 1, 1)


def test_a_training_leaves_counts_curves_and_both_states(monkeypatch):
    monkeypatch.setattr(experiment, "EVERY", 32)
    figures, model, _ = experiment.run(Job("adam_feedforward", 0, 4))
    assert figures["sequences"] == 4 * 16
    assert figures["converged"] is False
    assert len(figures["wrong_while_training"]) == len(figures["longer_while_training"]) == len(figures["losses"]) == 2
    assert set(figures["wrong_bits"]) == set(figures["wrong_bits_last"]) == {"10", "20", "40", "80", "120"}
    assert figures["wrong_bits"] == experiment.tested(model)


def test_it_ends_after_two_validations_without_a_mistake(monkeypatch):
    monkeypatch.setattr(experiment, "EVERY", 16)
    monkeypatch.setattr(experiment, "wrong", lambda *arguments: 0.0)
    figures, _, _ = experiment.run(Job("adam_feedforward", 0, 50))
    assert figures["converged"] is True
    assert figures["sequences"] == 2 * 16
