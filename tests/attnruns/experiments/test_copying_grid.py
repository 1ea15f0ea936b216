"""Stored machines on the grid: each is read the task that it was trained on."""

import pytest

from attnbook.models import NTM
from attnruns.experiments import copying, copying_grid, copying_paper
from attnruns.shared.runner import Job


@pytest.fixture
def seen(monkeypatch):
    """What the grid was asked for: the machine, and the features of a batch that it is read."""
    asked = []

    def record(machine, prepared=lambda bits: bits):
        asked.append((machine, prepared(copying.copy_batch(2, 1)).inputs.shape[-1]))
        return {"2": {"4": 0.5}}

    monkeypatch.setattr(copying_grid, "copying_grid", record)
    return asked


@pytest.mark.parametrize("name, features", [("copying_ntm", 11), ("copying_unmarked", 9)])
def test_a_stored_machine_is_tested_on_its_own_task(name, features, seen):
    figures = copying_grid.run(Job(name, 0, 1)).figures
    assert figures["grid"] == {"2": {"4": 0.5}}
    [(machine, got)] = seen
    assert isinstance(machine, NTM)
    assert got == machine.config.inputs == features


def test_machines_in_the_papers_setting_are_read_copies_without_marks(seen, monkeypatch):
    monkeypatch.setattr(copying_paper, "trained", lambda name, seed: copying_paper.build(name))
    copying_grid.run(Job("copying_paper_paper_lstm", 3, 1))
    [(machine, features)] = seen
    assert machine.config.controller == "lstm"
    assert features == machine.config.inputs == 9


def test_all_machines_of_both_experiments_whose_weights_are_kept_are_there_and_no_lstm():
    assert "copying_fixed_rows" in copying_grid.RECIPES
    assert "copying_paper_adam_feedforward" in copying_grid.RECIPES
    assert not any(name.endswith("copying_lstm") or "layer" in name for name in copying_grid.RECIPES)


def test_a_machine_that_nobody_kept_is_refused():
    with pytest.raises(ValueError, match=r"no results/weights/copying_ntm_77\.pt"):
        copying_grid.run(Job("copying_ntm", 77, 1))
