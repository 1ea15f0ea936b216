"""What a lesson leans on: the package's own source on the page, checked claims, results and their origin."""

import ast
import difflib
import html
import inspect
import json
import math
import os
import re
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from IPython.display import display
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.style import Style
from pygments.token import Comment, Keyword, Name, Number, Operator, String

_RESULTS_VARIABLE = "ATTNBOOK_RESULTS"
_INSTALLED = Path("share", "paying-attention", "results")  # where pyproject.toml lets the wheel put them
_ORIGIN = ("command", "commit", "seeds", "device", "threads", "versions", "seconds")


class CodeStyle(Style):
    """Colours of the source on the page: each has a contrast of 4.5 or more on the light ground (WCAG AA)."""

    background_color = "#f6f8fa"
    styles = {
        Comment: "italic #57606a",
        Keyword: "bold #0b4f9e",
        Keyword.Constant: "#0b4f9e",
        Name.Builtin: "#0b4f9e",
        Name.Builtin.Pseudo: "#24292f",
        Name.Class: "bold #6f3a00",
        Name.Decorator: "#6f3a00",
        Name.Exception: "#a1260d",
        Name.Function: "bold #6f3a00",
        Number: "#6b2fa0",
        Operator.Word: "bold #0b4f9e",
        String: "#0a5c36",
        String.Doc: "italic #57606a",
    }


_INK = "color:#24292f"
_CARD = (
    f"margin:0.5em 0;border:1px solid #d0d7de;border-radius:4px;background:#f6f8fa;{_INK};color-scheme:light"
)
_CAPTION = f"padding:0.25em 0.8em;border-bottom:1px solid #d0d7de;background:#eaeef2;{_INK};font-size:0.85em"
_PATH = "background:none;border:0;padding:0;color:inherit;font-size:inherit"
_CODE = (
    f"margin:0;padding:0.6em 0.8em;border:0;background:#f6f8fa;{_INK};overflow-x:auto;white-space:pre;"
    "font-size:0.85em;line-height:1.45;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
)


class SourceView:
    """A piece of source, ready to be shown: as highlighted HTML, or as plain text where there is no HTML.

    Args:
        caption: where it comes from, e.g. ``attnbook/attention/core.py``.
        code: the source text.
    """

    def __init__(self, caption: str, code: str) -> None:
        self.caption, self.code = caption, code

    def __repr__(self) -> str:
        return f"# {self.caption}\n{self.code}"

    def _repr_html_(self) -> str:
        # Colours stand in the elements: the page's own style sheet, light or dark, can't undo half of them.
        code = highlight(
            self.code, PythonLexer(), HtmlFormatter(style=CodeStyle, noclasses=True, nowrap=True)
        )
        caption = html.escape(self.caption)
        # A region with tabindex and a name: who has no mouse can scroll to the end of a long line.
        region = f'tabindex="0" role="region" aria-label="Source: {caption}"'
        return (
            f'<div style="{_CARD}"><div style="{_CAPTION}"><code style="{_PATH}">{caption}</code></div>'
            f'<pre {region} style="{_CODE}">{code.rstrip()}</pre></div>'
        )


def show_source(shown: Callable | type, docstring: bool = True) -> None:
    """Display the source of a function, class or method: what runs is what the reader reads.

    Args:
        shown: a function, class, method or property of the package (or one defined in a notebook).
        docstring: ``False`` leaves out the docstrings, also those of a class's methods.

    Raises:
        TypeError: if ``shown`` is something else (an instance, a module), or isn't written in Python.
    """
    display(source_view(shown, docstring))


def source_view(shown: Callable | type, docstring: bool = True) -> SourceView:
    """Return what :func:`show_source` displays; arguments and errors are the same."""
    if isinstance(shown, property):
        shown = shown.fget
    shown = inspect.unwrap(shown) if callable(shown) else shown
    if not (inspect.isroutine(shown) or inspect.isclass(shown)):
        hint = "" if inspect.ismodule(shown) else f"; show its class: show_source({type(shown).__name__})"
        raise TypeError(f"show_source shows a function, class or method, got a {type(shown).__name__}{hint}")
    try:
        code = textwrap.dedent(inspect.getsource(shown)).rstrip()
    except (OSError, TypeError):
        raise TypeError(f"{shown.__qualname__} has no Python source to show") from None
    return SourceView(_caption(shown), code if docstring else _without_docstrings(code))


def _caption(shown: Callable | type) -> str:
    module = sys.modules.get(shown.__module__)
    path = "/".join(shown.__module__.split(".")) + ".py"
    if shown.__module__ == "__main__":
        path = "this notebook"
    elif hasattr(module, "__path__"):
        path = path.removesuffix(".py") + "/__init__.py"
    nested = "." in shown.__qualname__ and "<locals>" not in shown.__qualname__
    return f"{path} · {shown.__qualname__}" if nested else path


def _without_docstrings(code: str) -> str:
    lines = code.splitlines()
    nodes = [
        n
        for n in ast.walk(ast.parse(code))
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    for node in sorted(
        nodes, key=lambda node: -node.lineno
    ):  # from below, so that line numbers above stay true
        doc = node.body[0]
        if ast.get_docstring(node) is None or lines[doc.lineno - 1][: doc.col_offset].strip():
            continue  # none there, or on one line with its def
        after = doc.end_lineno
        if len(node.body) == 1:  # nothing else in there: an empty body is no Python
            lines[doc.lineno - 1 : after] = [" " * doc.col_offset + "..."]
            continue
        while not lines[after].strip():
            after += 1
        del lines[doc.lineno - 1 : after]
    return "\n".join(lines)


class ClaimError(AssertionError):
    """A sentence of the book that is no longer true."""


def claim(text: str, condition: bool, **figures: object) -> None:
    """Print a sentence of the book together with its figures if it holds, else stop.

    Args:
        text: the sentence, e.g. ``"attention wins by 20 points at six numbers"``.
        condition: the relation that makes it true, with a margin: ``attention > plain + 0.2``.
        figures: the numbers that it rests on, by name; floats are shown with three digits.

    Raises:
        ClaimError: if the condition is false; the message names the sentence and the figures.
        TypeError: if the condition isn't a truth value. A bare number would always count as true.
    """
    if isinstance(condition, torch.Tensor | np.ndarray) and condition.dtype in (torch.bool, bool):
        if condition.ndim:
            raise TypeError(
                f"condition has shape {tuple(condition.shape)}; say which you mean: .all() or .any()"
            )
        condition = condition.item()
    if not isinstance(condition, bool | np.bool_):
        raise TypeError(
            f"condition must be True or False, got {condition!r}; write the relation, e.g. x > 0.9"
        )
    shown = ", ".join(f"{name.replace('_', ' ')} = {_figure(value)}" for name, value in figures.items())
    sentence = f"{text} ({shown})" if shown else text
    if not condition:
        raise ClaimError(f"claim no longer true: {sentence}")
    print(f"✓ claim: {sentence}")


def _figure(value: object) -> str:
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 or not math.isfinite(value) else f"{value:,.0f}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_figure, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_figure(item)}" for key, item in value.items()) + "}"
    return str(value)


def load_result(name: str) -> dict:
    """Return what an experiment measured, from ``results/NAME.json``.

    Looked for in the folder that ``ATTNBOOK_RESULTS`` names; without it in ``results/`` beside or above the
    working folder, then above the installed package, and last among the files that the wheel brought along.

    Args:
        name: of the experiment, as in ``python -m attnbook.experiments NAME``.

    Raises:
        ValueError: if the name isn't a plain name, there is no such result, or the file is damaged.
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"name must be made of letters, digits, - and _, got {name!r}")
    folders = result_folders()
    for folder in folders:
        if (folder / f"{name}.json").is_file():
            return _read_result(folder / f"{name}.json")
    there = sorted({path.stem for folder in folders for path in folder.glob("*.json")})
    near = difflib.get_close_matches(name, there, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there is: {', '.join(there) or 'none at all'}."
    raise ValueError(
        f"no result {name!r}; {hint} `python -m attnbook.experiments {name}` would measure it, into scratch/; "
        f"{_RESULTS_VARIABLE} names the folder of results if they lie elsewhere"
    )


def result_folders() -> list[Path]:
    """The folders in which results are looked for, as :func:`load_result` says; the first one counts."""
    named = os.environ.get(_RESULTS_VARIABLE, "").strip()
    if named:
        if not Path(named).is_dir():
            raise ValueError(f"{_RESULTS_VARIABLE} is {named!r}, which is no folder")
        return [Path(named)]
    package = Path(__file__).resolve().parent
    above = dict.fromkeys([Path.cwd(), *Path.cwd().parents, package, *package.parents])
    # pip installs data below sys.prefix; with --user or --target it is below a folder above the package instead.
    installed = dict.fromkeys([Path(sysconfig.get_path("data")), *package.parents])
    folders = [*(folder / "results" for folder in above), *(folder / _INSTALLED for folder in installed)]
    return [folder for folder in folders if folder.is_dir()]


def _read_result(path: Path) -> dict:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"results/{path.name} is damaged: {error}; measure again") from error
    if not isinstance(result, dict) or "runs" not in result:
        raise ValueError(f"results/{path.name} is no result: it has no 'runs'; measure again")
    return result


def provenance(result: Mapping) -> str:
    """Return one line that says where a result comes from: command, commit, seeds, device, versions,
    duration.

    Args:
        result: as :func:`load_result` returns it.

    Raises:
        ValueError: if one of these isn't in the result.
    """
    missing = [key for key in _ORIGIN if key not in result]
    if missing:
        raise ValueError(f"result lacks {', '.join(missing)}; a result tells where it comes from")
    threads = result["threads"]
    minutes, seconds = divmod(round(result["seconds"]), 60)
    return " · ".join(
        [
            str(result["command"]),
            "commit " + re.sub(r"^([0-9a-f]{7})[0-9a-f]{33}", r"\1", str(result["commit"])),
            f"seeds {', '.join(map(str, result['seeds']))}",
            f"{result['device']}, {threads} thread{'s' * (threads != 1)}",
            ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
            f"{minutes} min {seconds} s" if minutes else f"{seconds} s",
        ]
    )
