"""Weights of record: written small, found again, and never poured into the wrong model."""

import importlib
import re
import sysconfig
from pathlib import Path

import pytest
import torch
from torch import nn

from attnruns.experiments.__main__ import EXPERIMENTS
from attnruns.shared import weights
from attnruns.shared.runner import Experiment
from attnruns.shared.weights import keep_weights, load_weights, remove_half_written, stored_seeds, weights_file


def test_the_file_is_named_after_experiment_model_and_seed():
    assert weights_file("numbers", "plain_256", 1) == "weights/numbers_plain_256_1.pt"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    model = nn.Linear(3, 2)
    keep_weights(model, tmp_path, "numbers", "plain", 0)
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    return model


def test_weights_come_back_to_half_precision_and_the_model_is_ready_to_be_asked(kept):
    model = load_weights(nn.Linear(3, 2).train(), "numbers", "plain")
    assert not model.training
    assert torch.equal(model.weight, kept.weight.half().float())


def test_counters_and_what_half_precision_cannot_hold_come_back_as_they_were(tmp_path, monkeypatch):
    model = nn.BatchNorm1d(2)
    model.num_batches_tracked.fill_(70_001)
    model.running_var.fill_(1e6)
    keep_weights(model, tmp_path, "numbers", "plain", 0)
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    found = load_weights(nn.BatchNorm1d(2), "numbers", "plain")
    assert found.num_batches_tracked.item() == 70_001
    assert found.running_var.tolist() == [1e6, 1e6]


def test_weights_that_the_wheel_brought_are_found(kept, tmp_path, monkeypatch):
    monkeypatch.delenv("ATTNBOOK_RESULTS")
    installed = tmp_path / "share" / "paying-attention" / "results"
    installed.mkdir(parents=True)
    (tmp_path / "weights").rename(installed / "weights")
    monkeypatch.setattr(sysconfig, "get_path", {"data": str(tmp_path)}.get)
    (installed / "weights" / "numbers_plain_0.pt").rename(installed / "weights" / "mine_plain_0.pt")
    assert torch.equal(load_weights(nn.Linear(3, 2), "mine", "plain").bias, kept.bias.half().float())


def test_missing_weights_are_named_beside_what_is_there(kept):
    with pytest.raises(ValueError, match=r"no results/weights/numbers_attention_0\.pt; there is: numbers_plain_0\.pt"):
        load_weights(nn.Linear(3, 2), "numbers", "attention")


def test_seeds_of_stored_weights_are_found_and_those_of_other_models_are_not(kept, tmp_path):
    for name, seed in (("plain", 12), ("plain", 3), ("plain_256", 1), ("not_plain", 2)):
        keep_weights(kept, tmp_path, "numbers", name, seed)
    (tmp_path / "weights" / "numbers_plain_4.ptabc.part").write_text("half")
    assert stored_seeds("numbers", "plain") == [0, 3, 12]
    assert stored_seeds("numbers", "plain_256") == [1]
    assert stored_seeds("numbers", "attention") == []


def test_weights_of_another_model_are_refused(kept):
    with pytest.raises(ValueError, match="belongs to another model than this Linear"):
        load_weights(nn.Linear(4, 2), "numbers", "plain")


def test_half_written_weights_of_one_training_are_removed_and_nothing_else(kept, tmp_path):
    others = ["numbers_plain_0.pt", "numbers_plain_1.ptabc.part"]
    for name in ["numbers_plain_0.ptabc.part", others[1]]:
        (tmp_path / "weights" / name).write_text("half")
    remove_half_written(tmp_path, "numbers", "plain", 0)
    assert sorted(path.name for path in (tmp_path / "weights").iterdir()) == others


def test_an_experiment_gives_back_its_trained_models_unless_it_keeps_none(tmp_path, monkeypatch):
    def never(job):
        raise AssertionError(job)

    made = torch.nn.Linear(2, 1)
    monkeypatch.setattr(weights, "result_folders", lambda: [tmp_path])
    keep_weights(made, tmp_path, "lines", "straight", 3)
    lines = Experiment("lines", {"straight": 1}, run=never, build=lambda name: torch.nn.Linear(2, 1))
    assert torch.equal(lines.trained("straight", 3).weight, made.weight.half().float())
    assert not lines.trained("straight", 3).training
    with pytest.raises(ValueError, match=r"no results/weights/lines_straight_0\.pt"):
        lines.trained("straight")
    with pytest.raises(ValueError, match="the experiment clocks keeps no weights, so there is no trained fast"):
        Experiment("clocks", {"fast": 1}, run=never).trained("fast")


# no experiment's: what a chapter's own file gave on one processor, which the chapter loads and tests again
OF_A_CHAPTER = {"beyond_lengths_opening_0": "17_beyond_lengths"}


def stored() -> list[tuple[str, str, int]]:
    """Experiment, model and seed of each file of weights in the repository."""
    files = (path.stem for path in (Path(__file__).parents[3] / "results" / "weights").glob("*.pt"))
    names = "|".join(sorted(EXPERIMENTS, key=len, reverse=True))  # "copying_paper" before "copying"
    splits = (re.fullmatch(rf"({names})_(.+)_(\d+)", stem) for stem in files if stem not in OF_A_CHAPTER)
    return sorted((split[1], split[2], int(split[3])) for split in splits)


@pytest.mark.parametrize("stem, chapter", OF_A_CHAPTER.items())
def test_weights_of_a_chapters_own_file_are_there_and_the_chapter_loads_them(stem, chapter):
    root = Path(__file__).parents[3]
    assert (root / "results/weights" / f"{stem}.pt").is_file()
    experiment, name, _ = stem.rsplit("_", 2)
    source = (root / f"chapters/{chapter}.ipynb").read_text(encoding="utf-8").replace('\\"', '"')
    assert f'load_weights(models["rotary, rotary"], "{experiment}", "{name}")' in source


@pytest.mark.slow
@pytest.mark.parametrize("experiment, name, seed", stored())
def test_weights_of_record_fit_the_model_that_is_built_by_their_name(experiment, name, seed):
    module = importlib.import_module(f"attnruns.experiments.{experiment}")
    assert not module.trained(name, seed).training
    assert name in EXPERIMENTS[experiment].steps
