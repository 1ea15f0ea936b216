import pytest

from attnpages.figures.chapters.ch07_parts import draw_two_parts


def test_dots_by_kind_and_a_curve_per_model_share_their_axis(looks_right):
    left, right = draw_two_parts({"nouns": [3.0, 4.0], "opening words": [-7.0, -9.0]}, [[9, 5, -2], [8, 4, -1]], (1, 2))
    looks_right(left)
    looks_right(right)
    assert [list(line.get_ydata()) for line in left.get_lines()] == [[3, -7], [4, -9]]
    assert [list(line.get_ydata()) for line in right.get_lines()] == [[9, 5, -2], [8, 4, -1]]
    assert list(right.get_lines()[0].get_xdata()) == [1, 2, 3]
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["nouns", "opening\nwords"]
    assert left.get_ylim() == right.get_ylim()


def test_each_kind_needs_a_value_per_model():
    with pytest.raises(ValueError, match="nouns has 1 values for 2 models"):
        draw_two_parts({"nouns": [3.0]}, [[1.0], [2.0]], (1, 1))
