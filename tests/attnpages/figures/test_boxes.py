"""What diagrams are made of."""

import ast
import re
from pathlib import Path

import pytest

from attnpages.figures import chapters
from attnpages.figures.boxes import box, canvas, pixels, say

CHAPTERS = sorted(Path(chapters.__file__).parent.glob("ch*.py"))


@pytest.fixture
def ax():
    return canvas(None, (4, 3), (0, 10), (0, 6))


def test_an_image_stands_upright_in_its_frame_and_leaves_the_limits_as_they_are(ax):
    pixels(ax, [[1.0, 0.0], [0.0, 0.0]], (2, 3), 4, 2)
    (image,), (frame,) = ax.images, ax.patches
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 10), (0, 6))
    assert image.get_extent() == [2, 6, 3, 5] == [*frame.get_bbox().intervalx, *frame.get_bbox().intervaly]
    assert image.origin == "upper"  # row 0 at the top
    assert image.get_array()[0, 0] == 1
    assert frame.get_zorder() > image.get_zorder()


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
