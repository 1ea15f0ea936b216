import re

import pytest
import torch

from attnpages.figures.chapters.ch03 import draw_library, plot_against_features, plot_by_rate, plot_mixing, plot_runs

BOOKS = {
    "titles": ["A history of bread", "Encyclopaedia"],
    "query": [2, 0],
    "keys": [[2, 0], [2, 2]],
    "scores": [4, 4],
    "weights": [0.5, 0.5],
    "values": [[9, 1], [3, 3]],
}
BY_FEATURES = {"q·k": {4: [4.1, 3.9], 64: [64.0, 63.0]}, "q·k / √d": {4: [1.0, 1.1], 64: [0.9, 1.0]}}


def test_the_library_shows_each_book_and_the_sum(texts):
    ax = draw_library(**BOOKS)
    shown = texts(ax)
    assert {"A history of bread", "Encyclopaedia", "(2, 2)", "0.500", "(6.00, 2.00)"} <= set(shown)
    assert shown.count("+") == 1
    assert min(text.get_fontsize() for text in ax.texts) >= 10


def test_no_two_texts_of_the_library_overlap():
    ax = draw_library(**BOOKS)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_a_book_without_a_value_is_refused():
    with pytest.raises(ValueError, match="values has 1 entries but there are 2 titles"):
        draw_library(**{**BOOKS, "values": [[9, 1]]})


def test_each_input_has_a_bar_at_each_position():
    panels = {"fully connected": [[-0.5, 0.2], [-0.5, 0.2]], "attention": torch.tensor([[0.3, 0.7], [0.6, 0.4]])}
    layer, attention = plot_mixing(panels)
    assert [round(bar.get_height(), 3) for bar in layer.patches] == [-0.5, 0.2, -0.5, 0.2]
    assert [round(bar.get_height(), 3) for bar in attention.patches] == [0.3, 0.7, 0.6, 0.4]
    first, second = layer.patches[0], layer.patches[2]
    assert first.get_hatch() != second.get_hatch()
    assert first.get_x() + first.get_width() == pytest.approx(second.get_x())
    assert [label.get_text() for label in layer.get_xticklabels()] == ["1", "2"]


def test_no_mixtures_are_refused():
    with pytest.raises(ValueError, match="panels is empty"):
        plot_mixing({})


BY_RATE = {"root": {0.001: [0.1, 0.1], 0.1: [0.9, 1.0]}, "plain": {0.001: [0.1, 0.1], 0.1: [0.3, 0.5]}}


def test_layers_are_compared_at_each_rate_under_one_legend(texts):
    few, many = plot_by_rate({"64 features": BY_RATE, "1,024 features": BY_RATE}, "learning rate", "share correct")
    assert [line.get_xydata().tolist() for line in few.lines] == [
        [[0.001, 0.1], [0.1, 0.95]],
        [[0.001, 0.1], [0.1, 0.4]],
    ]
    assert (few.get_title(), many.get_title()) == ("64 features", "1,024 features")
    assert few.get_legend() is many.get_legend() is None
    [legend] = few.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["root", "plain"]
    assert (few.get_ylabel(), many.get_ylabel()) == ("share correct", "")
    assert few.get_xscale() == "log"
    assert [label.get_text() for label in few.get_xticklabels()] == ["0.001", "0.1"]
    assert few.figure.get_supxlabel() == "learning rate"


def test_a_guess_is_a_dashed_line_with_its_name(texts):
    [ax] = plot_by_rate({"64 features": BY_RATE}, "learning rate", "share correct", guess=0.1)
    assert ax.lines[-1].get_ydata() == [0.1, 0.1]
    assert ax.lines[-1].get_linestyle() == "--"
    assert "a guess" in texts(ax)


@pytest.mark.parametrize(
    "panels, message", [({}, "panels is empty"), ({"a": BY_RATE, "b": {"root": {0.1: [0.1]}}}, "the first panel has")]
)
def test_layers_that_cannot_be_compared_are_refused(panels, message):
    with pytest.raises(ValueError, match=message):
        plot_by_rate(panels, "learning rate", "share correct")


RUNS = {
    "lists of four": {"dot": [0.9, 0.9, 0.8], "cosine": [0.0, 0.1, 0.0]},
    "lists of six": {"dot": [0.0, 0.0, 0.0], "cosine": [0.0, 0.0, 1.0]},
}


def test_each_run_has_a_dot_in_the_row_of_its_name(texts):
    four, six = plot_runs(RUNS, "exact match")
    dots = [tuple(line.get_xydata()[0]) for line in four.lines]
    assert [x for x, _ in dots] == [0.9, 0.9, 0.8, 0.0, 0.1, 0.0]
    assert [round(y) for _, y in dots] == [0, 0, 0, 1, 1, 1]
    assert len(set(dots)) == 6, "equal runs stay visible"
    assert len(six.lines) == 6
    four.figure.canvas.draw()
    assert {"lists of four", "lists of six", "dot", "cosine"} <= set(texts(four)) | set(texts(six))


@pytest.mark.parametrize(
    "panels, message",
    [
        ({}, "panels is empty"),
        (RUNS | {"lists of six": {"dot": [0.5]}}, "the first panel has"),
        ({"lists of four": {"dot": [98.0]}}, "shares must lie between 0 and 1"),
    ],
)
def test_runs_that_cannot_be_drawn_are_refused(panels, message):
    with pytest.raises(ValueError, match=message):
        plot_runs(panels, "exact match")


def test_panels_share_the_features_and_one_legend(looks_right, texts):
    axes = plot_against_features({"variance (log)": BY_FEATURES, "entropy (nats)": BY_FEATURES})
    looks_right(axes[1])
    assert [ax.get_yscale() for ax in axes] == ["log", "linear"]
    assert [ax.get_xscale() for ax in axes] == ["log", "log"]
    assert axes[0].get_legend() is not None
    assert axes[1].get_legend() is None
    assert {"q·k", "variance (log)", "entropy (nats)", "4", "64"} <= set(texts(axes[0]))


def test_the_axis_of_a_panel_fits_its_numbers():
    small = {"q·k": {4: [0.3], 64: [0.1]}}
    bottom, top = plot_against_features({"derivative": small})[0].get_ylim()
    assert bottom == 0
    assert 0.3 < top < 0.5


def test_a_bound_is_a_dashed_line_with_its_name(texts):
    first, second = plot_against_features({"a": BY_FEATURES, "b": BY_FEATURES}, bounds={"b": (5.0, "at most 5")})
    (line,) = [line for line in second.lines if line.get_linestyle() == "--" and list(line.get_ydata()) == [5, 5]]
    assert line.get_color() == "black"
    assert "at most 5" in [text.get_text() for text in second.texts]
    assert not first.texts


def test_a_panel_of_tenths_has_medians_and_bands_that_leave_out_the_extremes():
    many = {"q·k": {4: [1e-9, *[1.0] * 8, 100.0, 100.0], 64: [0.0, *[0.01] * 9, 1.0]}}
    (ax,) = plot_against_features({"derivative (log)": many}, tenths={"derivative (log)"})
    (line,) = ax.lines
    assert line.get_xydata().tolist() == [[4, 1], [64, 0.01]]
    (band,) = ax.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert {(4, 1), (4, 100), (64, 0.01)} <= corners
    assert not {(4, 1e-9), (64, 0), (64, 1)} & corners
    assert ax.get_ylim()[0] == pytest.approx(0.001)


def test_tenths_of_no_panel_are_refused():
    with pytest.raises(ValueError, match=re.escape("tenths names ['b']; the panels are ['a']")):
        plot_against_features({"a": BY_FEATURES}, tenths=["b"])


def test_a_bound_without_a_panel_is_refused():
    with pytest.raises(ValueError, match=re.escape("bounds names ['c']; the panels are ['a']")):
        plot_against_features({"a": BY_FEATURES}, bounds={"c": (5.0, "at most 5")})


def test_no_panel_is_refused():
    with pytest.raises(ValueError, match="panels is empty"):
        plot_against_features({})
