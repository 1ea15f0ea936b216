import pytest
from matplotlib.colors import to_rgb

from attnpages.figures.chapters.ch10_tokens import draw_cache, draw_copies, draw_texts

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


def test_each_text_has_its_name_and_a_box_for_each_token_framed_where_it_is_asked_for():
    texts = {"greedy": [(" a", 0.5), (" door", 0.9)], "the author": [(" a", 0.002), (" key", 0.9)]}
    ax = draw_texts(texts, framed={"the author": [0]}, said="tail")
    assert [text.get_text() for text in ax.texts][:6] == ["greedy", "a", "door", "the author", "a", "key"]
    edges = [patch.get_edgecolor() for patch in ax.patches]
    assert [i for i, edge in enumerate(edges) if edge == edges[2]] == [2, len(edges) - 1]  # and its sample in the scale
    reds = [patch.get_facecolor()[0] for patch in ax.patches]
    assert reds[2] > reds[0] > reds[1]


def test_the_last_line_of_texts_is_the_scale_and_no_box_is_empty():
    ax = draw_texts({"greedy": [(" ", 0.5), ("\n\n", 0.9), (" key", 0.9)]}, framed={}, said="tail")
    written = ["␣", "↵", "key", "probability:", "0", "0.25", "0.5", "0.75", "1", "tail"]
    assert [text.get_text() for text in ax.texts][1:] == written
    scale = [patch.get_facecolor()[0] for patch in ax.patches][3:-1]
    assert scale == sorted(scale, reverse=True)


def test_long_texts_go_on_in_the_next_line_and_inside_the_figure():
    ax = draw_texts({"greedy": [(" lighthouse", 0.5)] * 9}, {}, "in the tail", letters=41)
    boxes = [patch.get_bbox() for patch in ax.patches]
    assert len({round(box.y0, 2) for box in boxes}) > 1
    assert max(box.x1 for box in boxes) <= 41


@pytest.mark.parametrize("texts", [{}, {"a": []}, {"a": [("x", 1.2)]}, {"a": [("x", -0.1)]}])
def test_what_is_no_probability_has_no_shade(texts):
    with pytest.raises(ValueError, match="between 0 and 1"):
        draw_texts(texts, {}, "tail")


@pytest.mark.parametrize("framed", [{"a": [1]}, {"b": [0]}])
def test_a_frame_without_a_token_is_refused(framed):
    with pytest.raises(ValueError, match="framed must number tokens"):
        draw_texts({"a": [("x", 0.2)]}, framed, "tail")


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
