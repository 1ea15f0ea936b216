import pytest

from attnpages.figures.chapters.ch04 import (
    PLACEMENTS,
    draw_placements,
    draw_windows,
    plot_attended,
    plot_centre_paths,
    plot_rules,
    plot_window,
)
from attnpages.figures.style import styles_for

WORDS = ["six", ",", "forty", "two", ",", "seven"]
SOFTMAX, GAUSSIAN = [0.0, 0.1, 0.2, 0.3, 0.1, 0.3], [0.01, 0.14, 0.61, 1.0, 0.61, 0.14]


def written_in(ax):
    return [text.get_text() for text in ax.texts]


def test_a_window_holds_the_words_near_its_centre_and_global_attention_all():
    axes = draw_windows(["a", "b", "c"], ["x", "y"], [(0, 0)], {"global": None, "window": [0.0, 1.5]})
    spans = [[(bar.get_x(), bar.get_width()) for bar in ax.patches] for ax in axes.flat]
    assert spans == [[(-0.5, 3), (-0.5, 3)], [(-0.5, 2), (0.5, 2)]]
    assert list(axes.flat[1].lines[1].get_xdata()) == [0.0, 1.5]


def test_a_window_needs_a_centre_per_target_word():
    with pytest.raises(ValueError, match="'window' has 1 centres but there are 2 target words"):
        draw_windows(["a", "b"], ["x", "y"], [(0, 0)], {"window": [0.0]})


def test_only_a_stack_has_two_cells_and_a_skip_connection():
    panels = dict(zip(PLACEMENTS, map(written_in, draw_placements().flat), strict=True))
    assert {"LSTM 1", "LSTM 2", "+", "skip"} <= {*panels["skip"]}
    assert all("LSTM" in panels[name] for name in PLACEMENTS if name != "skip")


def test_an_unknown_placement_is_refused():
    with pytest.raises(ValueError, match="placement must be one of output, input, both, skip, got 'top'"):
        draw_placements(["top"])


def test_the_third_row_of_a_window_is_the_product():
    axes = plot_window(WORDS, SOFTMAX, GAUSSIAN, centre=3.0, half_width=2)
    heights = [[bar.get_height() for bar in ax.containers[0]] for ax in axes]
    assert heights[0] == pytest.approx(SOFTMAX)
    assert heights[2] == pytest.approx([a * b for a, b in zip(SOFTMAX, GAUSSIAN, strict=True)])


def test_a_window_needs_a_number_per_word():
    with pytest.raises(ValueError, match="gaussian has 2 numbers but there are 6 words"):
        plot_window(WORDS, SOFTMAX, GAUSSIAN[:2], 3.0, 2)


def test_paths_and_links_are_drawn_where_they_are():
    ax = plot_centre_paths({"local_p": [0.0, 1.5, 2.0]}, {(1, 0), (0, 2)})
    lines = {item.get_label(): list(item.get_ydata()) for item in ax.lines}
    assert lines == {"true links": [1, 0], "local p": [0.0, 1.5, 2.0]}


def test_no_path_is_refused():
    with pytest.raises(ValueError, match="paths is empty"):
        plot_centre_paths({}, {(0, 0)})


def test_each_rule_is_named_beside_its_line_and_not_in_a_legend():
    curves = {"global": {5: [1.0, 1.0], 6: [0.0, 0.2]}, "walking": {5: [1.0, 1.0], 6: [0.9, 0.9]}}
    ax = plot_rules(curves, {"global": (2, 0.4), "walking": (6.2, 0.9)}, trained=(1, 5))
    assert ax.get_legend() is None
    named = {text.get_text(): text for text in ax.texts}
    assert named["global"].xy == pytest.approx((6, 0.1))  # its leader ends at the mean
    assert named["walking"].arrow_patch is None


def test_a_rule_without_a_label_is_refused():
    with pytest.raises(ValueError, match="there is none for global"):
        plot_rules({"global": {6: [0.0]}}, {}, (1, 5))


def test_positions_are_drawn_against_the_true_ones():
    five = {"global": [(0, 0), (1, 3)], "local-p": [(1, 0.5)]}
    axes = plot_attended({"5 numbers": five, "15": {"local-p": [(9, 9.0)]}})
    assert [ax.get_title() for ax in axes] == ["5 numbers", "15"]
    diagonal, of_global, local_p = axes[0].lines
    assert list(diagonal.get_xdata()) == [0, 1]
    assert (list(of_global.get_xdata()), list(of_global.get_ydata())) == ([0, 1], [0, 3])
    assert (list(local_p.get_xdata()), list(local_p.get_ydata())) == ([1], [0.5])
    assert [marks.get_label() for marks in (of_global, local_p)] == ["global", "local-p"]
    assert of_global.get_marker() != local_p.get_marker()


def test_the_centre_of_a_window_is_a_dot_of_its_models_colour():
    panels = {"5": {"global": [(1, 1)], "local-p": [(1, 2)]}}
    ax = plot_attended(panels, {"5": {"local-p": [(1, 1.5)]}})[0]
    in_legend = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert in_legend == ["global", "local-p", "centre of the window"]
    _, of_global, local_p, dots = ax.lines
    assert list(dots.get_ydata()) == [1.5]
    assert dots.get_color() == local_p.get_color() != of_global.get_color()


def test_a_model_keeps_the_colour_of_another_figure():
    green = styles_for(["a", "b", "walking"])["walking"]
    ax = plot_attended({"5": {"walking": [(1, 1)]}}, styles={"walking": green})[0]
    assert ax.lines[1].get_color() == green.colour


def test_no_list_is_refused():
    with pytest.raises(ValueError, match="panels is empty"):
        plot_attended({})
