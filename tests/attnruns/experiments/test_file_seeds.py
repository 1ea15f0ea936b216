"""The files of chapters 4 and 6 with other seeds: what is replaced in them is there, and what they find is told."""

import json

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import file_seeds
from attnruns.shared import chapter_file
from attnruns.shared.runner import Job

SMALL = {
    "04_luong": "import random, torch\nrandom.seed(0)\ntorch.manual_seed(0)\ntorch.set_num_threads(1)\n"
    "def train(steps=300):\n    return {n: n * steps + random.random() + torch.rand(()).item() for n in (2, 5)}\n"
    "shares = {'global': train(), 'window': train()}",
    "06_captioning": "import torch\ndef trained(loss, seed=0, steps=300):\n    return seed / 10, steps / 10\n"
    "found = {'soft': trained(None)}",
}


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """Two chapters with small files, beside a cell that is not in the file."""
    monkeypatch.setattr(chapter_file, "CHAPTERS", tmp_path)
    for name, source in SMALL.items():
        cells = [{"source": ["import nothing\n"], "metadata": {}}]
        cells += [{"source": source.splitlines(keepends=True), "metadata": {"tags": ["standalone"]}}]
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": cells}))
    return tmp_path


@pytest.mark.parametrize("name", file_seeds.STEPS)
def test_the_chapters_have_what_is_replaced_and_nothing_else_changes(name):
    changed, plain = file_seeds.code(name, 7, 5), file_seeds.code(name, 0, 300)
    compile(changed, name, "exec")
    pairs = [(one, two) for one, two in zip(plain.splitlines(), changed.splitlines(), strict=True) if one != two]
    assert len(pairs) == len(file_seeds.REPLACED[name])
    assert all("7" in two or "steps=5" in two for _, two in pairs)


@pytest.mark.parametrize("name", file_seeds.STEPS)
def test_a_file_runs_with_the_seed_and_the_steps_of_the_job(name, chapters, tmp_path):
    figures = checked_run(file_seeds, Job(name, 1, 2), tmp_path, "cpu")
    if name == "06_captioning":
        assert figures["soft"] == {"exact": 0.1, "pointing": 0.2}
    else:
        assert set(figures["global"]) == set(figures["window"]) == {"2", "5"}
        assert 4 < figures["global"]["2"] < 6
        assert file_seeds.run(Job(name, 2, 2)).figures["global"] != figures["global"]


def test_the_file_leaves_the_number_of_threads_alone(chapters):
    torch.set_num_threads(2)
    try:
        file_seeds.run(Job("04_luong", 1, 2))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_a_chapter_that_is_not_there_or_says_something_else_is_named(chapters):
    path = chapters / "04_luong.ipynb"
    path.write_text(path.read_text().replace("random.seed(0)", "random.seed(3)"))
    with pytest.raises(ValueError, match=r"04_luong must hold 'random.seed\(0\)'"):
        file_seeds.code("04_luong", 1, 2)
    path.unlink()
    with pytest.raises(ValueError, match=r"04_luong\.ipynb is missing: .*run this in a checkout"):
        file_seeds.code("04_luong", 1, 2)
    with pytest.raises(ValueError, match="there is: 04_luong"):
        file_seeds.code("nothing", 1, 2)
