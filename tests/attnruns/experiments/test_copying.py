"""The experiment about copies: each training differs from the first in what its name says."""

from dataclasses import asdict, replace
from functools import partial

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import copying
from attnruns.shared.runner import Job


def test_lengths_and_rows_are_drawn_from_their_ranges():
    lengths, room = set(), set()
    for seed in range(300):
        bits, rows = copying.draw(4, 1, seed, torch.Generator().manual_seed(seed))
        length = (bits.inputs.shape[1] - 1) // 2
        lengths.add(length)
        room.add(rows - length)
        assert length + 3 <= rows <= 64
    assert lengths == {1, 2, 3, 4}
    assert min(room) == 3
    assert max(room) > 50


def test_a_test_is_of_one_length_on_a_memory_longer_than_any_trained():
    bits, rows = copying.exact(120, 2, 0)
    assert bits.inputs.shape == (2, 241, 9)
    assert rows == 256 > copying.MOST_ROWS
    assert copying.TASK.exact(120, 2, 0).bits.inputs.shape == (2, 242, 11)


def test_the_checkpoint_is_not_chosen_on_the_longest_length():
    assert max(copying.TASK.validation) < max(copying.TASK.tests)
    assert min(copying.TASK.validation) > copying.TASK.sizes[1]


TWO_THINGS = ("unmarked_lstm", "unmarked_free_blur", "no_sharpening_free_blur")


@pytest.mark.parametrize("name", [name for name in copying.RECIPES if name != "lstm"])
def test_each_training_differs_from_the_first_in_what_its_name_says(name):
    usual, recipe = asdict(copying.RECIPES["ntm"]), asdict(copying.RECIPES[name])
    different = sum(recipe[field] != usual[field] for field in usual if field != "kept")
    assert different == (0 if name == "ntm" else 2 if name in TWO_THINGS else 1)


def test_the_unmarked_ones_train_on_the_task_as_the_paper_has_it():
    assert copying.task_of("unmarked") is copying.PLAIN
    assert copying.task_of("ntm") is copying.TASK


def test_each_step_of_addressing_is_left_out_once():
    left = [copying.build(name).config.without for name in copying.RECIPES if name.startswith("no_") and name[3:] in (
        "content", "interpolation", "shift", "sharpening")]  # fmt: skip
    assert sorted(left) == [("content",), ("interpolation",), ("sharpening",), ("shift",)]


@pytest.mark.parametrize("name, marked", [("unmarked", False), ("free_blur", True), ("no_curriculum", True)])
def test_each_ingredient_taken_away_leaves_the_others(name, marked):
    recipe, whole = copying.RECIPES[name], copying.RECIPES["ntm"]
    assert recipe.marked == marked
    assert recipe.kept
    assert (recipe.blur == whole.blur) == (name != "free_blur")
    assert recipe.curriculum == (name != "no_curriculum")
    bits = copying.prepared(name, copying.copy_batch(2, 1))
    assert bits.inputs.shape[-1] == copying.task_of(name).inputs


@pytest.fixture
def small_grid(monkeypatch):
    """The grid of a run has two cells."""
    small = partial(copying.copying_grid, lengths=(2,), rows=(3, 5), count=2)
    monkeypatch.setattr(copying, "copying_grid", small)


def test_a_machine_is_tested_on_the_grid_in_both_states_and_an_lstm_is_not(small_grid, monkeypatch):
    monkeypatch.setattr(copying, "PLAIN", replace(copying.PLAIN, validation=(2,), tests=(3,)))
    figures = copying.run(Job("unmarked", 0, 2)).figures
    assert figures["grid"].keys() == figures["grid_last"].keys() == {"2"}
    assert figures["grid"]["2"].keys() == {"3", "5"}
    assert len(figures["errors"]) == len(figures["validations"])
    assert not copying.grids(copying.build("lstm"), "lstm")


@pytest.mark.parametrize("name, best", once_on_the_card(["ntm", "no_shift"]), indirect=["best"])
def test_a_run_trains_and_tests_a_machine(name, small_grid, monkeypatch, best, tmp_path):
    monkeypatch.setattr(copying, "TASK", replace(copying.TASK, validation=(2,), tests=(3,)))
    figures = checked_run(copying, Job(name, 0, 2), tmp_path, best, kept=copying.RECIPES[name].kept)
    assert figures["wrong_bits"].keys() == {"3"}
    assert figures["parameters"] == 13460
