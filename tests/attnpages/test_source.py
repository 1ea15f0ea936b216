"""The source on the page: what runs, in colours that can be read."""

import functools
import html
import importlib
import re
import sys
from pathlib import Path

import pytest
import torch

from attnbook.attention import attend, attention_weights, causal_mask, masked_softmax
from attnbook.measure.metrics import exact_match
from attnbook.models.ntm_addressing import content_weights, erase_and_add, read
from attnpages import claim, show_source, source
from attnpages.source import SourceView, source_view

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


def test_a_word_to_the_formatter_is_not_shown(module, tmp_path):
    lines = "def add(\n    a, b,\n):  # fmt: skip\n    return a + b  # the sum\n"
    (tmp_path / "laid_out.py").write_text(lines, encoding="utf-8")
    code = source_view(importlib.import_module("laid_out").add).code
    assert code == "def add(\n    a, b,\n):\n    return a + b  # the sum"


@pytest.mark.parametrize(
    "shown",
    [masked_softmax, causal_mask, attend, attention_weights, content_weights, read, erase_and_add],
    ids=lambda shown: shown.__name__,
)
def test_the_functions_that_the_book_rests_on_are_shown_in_ten_lines(shown):
    assert len(source_view(shown, docstring=False).code.splitlines()) <= 10


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
    assert str(Path(source.__file__).parents[1]) not in page + repr(source_view(exact_match))


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
        'tabindex="0" role="region" aria-label="Source: attnbook/measure/metrics.py"'
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
