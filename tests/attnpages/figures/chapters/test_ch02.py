import pytest

from attnpages.figures.chapters.ch02 import (
    draw_attention_backward,
    draw_attention_decoder,
    plot_changes,
    plot_soft_choice,
    plot_two_shares,
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


def curves_of(ax):
    return {line.get_label(): line.get_ydata() for line in ax.lines}


def test_a_choice_jumps_and_has_no_slope():
    above, below = (curves_of(ax)["argmax: one position"] for ax in plot_soft_choice())
    assert {*above} == {0.0, 1.0}
    assert {*below} == {0.0}


def test_a_weighted_sum_has_a_slope_everywhere_and_it_is_the_right_one():
    above, below = (curves_of(ax)["softmax: all positions, weighted"] for ax in plot_soft_choice())
    assert (below > 0).all()
    assert below == pytest.approx(above * (1 - above))  # one value of 1 among zeros: the result is its weight


def test_a_choice_between_fewer_than_two_is_refused():
    with pytest.raises(ValueError, match="at least 2 positions"):
        plot_soft_choice((1.0,))


def test_a_soft_choice_is_readable(looks_right):
    looks_right(plot_soft_choice()[1])


def test_both_shares_of_each_thing_are_drawn_and_written():
    ax = plot_two_shares({"und": (0.25, 0.98), "hundert": (0.97, 1.0)}, "right links", "changed")
    above, below = ax.containers
    assert [bar.get_width() for bar in above] == [0.25, 0.97]
    assert [bar.get_width() for bar in below] == [0.98, 1.0]
    assert [text.get_text() for text in ax.texts] == ["0.25", "0.97", "0.98", "1.00"]


def test_the_two_shares_differ_without_colour():
    above, below = plot_two_shares({"und": (0.25, 0.98)}, "right links", "changed").containers
    assert above[0].get_hatch() != below[0].get_hatch()


def test_the_two_shares_of_one_thing_stand_together():
    above, below = plot_two_shares({"und": (0.2, 0.9), "hundert": (0.9, 0.1)}, "right links", "changed").containers
    middles = [[bar.get_y() + bar.get_height() / 2 for bar in bars] for bars in (above, below)]
    assert [round(y) for y in middles[0]] == [round(y) for y in middles[1]] == [0, 1]


def test_two_shares_are_readable(looks_right):
    rows = {"number words": (1.0, 0.76), "comma": (0.94, 0.02), "und": (0.73, 0.01), "hundert": (0.02, 0.0)}
    looks_right(plot_two_shares(rows, "correct links", "words that change with the mean context"))


@pytest.mark.parametrize(
    "rows, message", [({}, "rows is empty"), ({"a": (0.5, 1.2)}, "between 0 and 1, got 0.5 to 1.2")]
)
def test_what_is_no_share_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        plot_two_shares(rows, "x", "y")


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
