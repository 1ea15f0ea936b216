"""Copying in the paper's setting: what a lesson is, and what each recipe's name says."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.models import NTM, LSTMTagger
from attnbook.training import GravesRMSprop
from attnruns.experiments import copying_paper as experiment
from attnruns.shared import episodes, resume
from attnruns.shared.runner import Job


def test_lessons_are_copies_of_1_to_20_vectors_on_128_rows():
    lengths = set()
    for step in range(200):
        bits, rows = episodes.lesson_at(step, experiment.TASK, 2, 0)
        lengths.add((bits.inputs.shape[1] - 1) // 2)
        assert rows == 128
        assert bits.inputs.shape == (2, bits.inputs.shape[1], 9)
    assert lengths == set(range(1, 21))


def test_the_state_is_not_chosen_on_the_longest_length_and_the_longest_fits_the_memory():
    task = experiment.TASK
    assert max(task.held_out) == experiment.LONGEST < min(task.choice)
    assert max(task.choice) < max(task.tests.values()) < experiment.ROWS


@pytest.mark.parametrize("name", experiment.RECIPES)
def test_each_recipe_is_what_its_name_says(name):
    recipe, model = experiment.RECIPES[name], experiment.build(name)
    optimiser = recipe.make_optimiser()(model.parameters())
    assert isinstance(optimiser, GravesRMSprop if name.startswith("paper") else torch.optim.Adam)
    if name.startswith("lstm"):
        assert isinstance(model, LSTMTagger)
        assert model.rnn.num_layers == (3 if "three" in name else 1)
    else:
        assert isinstance(model, NTM)
        assert model.config.controller == name.split("_")[1]


def test_the_papers_settings():
    recipe, model = experiment.RECIPES["paper_lstm"], experiment.build("paper_lstm")
    group = recipe.make_optimiser()(model.parameters()).param_groups[0]
    assert (recipe.batch, group["lr"], group["momentum"], group["decay"]) == (1, 1e-4, 0.9, 0.95)
    config = model.config
    assert (config.hidden, config.width, config.read_heads, config.write_heads) == (100, 20, 1, 1)


@pytest.mark.parametrize("name, best", once_on_the_card(["paper_feedforward"]), indirect=["best"])
def test_a_run_trains_and_tests_a_model(name, monkeypatch, tmp_path, best):
    monkeypatch.setattr(resume, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(episodes, "TESTED", 2)
    monkeypatch.setattr(episodes, "HELD_OUT", 1)
    figures = checked_run(experiment, Job(name, 0, 2), tmp_path, best, kept=True)
    assert figures["sequences"] == 2
    assert figures["solved"] is None
    assert figures["wrong_bits"].keys() == figures["wrong_bits_last"].keys() == {"10", "20", "40", "80", "120"}
