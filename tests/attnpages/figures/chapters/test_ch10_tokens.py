import pytest
from matplotlib.colors import to_rgb

from attnpages.figures.chapters.ch10_tokens import draw_cache, draw_copies, plot_traces

COPIES = {"first": [("next", 0.2), ("door", 0.3)], "copy": [("next", 0.9), ("door", 1.0)]}


def test_each_token_of_a_copy_stands_with_its_probability_in_a_box_that_is_the_darker():
    ax = draw_copies(COPIES)
    written = ["first", "next", "0.20", "door", "0.30", "copy", "next", "0.90", "door", "1.00"]
    assert [text.get_text() for text in ax.texts] == written
    reds = [patch.get_facecolor()[0] for patch in ax.patches]
    assert reds == sorted(reds, reverse=True)


def test_no_two_texts_of_the_copies_overlap():
    ax = draw_copies(COPIES)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


@pytest.mark.parametrize("rows", [{}, {"first": [("a", 0.1)], "copy": []}])
def test_copies_of_different_lengths_are_refused(rows):
    with pytest.raises(ValueError, match="all of one length"):
        draw_copies(rows)


def test_each_text_has_a_panel_with_a_bar_for_each_token(looks_right):
    axes = plot_traces({"greedy": [0.5, 0.9, 1.0], "the author": [0.1, 0.9, 0.0]})
    looks_right(axes[1])
    assert [[bar.get_height() for bar in ax.patches] for ax in axes] == [[0.5, 0.9, 1.0], [0.1, 0.9, 0.0]]
    assert [ax.get_title(loc="left") for ax in axes] == ["greedy", "the author"]


@pytest.mark.parametrize("traces", [{}, {"a": []}, {"a": [1.2]}, {"a": [-0.1]}])
def test_what_is_no_probability_has_no_trace(traces):
    with pytest.raises(ValueError, match="between 0 and 1"):
        plot_traces(traces)


def test_only_the_last_row_and_column_of_a_cache_are_new(texts):
    ax = draw_cache(["Then", ",", "he"])
    assert {"Then", "keys", "values", "new row"} <= set(texts(ax))
    fills = [tuple(round(x, 3) for x in patch.get_facecolor()[:3]) for patch in ax.patches]
    amber = tuple(round(x, 3) for x in to_rgb("#F6B765"))
    assert fills.count(amber) == 3 + 2  # three products of the new query; a key and a value
    assert len(fills) == 3 * 3 + 2 * 3


def test_one_token_alone_has_nothing_stored():
    with pytest.raises(ValueError, match="at least two"):
        draw_cache(["Then"])
