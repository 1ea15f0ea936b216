"""What notebooks import and show."""

import json
import os

import nbformat.v4 as v4
import pytest

from coursekit.interface import uses
from coursekit.interface.uses import Use, cells, imported, uses_of, wanted_by_others
from coursekit.notebooks import write


@pytest.fixture
def notebook(tmp_path):
    cells = [
        v4.new_markdown_cell("(sec-01-begin)=\n## Begin"),
        v4.new_code_cell("from attnbook.attention import (\n    attend,  # the sum\n    Dot as Score,\n)"),
        v4.new_code_cell("x = Score(2) + attend(1)"),
        v4.new_markdown_cell("(sec-01-layer)=\n## The layer"),
        v4.new_code_cell("from attnpages.source import show_source\nshow_source(attend, docstring=False)"),
    ]
    path = tmp_path / "chapters/01_begin.ipynb"
    write(v4.new_notebook(cells=cells), path)
    return path


def test_names_are_known_by_what_the_code_calls_them():
    assert imported("from a.b import c, d as e  # f\nimport g\n    from h import i") == {
        "c": ("a.b", "c"), "e": ("a.b", "d"), "i": ("h", "i"),
    }  # fmt: skip


def test_a_use_is_at_the_label_before_it_and_where_the_source_is_shown_counts_more(notebook):
    uses = dict(uses_of(notebook, "chapters/01_begin"))
    assert uses[("attnbook.attention", "attend")] == Use("chapters/01_begin", "sec-01-layer", True)
    assert uses[("attnbook.attention", "Dot")] == Use("chapters/01_begin", "sec-01-begin", False)


def test_what_others_want_is_what_notebooks_and_other_packages_import(notebook, tmp_path):
    for room, text in {"attnbook": "from attnbook.own import x", "attnlabs": "from attnbook.some import y"}.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / "one.py").write_text(text)
    wanted = wanted_by_others(tmp_path, [notebook])
    assert ("attnbook.some", "y") in wanted
    assert ("attnbook.attention", "attend") in wanted
    assert ("attnbook.own", "x") not in wanted


def test_a_notebook_is_parsed_once_until_it_changes(tmp_path, monkeypatch):
    path, parsed = tmp_path / "a.ipynb", []
    real = json.loads
    monkeypatch.setattr(uses.json, "loads", lambda text: parsed.append(text) or real(text))
    path.write_text('{"cells": [{"cell_type": "code", "source": ["a = 1"]}]}', encoding="utf-8")
    assert [cells(path), cells(path)] == [(("code", "a = 1"),)] * 2
    assert len(parsed) == 1
    path.write_text('{"cells": []}', encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert cells(path) == ()
