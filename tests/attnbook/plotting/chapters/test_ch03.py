import pytest
import torch

from attnbook.plotting.chapters.ch03 import draw_library, plot_long_alignments, plot_mixing

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


SOURCE = ["forty", "two", ",", "seven"]
TARGET = ["zwei", "und", "vierzig", ",", "sieben"]


def test_a_long_list_has_one_label_for_each_number(texts):
    axes = plot_long_alignments({"content only": torch.eye(5)[:, :4], "both": torch.ones(5, 4) / 4}, SOURCE, TARGET)
    axes[0].figure.canvas.draw()
    assert list(axes[0].get_xticks()) == [0.5, 3.0]
    assert list(axes[0].get_yticks()) == [1.0, 4.0]
    assert list(axes[0].get_xticks(minor=True)) == [2]
    assert {"content only", "1", "2", "number of the target list"} <= set(texts(axes[0]))


def test_weights_that_do_not_fit_the_words_are_refused():
    with pytest.raises(ValueError, match="panels is empty"):
        plot_long_alignments({}, SOURCE, TARGET)
    with pytest.raises(ValueError, match="the words need"):
        plot_long_alignments({"both": torch.ones(4, 5)}, SOURCE, TARGET)
