"""Notebooks that need the weights of others: skipped with the reason where these are not kept, run where they are."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from needed_weights import missing_weights, skip_without_weights

from attnbook.models.pretrained import fetching

ROOT = Path(__file__).parents[2]


@pytest.fixture
def notebook(tmp_path):
    path = tmp_path / "21_notebook.ipynb"
    path.write_text(json.dumps({"metadata": {"attnbook": {"needs": ["smollm2"]}}, "cells": []}), encoding="utf-8")
    return path


def marks_on(path):
    marks = []
    skip_without_weights([SimpleNamespace(path=path, add_marker=marks.append)])
    return [mark.mark.kwargs["reason"] for mark in marks]


def test_a_notebook_is_skipped_with_the_command_that_brings_its_weights(notebook, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_folders", lambda name: [tmp_path / "nowhere"])
    assert marks_on(notebook) == ["smollm2 not here: python -m attnbook.pretrained smollm2"]


def test_a_notebook_whose_weights_are_here_runs(notebook, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_folders", lambda name: [tmp_path])
    for file in fetching.PUBLISHED["smollm2"].files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert missing_weights(notebook) == ()
    assert marks_on(notebook) == []


def test_a_notebook_that_needs_none_and_a_test_are_left_alone(tmp_path):
    assert marks_on(ROOT / "chapters/00_attention_map.ipynb") == []
    assert marks_on(tmp_path / "test_not_there.py") == []


def test_unknown_weights_are_refused(tmp_path):
    path = tmp_path / "22_unknown.ipynb"
    path.write_text(json.dumps({"metadata": {"attnbook": {"needs": ["gpt5"]}}, "cells": []}), encoding="utf-8")
    with pytest.raises(ValueError, match="none called 'gpt5'"):
        missing_weights(path)
