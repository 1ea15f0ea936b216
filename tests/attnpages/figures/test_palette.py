"""One module holds the colours; every other one calls them by name."""

import re
from pathlib import Path

import pytest

from attnpages.figures import palette
from attnpages.figures.boxes import box
from attnpages.figures.style import STYLES, TRUTH_COLOUR, new_axes

COLOUR = re.compile(r"#[0-9A-Fa-f]{3,8}\b")
NAMED = {name: value for name, value in vars(palette).items() if name.isupper()}
MODULES = sorted(Path(palette.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", [path for path in MODULES if path.name != "palette.py"], ids=lambda path: path.stem)
def test_no_other_module_holds_a_colour_as_a_number(path):
    assert COLOUR.findall(path.read_text(encoding="utf-8")) == []


def test_the_pattern_finds_colours_of_every_length():
    assert COLOUR.findall('"#FFF", "#F1EBDD", "#F1EBDD80", a # b') == ["#FFF", "#F1EBDD", "#F1EBDD80"]


def test_each_colour_has_one_name():
    assert all(re.fullmatch("#[0-9A-F]{6}", value) for value in NAMED.values())
    assert len(set(NAMED.values())) == len(NAMED) > 20


def test_boxes_and_curves_take_their_colours_from_here():
    ax = new_axes()
    box(ax, 0, 0, 1, 1)
    drawn = {tuple(round(255 * part) for part in ax.patches[0].get_facecolor()[:3])}
    assert drawn == {tuple(bytes.fromhex(palette.PAPER[1:]))}
    assert {style.colour for style in STYLES} <= set(NAMED.values())
    assert TRUTH_COLOUR == palette.VERMILION
