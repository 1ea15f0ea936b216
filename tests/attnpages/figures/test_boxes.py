"""What diagrams are made of."""

import ast
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from attnpages.figures import chapters, palette
from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say

CHAPTERS = sorted(Path(chapters.__file__).parent.glob("ch*.py"))


@pytest.fixture
def ax():
    return canvas(None, (4, 3), (0, 10), (0, 6))


def test_a_canvas_has_no_frame_and_spans_what_it_was_told(ax):
    assert (ax.get_xlim(), ax.get_ylim(), ax.axison) == ((0, 10), (0, 6), False)
    assert tuple(ax.figure.get_size_inches()) == (4, 3)
    _, given = plt.subplots()
    assert canvas(given, (1, 1), (0, 1), (0, 1)) is given


def test_a_box_stands_on_its_lower_left_corner(ax):
    box(ax, 1, 2, 3, 1, dashed=True)
    (drawn,) = ax.patches
    assert isinstance(drawn, FancyBboxPatch)
    assert drawn.get_bbox().bounds == (1, 2, 3, 1)
    assert drawn.get_linestyle() == "--"
    assert to_hex(drawn.get_facecolor()).upper() == palette.PAPER


def test_a_box_around_its_name_has_it_in_the_middle(ax):
    box_around(ax, (5, 3), 2, 1, "norm", fill="white")
    assert ax.patches[0].get_bbox().bounds == (4, 2.5, 2, 1)
    assert [(text.get_text(), text.get_position()) for text in ax.texts] == [("norm", (5, 3))]


def test_an_arrow_has_its_colour_and_is_dashed_where_told(ax):
    arrow(ax, (0, 0), (1, 1), palette.LINE, dashed=True)
    arrow(ax, (0, 0), (1, 1))
    assert all(isinstance(drawn, FancyArrowPatch) for drawn in ax.patches)
    assert [to_hex(drawn.get_edgecolor()).upper() for drawn in ax.patches] == [palette.LINE, palette.INK]
    assert [drawn.get_linestyle() for drawn in ax.patches] == ["--", "-"]


def test_a_line_takes_nothing_from_the_cycle_of_the_style(ax):
    for _ in range(3):
        line(ax, (0, 1), (0, 1))
    assert {(drawn.get_linestyle(), drawn.get_marker(), drawn.get_color()) for drawn in ax.lines} == {
        ("-", "", palette.INK)
    }


def test_words_stand_over_boxes(ax):
    say(ax, 1, 1, "above")
    box(ax, 0, 0, 2, 2)
    assert ax.texts[0].get_zorder() > ax.patches[0].get_zorder()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_make_no_boxes_and_arrows_of_their_own(path):
    code = path.read_text(encoding="utf-8")
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    assert names.isdisjoint({"FancyBboxPatch", "FancyArrowPatch"})
    assert re.findall("#[0-9a-fA-F]{6}", code) == []
