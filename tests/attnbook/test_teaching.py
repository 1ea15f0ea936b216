import functools
import html
import importlib
import json
import re
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import torch

from attnbook import teaching
from attnbook.metrics import exact_match
from attnbook.teaching import ClaimError, SourceView, claim, load_result, provenance, show_source, source_view

MODULE = '''"""A module."""
import functools


def loud(function):
    @functools.wraps(function)
    def shout(*args):
        return function(*args)
    return shout


@loud
def add(a, b):
    """Add.

    Two lines.
    """

    # why: a reason
    return a + b  # "<b>" & more


class Box:
    """A box."""

    size = 3

    def __init__(self):
        """Set up."""
        self.inner = """not a docstring"""
    @property
    def width(self):
        """The width."""
        return self.size
    @classmethod
    def make(cls):
        return cls()

class Empty(ValueError):
    """Only words."""


def one_line(): "doc"; return 1
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """``tiny/inner.py`` with the source above; ``tiny/__init__.py`` holds the same."""
    (tmp_path / "tiny").mkdir()
    for name in ("__init__", "inner"):
        (tmp_path / "tiny" / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("tiny.inner")
    for name in ("tiny", "tiny.inner"):
        sys.modules.pop(name, None)


def luminance(code: str) -> float:
    channels = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_source_shown_is_the_source_that_runs(capsys):
    show_source(exact_match)
    shown = capsys.readouterr().out
    assert shown.startswith("# attnbook/metrics.py\ndef exact_match(")
    assert "return sum(hits) / len(hits)" in shown
    assert "Raises:" in shown


def test_the_docstring_can_be_left_out(capsys):
    show_source(exact_match, docstring=False)
    shown = capsys.readouterr().out
    assert "Raises:" not in shown
    assert "return sum(hits) / len(hits)" in shown


def test_a_class_loses_the_docstrings_of_its_methods_too_and_nothing_else(module):
    code = source_view(module.Box, docstring=False).code
    assert "A box" not in code
    assert "Set up" not in code
    assert '"""not a docstring"""' in code
    assert code.startswith("class Box:\n    size = 3\n")
    compile(code, "shown", "exec")


def test_comments_stay_when_the_docstring_goes(module):
    code = source_view(module.add, docstring=False).code
    assert code == '@loud\ndef add(a, b):\n    # why: a reason\n    return a + b  # "<b>" & more'


def test_a_body_of_nothing_but_words_becomes_dots(module):
    assert source_view(module.Empty, docstring=False).code == "class Empty(ValueError):\n    ..."


def test_a_docstring_on_the_line_of_its_def_stays(module):
    assert source_view(module.one_line, docstring=False).code == 'def one_line(): "doc"; return 1'


def test_methods_are_shown_with_their_class_in_the_caption_and_without_indent(module):
    for method in (module.Box.make, module.Box().make):
        view = source_view(method)
        assert view.caption == "tiny/inner.py · Box.make"
        assert view.code.startswith("@classmethod\ndef make(cls):\n    return")
    assert source_view(module.Box.width).caption == "tiny/inner.py · Box.width"
    assert source_view(functools.partial(module.add, 1).func).caption == "tiny/inner.py"


def test_a_function_of_a_package_is_found_in_its_init(module):
    assert source_view(sys.modules["tiny"].add).caption == "tiny/__init__.py"


def test_a_function_of_the_notebook_says_so(monkeypatch):
    monkeypatch.setattr(luminance, "__module__", "__main__")
    assert source_view(luminance).caption == "this notebook"


def test_html_is_escaped_and_holds_the_same_text(module):
    view = source_view(module.add)
    page = view._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert html.unescape(re.sub(r"<[^>]+>", "", page)) == view.caption + view.code


def test_html_is_the_same_on_each_machine_and_loads_nothing():
    page = source_view(exact_match)._repr_html_()
    assert page == source_view(exact_match)._repr_html_()
    assert not re.search(r"https?:|src=|href=|url\(|<style|<script|class=", page)
    assert str(Path(teaching.__file__).parents[1]) not in page + repr(source_view(exact_match))


def test_each_colour_can_be_read_on_its_ground():
    page = source_view(SourceView)._repr_html_() + source_view(claim)._repr_html_()
    colours = set(re.findall(r'(?<=[";])\s*color:\s*(#[0-9a-fA-F]{6})', page))
    assert len(colours) >= 5
    ground = luminance("#eaeef2")  # the darker of the two
    assert all((ground + 0.05) / (luminance(colour) + 0.05) >= 4.5 for colour in colours)


def test_the_card_brings_its_own_ground_and_ink():
    page = source_view(exact_match)._repr_html_()
    for element in re.findall(r"<(?:div|pre)[^>]*>", page):
        assert "background:#" in element
        assert re.search(r"[;\"]color:#", element)


def test_a_long_line_can_be_scrolled_with_the_keyboard():
    assert (
        'tabindex="0" role="region" aria-label="Source: attnbook/metrics.py"'
        in source_view(exact_match)._repr_html_()
    )


@pytest.mark.parametrize("wrong", [3, "text", torch, torch.nn.Linear(1, 1)])
def test_only_functions_classes_and_methods_can_be_shown(wrong):
    with pytest.raises(TypeError, match="show_source shows a function, class or method, got a "):
        show_source(wrong)
    with pytest.raises(TypeError, match=r"got a Linear; show its class: show_source\(Linear\)"):
        show_source(torch.nn.Linear(1, 1))


@pytest.mark.parametrize("wrong", [len, torch.tanh, dict])
def test_what_is_not_written_in_python_has_no_source(wrong):
    with pytest.raises(TypeError, match="has no Python source to show"):
        show_source(wrong)


def test_a_true_claim_prints_its_sentence_and_figures(capsys):
    claim("attention wins", True, attention=0.98765, plain_model=torch.tensor(0.25), steps=1500, big=123456.7)
    shown = "attention = 0.988, plain model = 0.25, steps = 1500, big = 123,457"
    assert capsys.readouterr().out == f"✓ claim: attention wins ({shown})\n"


def test_figures_may_be_lists_and_tables(capsys):
    claim("holds", True, seeds=[0.5, 1.0], table={6: np.float64(0.125)}, name="GRU")
    assert capsys.readouterr().out == "✓ claim: holds (seeds = [0.5, 1], table = {6: 0.125}, name = GRU)\n"


def test_a_claim_needs_no_figures(capsys):
    for true in (torch.tensor(True), np.bool_(True)):
        claim("rows sum to one", true)
    assert capsys.readouterr().out == "✓ claim: rows sum to one\n" * 2


def test_a_false_claim_stops_with_sentence_and_figures(capsys):
    with pytest.raises(ClaimError, match=r"claim no longer true: attention wins \(by = 0.01\)"):
        claim("attention wins", torch.tensor(False), by=0.01)
    assert capsys.readouterr().out == ""
    assert issubclass(ClaimError, AssertionError)


@pytest.mark.parametrize("wrong", [0.97, 1, "yes", None, torch.tensor(0.97)])
def test_a_bare_number_is_no_condition(wrong):
    with pytest.raises(TypeError, match=r"condition must be True or False, got .*write the relation"):
        claim("accuracy is high", wrong)


def test_many_truths_are_no_condition():
    with pytest.raises(TypeError, match=r"condition has shape \(2,\); say which you mean"):
        claim("all rows sum to one", torch.tensor([True, False]))


RESULT = {
    "name": "numbers",
    "command": "python -m attnbook.experiments numbers",
    "commit": "0123456789" * 4 + "-dirty",
    "started": "2026-01-01 12:00 UTC",
    "device": "cpu",
    "threads": 1,
    "versions": {"python": "3.11.9", "torch": "2.13.0", "numpy": "2.4.6"},
    "seeds": [0, 1, 2],
    "settings": {},
    "seconds": 372.4,
    "runs": [],
}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A book in ``tmp_path`` with one result; the working folder is its chapters/."""
    (tmp_path / "results").mkdir()
    (tmp_path / "chapters").mkdir()
    (tmp_path / "results" / "numbers.json").write_text(json.dumps(RESULT))
    monkeypatch.delenv("ATTNBOOK_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path / "chapters")
    return tmp_path / "results"


def test_a_result_is_found_from_a_folder_of_the_book(results):
    assert load_result("numbers") == RESULT


def test_the_variable_says_where_results_lie(results, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.json").write_text(json.dumps({**RESULT, "name": "mine"}))
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path / "elsewhere"))
    assert load_result("mine")["name"] == "mine"
    with pytest.raises(ValueError, match="no result 'numbers'"):
        load_result("numbers")


def test_a_missing_result_says_how_to_get_it_and_what_is_there(results):
    with pytest.raises(ValueError, match=r"no result 'number'; did you mean 'numbers'\?"):
        load_result("number")
    with pytest.raises(ValueError, match=r"there is: .*numbers.*`python -m attnbook.experiments zebra`"):
        load_result("zebra")


@pytest.fixture
def wheel(results, tmp_path, monkeypatch):
    """As after installing the wheel: no book anywhere above, the results among the environment's shared files."""
    installed = tmp_path / "environment" / "share" / "paying-attention" / "results"
    installed.parent.mkdir(parents=True)
    results.rename(installed)
    (tmp_path / "site" / "attnbook").mkdir(parents=True)
    monkeypatch.setattr(teaching, "__file__", str(tmp_path / "site" / "attnbook" / "teaching.py"))
    monkeypatch.setattr(sysconfig, "get_path", {"data": str(tmp_path / "environment")}.get)
    return installed


def test_without_a_book_the_results_that_the_wheel_brought_are_read(wheel):
    assert teaching.result_folders() == [wheel]
    assert load_result("numbers") == RESULT


def test_results_of_the_book_come_before_those_of_the_wheel(wheel, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "numbers.json").write_text(json.dumps({**RESULT, "seconds": 1}), encoding="utf-8")
    assert load_result("numbers")["seconds"] == 1
    (tmp_path / "results" / "numbers.json").unlink()  # a folder of this name that holds something else
    assert load_result("numbers") == RESULT


def test_what_pip_puts_above_the_package_is_found_too(wheel, tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", {"data": str(tmp_path / "elsewhere")}.get)
    monkeypatch.setattr(teaching, "__file__", str(wheel.parents[2] / "attnbook" / "teaching.py"))
    assert load_result("numbers") == RESULT


@pytest.mark.parametrize("wrong", ["../secret", "a/b", "numbers.json", ""])
def test_a_result_has_a_plain_name(results, wrong):
    with pytest.raises(ValueError, match="name must be made of letters"):
        load_result(wrong)


def test_a_variable_that_names_no_folder_is_refused(results, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_RESULTS", "nowhere-at-all")
    with pytest.raises(ValueError, match="ATTNBOOK_RESULTS is 'nowhere-at-all', which is no folder"):
        load_result("numbers")


@pytest.mark.parametrize(
    "content, said", [('{"runs": [', "is damaged"), ("[]", "is no result"), ("{}", "no 'runs'")]
)
def test_a_broken_result_is_named(results, content, said):
    (results / "numbers.json").write_text(content)
    with pytest.raises(ValueError, match=rf"results/numbers.json.*{said}.*measure again"):
        load_result("numbers")


def test_provenance_is_one_line_with_everything():
    assert provenance(RESULT) == (
        "python -m attnbook.experiments numbers · commit 0123456-dirty · seeds 0, 1, 2 · cpu, 1 thread · "
        "python 3.11.9, torch 2.13.0, numpy 2.4.6 · 6 min 12 s"
    )
    assert "cpu, 2 threads" in provenance({**RESULT, "threads": 2})
    assert provenance({**RESULT, "seconds": 41.7}).endswith("numpy 2.4.6 · 42 s")


def test_a_result_without_origin_is_refused():
    with pytest.raises(ValueError, match="result lacks commit, seeds"):
        provenance({key: value for key, value in RESULT.items() if key not in ("commit", "seeds")})
