"""Experiments whose own tests replace the training: they train and measure on the pretended card as well.

All others ask for the device ``best`` in the test of their ``run``.
"""

import importlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from attnruns.experiments import copying_grid
from attnruns.experiments.__main__ import EXPERIMENTS
from attnruns.shared import grid
from attnruns.shared.runner import Job, run_job

HERE = Path(__file__).parent
ON_TASKS = ["lengths", "numbers", "reversal", "scores", "sharpening", "single_numbers", "transformer"]
OTHERWISE = {
    "copying_grid": "below",
    "attention_cost": "test_attention_cost.py, whose memory the card doesn't record",
    "translate_alignments": "needs the captions, which are fetched: not tried on the card",
    "translate_endings": "needs the captions, which are fetched: not tried on the card",
}


def few(task):
    """The same task with few examples to be measured on."""
    longer = {size: examples[:2] for size, examples in task.longer.items()}
    return replace(task, validation=task.validation[:4], test=task.test[:4], longer=longer)


@pytest.mark.parametrize("name", ON_TASKS)
def test_it_trains_and_measures_on_each_device(name, monkeypatch, tmp_path, best):
    module, experiment = importlib.import_module(f"attnruns.experiments.{name}"), EXPERIMENTS[name]
    task = few(module.task())
    monkeypatch.setattr(module, "task", lambda *letters: task)
    figures = run_job(experiment, tmp_path, Job(next(iter(experiment.steps)), 0, 2))
    assert figures["device"] == best


def test_a_stored_machine_is_tested_on_each_device(monkeypatch, tmp_path, best):
    small = partial(grid.copying_grid, lengths=[2], rows=[4], count=1)
    monkeypatch.setattr(copying_grid, "copying_grid", small)
    found = run_job(EXPERIMENTS["copying_grid"], tmp_path, Job("copying_ntm", 0, 1))
    assert found["device"] == best
    assert found["grid"] == {"2": {"4": 0.0}}


def test_no_experiment_is_left_out():
    """Each measures the processor itself, is run on the card, or has its reason."""
    for name, experiment in EXPERIMENTS.items():
        own = (HERE / f"test_{name}.py").read_text(encoding="utf-8")
        assert experiment.on_cpu or "best)" in own or name in ON_TASKS or name in OTHERWISE, name
