import pytest
import torch

from attnbook.plotting.chapters.ch03 import draw_library, plot_mixing, plot_runs

BOOKS = {
    "titles": ["A history of bread", "Encyclopaedia"],
    "query": [2, 0],
    "keys": [[2, 0], [2, 2]],
    "scores": [4, 4],
    "weights": [0.5, 0.5],
    "values": [[9, 1], [3, 3]],
}


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
