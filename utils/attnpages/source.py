"""A piece of the package's own source, ready to be shown: as highlighted HTML, or as plain text."""

import ast
import html
import inspect
import re
import sys
import textwrap
from collections.abc import Callable

from attnbook.extras import needed_from

with needed_from("notebooks"):
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer
    from pygments.style import Style
    from pygments.token import Comment, Keyword, Name, Number, Operator, String


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


_FORMATTERS_WORD = re.compile(r"  # fmt: skip$", re.MULTILINE)  # tells a reader nothing

_INK = "color:#24292f"
_CARD = f"margin:0.5em 0;border:1px solid #d0d7de;border-radius:4px;background:#f6f8fa;{_INK};color-scheme:light"
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
        code = highlight(self.code, PythonLexer(), HtmlFormatter(style=CodeStyle, noclasses=True, nowrap=True))
        caption = html.escape(self.caption)
        # A region with tabindex and a name: who has no mouse can scroll to the end of a long line.
        region = f'tabindex="0" role="region" aria-label="Source: {caption}"'
        return (
            f'<div style="{_CARD}"><div style="{_CAPTION}"><code style="{_PATH}">{caption}</code></div>'
            f'<pre {region} style="{_CODE}">{code.rstrip()}</pre></div>'
        )


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
    code = _FORMATTERS_WORD.sub("", code)
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
        n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    for node in sorted(nodes, key=lambda node: -node.lineno):  # from below, so that line numbers above stay true
        doc = node.body[0]
        if ast.get_docstring(node) is None or lines[doc.lineno - 1][: doc.col_offset].strip():
            continue  # none there, or on one line with its def
        after = doc.end_lineno or doc.lineno
        if len(node.body) == 1:  # nothing else in there: an empty body is no Python
            lines[doc.lineno - 1 : after] = [" " * doc.col_offset + "..."]
            continue
        while not lines[after].strip():
            after += 1
        del lines[doc.lineno - 1 : after]
    return "\n".join(lines)
