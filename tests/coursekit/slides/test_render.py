"""Parts of a slide as HTML."""

import pytest

from coursekit import CourseError
from coursekit.slides import render
from coursekit.slides.blocks import Block
from coursekit.slides.labels import Labels


def test_the_shape_of_a_picture_is_read_from_its_first_bytes():
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (300).to_bytes(4, "big") + (200).to_bytes(4, "big")
    assert render.aspect("image/png", png) == 1.5
    assert render.aspect("image/svg+xml", b'<svg viewBox="0 0 40 10">') == 4
    assert render.aspect("image/svg+xml", b"<svg>") == 2


def test_a_picture_in_a_file_becomes_a_part_of_the_page(tmp_path):
    (tmp_path / "line.svg").write_text('<svg viewBox="0 0 4 1"></svg>')
    block = Block("box", "A *line*.", title="line.svg", name="figure", options={"alt": 'a "line"'})
    image, caption, aspect = render.picture_of_file(block, Labels(tmp_path), tmp_path)
    assert image.startswith('<img src="data:image/svg+xml;base64,')
    assert 'alt="a &quot;line&quot;"' in image
    assert (caption, aspect) == ("<figcaption>A <em>line</em>.</figcaption>", 4)


def test_a_picture_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"there is no picture line\.svg"):
        render.picture_of_file(Block("box", "", title="line.svg", name="figure"), Labels(tmp_path), tmp_path)


def test_a_formula_bears_the_books_number(tmp_path):
    labels = Labels(tmp_path)
    labels.places = {"eq-a": "(2.1)"}
    assert "\\tag{2.1}" in render.formula(Block("formula", "a", label="eq-a"), labels)[0]
    assert "\\tag" not in render.formula(Block("formula", "a"), labels)[0]


def test_code_and_what_it_prints_are_text(tmp_path):
    html, height = render.code("a < b", "<b>")
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert height > render.code("a", "")[1]
