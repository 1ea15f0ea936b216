"""What live figures say in their texts, and what chapters say in their place: for tests that hold its numbers."""

import json
import re
from functools import cache

import pytest
from browser import chromium
from live_pages import ROOT

in_chromium = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]


@cache
def script(figure: str) -> str:
    """The script of a figure."""
    return (ROOT / f"book/live/figures/{figure}.js").read_text(encoding="utf-8")


def said(figure: str, part: str) -> str:
    """What a figure says under `todo`, `learned` or `about`."""
    return re.search(rf'{part}:\s*"([^"]*)"', script(figure))[1]


def around(chapter: str, figure: str) -> str:
    """The text of the cell in which a figure stands."""
    cells = json.loads((ROOT / f"chapters/{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    [text] = ["".join(cell["source"]) for cell in cells if f"{{live}} {figure}\n" in "".join(cell["source"])]
    return text


def instead(chapter: str, figure: str) -> str:
    """What stands in a chapter for a figure where no script runs."""
    return around(chapter, figure).split(":::")[1]


def percent(share: float) -> str:
    """A share as the figures write it."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"
