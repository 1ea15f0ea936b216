"""A chapter's file is read as it stands, with what the job has; it runs without a word and leaves the threads alone."""

import json

import nbformat
import pytest
import torch

from attnruns.shared import chapter_file
from coursekit.standalone import code_of

SOURCE = "import torch\ntorch.set_num_threads(1)\nanswer = (0, 300)\nprint(answer)\n"


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """A chapter of three cells: one that is not in the file, and two that are."""
    monkeypatch.setattr(chapter_file, "CHAPTERS", tmp_path)
    tags = {"tags": ["standalone"]}
    cells = [
        {"id": "a", "source": ["import nothing\n"], "metadata": {}},
        {"id": "b", "source": SOURCE.splitlines(keepends=True), "metadata": tags},
        {"id": "c", "source": ["raise ValueError\n"], "metadata": tags},
    ]
    (tmp_path / "one.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")


def test_what_the_job_has_is_filled_in_and_cells_can_be_left_out(chapter, capsys):
    code = chapter_file.file_of("one", {"(0, 300)": "({seed}, {steps})"}, 7, 5, without=("c",))
    assert code == SOURCE.replace("(0, 300)", "(7, 5)")
    torch.set_num_threads(2)
    try:
        names, seconds = chapter_file.run_file(code)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert names["answer"] == (7, 5)
    assert seconds >= 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name, old, message", [("two", "0", r"two\.ipynb is missing"), ("one", "9", "one must hold")])
def test_what_is_not_there_is_named(chapter, name, old, message):
    with pytest.raises(ValueError, match=message):
        chapter_file.file_of(name, {old: "1"}, 0, 1)


@pytest.mark.parametrize("name", ["04_luong", "06_captioning", "13_ntm"])
def test_it_is_the_file_that_readers_get(name):
    notebook = nbformat.read(chapter_file.CHAPTERS / f"{name}.ipynb", as_version=4)
    assert chapter_file.file_of(name, {}, 0, 1) == code_of(notebook)
