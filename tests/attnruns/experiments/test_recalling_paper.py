"""Recall and repeat copy in the paper's setting: lessons, recipes, and a machine whose steps are taken out."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.models.ntm_addressing import STEPS as ADDRESSING
from attnruns.experiments import recalling_paper as experiment
from attnruns.shared import episodes, resume
from attnruns.shared.memory import TEST_SEED
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(episodes, "TESTED", 2)
    monkeypatch.setattr(episodes, "HELD_OUT", 1)


def test_lessons_have_2_to_6_items_or_1_to_10_vectors_copied_1_to_10_times():
    source = torch.Generator().manual_seed(0)
    items = {experiment.draw_recall(1, i, source).bits.inputs.shape[1] for i in range(60)}
    assert items == {4 * count + 8 for count in range(2, 7)}
    steps = [experiment.draw_repeat(1, i, source).bits.mask.sum().item() for i in range(600)]
    assert (min(steps), max(steps)) == (1 + 1, 10 * 10 + 1)  # the last marks the end


@pytest.mark.parametrize("name", experiment.TASKS)
def test_no_test_decides_which_state_is_chosen_and_shapes_are_those_of_the_task(name):
    task = experiment.TASKS[name]
    assert not set(task.choice) & (set(task.tests.values()) - {8, 10})  # recall's choice is tested, too, but not alone
    bits = task.exact(task.held_out[0], 2, 0).bits
    assert (bits.inputs.shape[-1], bits.target.shape[-1]) == (task.inputs, task.outputs)


def test_each_step_is_left_out_once_and_heads_are_those_of_the_papers_tables():
    left = [recipe.machine["without"] for recipe in experiment.RECIPES.values() if "without" in (recipe.machine or {})]
    assert left == [(step,) for step in ADDRESSING]
    config = experiment.build("recall_feedforward").config
    assert (config.read_heads, config.write_heads, config.hidden) == (4, 4, 256)
    assert experiment.build("recall_lstm").config.heads == 2


def test_a_machine_is_tested_without_each_of_its_steps_and_is_whole_again_afterwards():
    machine = experiment.build("recall_lstm")
    whole = machine.config
    found = experiment.knocked_out(machine)
    assert set(found) == {"none", *ADDRESSING}
    assert machine.config == whole
    lesson = experiment.exact_recall(4, 50, TEST_SEED)
    assert found["none"]["4"] == pytest.approx(episodes.wrong_per_sequence(machine, lesson), abs=1e-3)


@pytest.mark.parametrize(
    "name, best",
    once_on_the_card(["recall_lstm", "recall_no_shift", "repeat_feedforward", "recall_lstm_alone"]),
    indirect=["best"],
)
def test_a_run_trains_and_tests_a_model_of_its_name(name, monkeypatch, best, tmp_path):
    monkeypatch.setattr(experiment, "KNOCKED_OUT_ON", (2,))
    recipe = experiment.RECIPES[name]
    figures = checked_run(experiment, Job(name, 0, 1), tmp_path, best, kept=recipe.kept > 0)
    assert ("wrong_bits_without" in figures) == (name == "recall_lstm")
    assert figures["wrong_bits"].keys() == experiment.TASKS[recipe.task].tests.keys()
