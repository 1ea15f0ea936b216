"""What holds of every experiment, whatever it measures; ``experiment_runs.checked_run`` says what holds of a run.

Experiments whose own tests replace the training are run here, and all others in their own files.
"""

import importlib
import inspect
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import copying_grid, sharpening
from attnruns.experiments.__main__ import EXPERIMENTS
from attnruns.shared import grid
from attnruns.shared.runner import Job

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[3]
MODULES = {name: importlib.import_module(f"attnruns.experiments.{name}") for name in EXPERIMENTS}
ON_TASKS = [
    "dates",
    "equal_weights",
    "given_positions",
    "hundred_swaps",
    "lengths",
    "links_by_kind",
    "numbers",
    "reversal",
    "scores",
    "sharpening",
]
ON_TASKS += ["single_numbers", "transformer"]
NOT_ON_THE_CARD = {
    "attention_cost": "test_attention_cost.py, whose memory the card doesn't record",
    "translate_alignments": "needs the captions, which are fetched",
    "translate_endings": "needs the captions, which are fetched",
    "translate_on_card": "runs what translate runs, which is run there",
}
# Of these a chapter loads several models.
SMALL = ("captioning", "digit_pairs", "gnmt", "language_model", "luong", "meta_learning", "vision")


def builds_by_name(name: str) -> bool:
    """Whether the experiment's module has a ``build`` that takes a model's name first."""
    build = getattr(MODULES[name], "build", None)
    return build is not None and next(iter(inspect.signature(build).parameters), None) == "name"


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if builds_by_name(name)])
def test_a_model_that_there_is_not_is_refused_with_those_that_there_are(name):
    build, first = MODULES[name].build, next(iter(EXPERIMENTS[name].steps))
    needed = [one for one in inspect.signature(build).parameters.values() if one.default is inspect.Parameter.empty]
    with pytest.raises(ValueError, match=f"no model is called 'nothing'; there is: {first}"):
        build("nothing", *[None] * (len(needed) - 1))


@pytest.mark.parametrize("name", SMALL)
def test_weights_that_are_kept_stay_under_500_kilobytes(name):
    files = list((ROOT / "results" / "weights").glob(f"{name}_*.pt"))
    assert files
    assert [file.name for file in files if file.stat().st_size > 500_000] == []


def few(task):
    """The same task with as many examples as two steps train on, few to be measured on, and one longer size."""
    size = min(task.longer, default=0)
    longer = {size: task.longer[size][:2]} if task.longer else {}
    return replace(task, train=task.train[:128], validation=task.validation[:4], test=task.test[:4], longer=longer)


@pytest.mark.parametrize("best", ["cpu", "card"], indirect=True)
@pytest.mark.parametrize("name", ON_TASKS)
def test_it_trains_and_measures_on_each_device(name, monkeypatch, tmp_path, best):
    module, model = MODULES[name], next(iter(EXPERIMENTS[name].steps))
    task = few(module.task())
    monkeypatch.setattr(module, "task", lambda *letters: task)
    monkeypatch.setattr(sharpening, "SIZES", tuple(task.longer))
    recipe = getattr(module, "RECIPES", {}).get(model)
    checked_run(module, Job(model, 0, 2), tmp_path, best, kept=bool(getattr(recipe, "kept", False)))


@pytest.mark.parametrize("name, best", once_on_the_card(["copying_ntm"]), indirect=["best"])
def test_a_stored_machine_is_tested_on_each_device(name, monkeypatch, tmp_path, best):
    small = partial(grid.copying_grid, lengths=[2], rows=[4], count=1)
    monkeypatch.setattr(copying_grid, "copying_grid", small)
    assert checked_run(copying_grid, Job(name, 0, 1), tmp_path, best)["grid"] == {"2": {"4": 0.0}}


def test_no_experiment_is_left_out():
    """Each measures the processor itself, is run on the card, or has its reason."""
    for name, experiment in EXPERIMENTS.items():
        own = (HERE / f"test_{name}.py").read_text(encoding="utf-8")
        there = 'indirect=["best"]' in own or ", best)" in own or name in ON_TASKS or name == "copying_grid"
        assert experiment.on_cpu or there or name in NOT_ON_THE_CARD, name
