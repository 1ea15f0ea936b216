from itertools import combinations

import pytest

from attnpages.figures.chapters.ch02 import (
    draw_attention_backward,
    draw_attention_decoder,
    draw_three_paths,
    plot_changes,
    plot_exchanges,
)

WORDS, WEIGHTS = ["forty", "two", ",", "seven"], [0.12, 0.80, 0.05, 0.03]


def written_in(ax):
    return {text.get_text() for text in ax.texts}


def heights_of_bars(ax):
    """The filled bars, from left to right: each stands in a white frame of the same corner."""
    rectangles = [patch for patch in ax.patches if type(patch).__name__ == "Rectangle"]
    return [inner.get_height() / frame.get_height() for frame, inner in zip(*[iter(rectangles)] * 2, strict=True)]


def test_bars_are_as_high_as_the_weights():
    assert heights_of_bars(draw_attention_decoder(WORDS, WEIGHTS, "<bos>", "zwei")) == pytest.approx(WEIGHTS)


def test_lines_are_thicker_where_the_weight_is_larger():
    ax = draw_attention_decoder(WORDS, WEIGHTS, "<bos>", "zwei")
    widths = [line.get_linewidth() for line in ax.lines[: len(WORDS)]]  # from each bar to the sum
    assert sorted(range(4), key=widths.__getitem__) == sorted(range(4), key=WEIGHTS.__getitem__)


def test_a_weight_that_no_word_has_is_refused():
    with pytest.raises(ValueError, match="weights has 2 numbers but there are 4 words"):
        draw_attention_decoder(WORDS, WEIGHTS[:2], "<bos>", "zwei")


def test_forwards_and_backwards_differ_without_colour():
    styles = {line.get_linestyle() for line in draw_attention_backward().lines}
    assert styles == {"-", "--"}


def test_each_annotation_is_drawn_as_the_states_of_two_networks():
    said = written_in(draw_attention_decoder(WORDS, WEIGHTS, "<bos>", "zwei"))
    assert {
        r"$\overrightarrow{h}_1$",
        r"$\overleftarrow{h}_1$",
        r"$\overrightarrow{h}_4$",
        r"$\overleftarrow{h}_4$",
    } <= said


def test_three_numbered_paths_lead_up_to_the_decoder():
    ax = draw_three_paths()
    assert {"1", "2", "3", "three", "hundred", "eighty", "drei", "hundert"} <= written_in(ax)
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights["three"] < heights["1"] == heights["2"] == heights["3"] < heights["hundert"]


CHANGES = {
    "value elsewhere": {"number words": 0.0, "und": 0.03},
    "another context": {"number words": 0.92, "und": 0.07},
}


def test_a_table_of_changes_has_a_row_per_intervention_and_a_column_per_kind():
    ax = plot_changes(CHANGES)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["number\nwords", "und"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [*CHANGES]
    assert [text.get_text() for text in ax.texts] == ["0.00", "0.03", "0.92", "0.07"]


def test_a_table_of_changes_is_readable(looks_right):
    looks_right(plot_changes(CHANGES))


@pytest.mark.parametrize("table, message", [({}, "table is empty"), ({"a": {"x": 0}, "b": {"y": 0}}, "row 'b' has")])
def test_a_table_with_other_kinds_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        plot_changes(table)


COUNTS = {
    "path 1": {"first": (64, 64, 0), "middle": (0, 64, 64)},
    "path 2": {"first": (44, 64, 16), "middle": (1, 2, 3)},
}
TESTS = ("the test", "the control", "the reverse test")


def test_bars_of_exchanges_are_as_long_as_their_counts():
    ax = plot_exchanges(COUNTS, 64, TESTS)
    lengths = [bar.get_width() / frame.get_width() for frame, bar in zip(*[iter(ax.patches)] * 2, strict=True)]
    counts = [count for cells in COUNTS.values() for those in cells.values() for count in those]
    assert lengths == pytest.approx([count / 64 for count in counts])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*TESTS]
    assert {"path 1", "path 2", "first", "middle", "44"} <= written_in(ax)


def test_a_cell_of_exchanges_has_a_count_per_test():
    with pytest.raises(ValueError, match="'path 1', 'first' has 3 numbers, but there are 2 tests"):
        plot_exchanges(COUNTS, 64, TESTS[:2])


def test_texts_of_exchanges_are_large_and_apart():
    ax = plot_exchanges(COUNTS, 64, TESTS)
    ax.get_figure().canvas.draw()
    assert min(text.get_fontsize() for text in ax.texts) >= 10
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
