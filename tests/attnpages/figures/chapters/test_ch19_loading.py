import pytest

from attnpages.figures.chapters.ch19_loading import SMALLEST, draw_decoders, plot_errors


def test_decoders_stand_side_by_side_and_each_setting_has_its_number():
    steps = [("words", "15"), ("norm", "2"), ("attention", "4"), ("feed-forward", ""), ("output", "")]
    ax = draw_decoders({"then": steps, "now": steps})
    words = [text.get_text() for text in ax.texts]
    assert [words.count(name) for name in ("then", "now", "words", "norm", "attention", "+")] == [1, 1, 2, 4, 2, 4]
    badges = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert sorted(text.get_text() for text in badges) == sorted("15224" * 2)  # that of the norm stands at both norms
    assert len({text.get_bbox_patch().get_facecolor() for text in badges}) == 2  # those of the last column in colour
    with pytest.raises(ValueError, match=r"give five steps per column, for two at most, got \[2\]"):
        draw_decoders({"now": steps[:2]})


def test_each_mistake_has_curves_of_its_own_look_and_no_error_lies_on_the_axis():
    ax = plot_errors({"base": [[0.0, 0.1, 3.0]], "others": [[30.0, 20.0, 40.0], [10.0, 20.0, 30.0]]})
    heights = [curve.get_ydata().tolist() for curve in ax.lines]
    assert heights == [[SMALLEST, 0.1, 3.0], [30.0, 20.0, 40.0], [10.0, 20.0, 30.0]]
    assert ax.lines[0].get_color() != ax.lines[1].get_color() == ax.lines[2].get_color()
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["base", "others"]
    with pytest.raises(ValueError, match="at most 5 kinds of curves apart, got 6"):
        plot_errors({name: [[1.0]] for name in "abcdef"})
