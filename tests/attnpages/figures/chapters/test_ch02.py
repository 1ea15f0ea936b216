from itertools import combinations

import pytest

from attnpages.figures.chapters.ch02 import (
    draw_attention_backward,
    draw_attention_decoder,
    draw_one_or_all,
    draw_three_paths,
    draw_weighted_sums,
    plot_changes,
    plot_pull,
)

WORDS, WEIGHTS = ["forty", "two", ",", "seven"], [0.12, 0.80, 0.05, 0.03]
FIRST_AND_LAST = {1: WEIGHTS, 3: [0.6, 0.2, 0.15, 0.05]}
WRITTEN = ["zwei", "und", "vierzig"]


def written_in(ax):
    return {text.get_text() for text in ax.texts}


def heights_of_bars(ax):
    """The filled bars, from left to right: each stands in a white frame of the same corner."""
    rectangles = [patch for patch in ax.patches if type(patch).__name__ == "Rectangle"]
    return [inner.get_height() / frame.get_height() for frame, inner in zip(*[iter(rectangles)] * 2, strict=True)]


def ends_of_arrows(ax):
    """Where each arrow starts and ends."""
    return [patch._posA_posB for patch in ax.patches if type(patch).__name__ == "FancyArrowPatch"]


def order(numbers):
    """The positions of some numbers, from the smallest to the largest."""
    return sorted(range(len(numbers)), key=numbers.__getitem__)


def test_one_state_or_weighted_sums_of_all_lead_to_the_decoder():
    ax = draw_one_or_all(WORDS, WRITTEN, FIRST_AND_LAST, "start")
    said = [text.get_text() for text in ax.texts]
    assert said.count("$h_{4}$") == said.count("forty") == said.count("Σ") == 2
    assert said.count("zwei") == 4  # written, and then read, in both drawings
    assert {"$c = h_{4}$", "$c_1$", "$c_{3}$"} <= {*said}
    ax.get_figure().canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_lines_to_each_sum_are_as_thick_as_its_weights_say():
    ax = draw_one_or_all(WORDS, WRITTEN, FIRST_AND_LAST, "start")
    ends = {}  # {where a line ends: the widths of the lines that begin at a source word}
    for line in ax.lines:
        if line.get_ydata()[0] == 0.32:
            ends.setdefault((line.get_xdata()[1], line.get_ydata()[1]), []).append(line.get_linewidth())
    assert [order(widths) for widths in ends.values()] == [order(row) for row in FIRST_AND_LAST.values()]


def test_each_sum_leads_to_the_state_of_its_step():
    ax = draw_one_or_all(WORDS, WRITTEN, FIRST_AND_LAST, "start")
    below = {text.get_text(): text.get_position()[0] for text in ax.texts if text.get_position()[1] == 0}
    ends = [(start, end) for start, end in ends_of_arrows(ax) if start[1] > 1.2 > 0.4 > end[1]]
    assert [below["$s_{1}$"] - end[0] < 0.34 for _, end in ends] == [True]  # into its upper left corner
    from_the_right = [end[0] for start, end in ends_of_arrows(ax) if start[1] == end[1] == 0 and start[0] > end[0]]
    assert [below["$s_{3}$"] < x < below["$s_{3}$"] + 0.34 for x in from_the_right] == [True]


def test_without_attention_each_step_receives_the_one_vector():
    ax = draw_one_or_all(WORDS, ["zwei", "und"], {1: WEIGHTS}, "start")
    steps = {text.get_position() for text in ax.texts if text.get_text() in {"$s_{1}$", "$s_{2}$"}}
    dashed = [patch._posA_posB[1] for patch in ax.patches if patch.get_linestyle() == "--"]
    above = sorted(place for place in steps if place[1] > 1)
    assert [round(x, 2) for x, _ in dashed] == [round(x - 0.17, 2) for x, _ in above]
    assert all(below < y for (_, below), (_, y) in zip(dashed, above, strict=True))


def test_with_attention_the_last_state_still_starts_the_decoder():
    ax = draw_one_or_all(WORDS, ["zwei", "und"], {1: WEIGHTS}, "start")
    below = {text.get_text(): text.get_position()[0] for text in ax.texts if text.get_position()[1] == 0}
    assert below["$h_{4}$"] < below["$s_0$"] < below["$s_{1}$"]
    spans = [(start[0], end[0]) for start, end in ends_of_arrows(ax) if start[1] == end[1] == 0]
    for left, right in (("$h_{4}$", "$s_0$"), ("$s_0$", "$s_{1}$")):
        assert any(below[left] < start < end < below[right] for start, end in spans)


def test_one_or_all_needs_a_weight_per_word():
    with pytest.raises(ValueError, match="weights has 2 numbers but there are 4 words"):
        draw_one_or_all(WORDS, ["zwei"], {1: WEIGHTS[:2]}, "start")


def test_one_or_all_draws_sums_of_the_first_and_the_last_step_only():
    with pytest.raises(ValueError, match=r"weights has the steps \[2\]; only steps 1 and 3 can be drawn"):
        draw_one_or_all(WORDS, WRITTEN, {2: WEIGHTS}, "start")


VALUES, FEATURES = [(4, 0), (0, 2), (0, 0), (0, 7)], ["tens", "ones"]
BY_STEP = {"zwei": [0.1, 0.7, 0.1, 0.1], "vierzig": [0.5, 0.5, 0.0, 0.0]}


def test_each_panel_shows_the_same_values_and_its_own_weights_and_sum():
    ax = draw_weighted_sums(WORDS, VALUES, FEATURES, BY_STEP, [1, 3])
    said = [text.get_text() for text in ax.texts]
    assert said.count("7") == 2
    assert said.count("0.70") == 1
    assert said.count("0.50") == 2
    assert said.index("$c_{1}$") < said.index("$c_{3}$")
    assert {"0.4", "2.1", "2.0", "1.0"} <= {*said}  # 0.1 * 4, 0.7 * 2 + 0.1 * 7; 0.5 * 4, 0.5 * 2


def test_texts_of_weighted_sums_are_large_and_apart():
    ax = draw_weighted_sums(WORDS, VALUES, FEATURES, BY_STEP, [1, 3])
    ax.get_figure().canvas.draw()
    assert min(text.get_fontsize() for text in ax.texts) >= 10
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("values, weights", [(VALUES[:3], BY_STEP), ([(1,)] * 4, BY_STEP), (VALUES, {"zwei": [1.0]})])
def test_sums_need_a_value_and_a_weight_per_word(values, weights):
    with pytest.raises(ValueError, match="give one value per word"):
        draw_weighted_sums(WORDS, values, FEATURES, weights, [1, 3][: len(weights)])


def test_sums_need_a_step_per_target_word():
    with pytest.raises(ValueError, match="steps has 1 numbers but there are 2 target words"):
        draw_weighted_sums(WORDS, VALUES, FEATURES, BY_STEP, [1])


PLACES = {"forty": (4, 0), "two": (0, 2), "comma": (0, 0), "seven": (0, 7)}


def rising(ax):
    """The places of the values whose scores rise: full triangles that point up."""
    return {tuple(float(z[0]) for z in line.get_data()) for line in ax.lines if line.get_marker() == "^"}


@pytest.mark.parametrize(
    "target, names", [((0, 2), {"two", "comma"}), ((0, 7), {"seven"}), ((4, 0), {"forty", "comma"})]
)
def test_the_scores_of_values_on_the_targets_side_rise(target, names, looks_right):
    ax = plot_pull(PLACES, (0.4, 2.1), target, ("tens", "ones"), "a target")
    looks_right(ax)
    assert rising(ax) == {PLACES[name] for name in names}
    assert {text.get_text() for text in ax.texts if text.get_fontweight() == "bold"} == names


def test_the_arrow_leads_to_the_target_and_the_dashed_line_lies_across_it():
    ax = plot_pull(PLACES, (1, 1), (1, 5), ("tens", "ones"))
    [(start, end)] = ends_of_arrows(ax)
    assert [*start, *end] == pytest.approx([1, 1, 1, 2.5])
    [border] = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert border.get_ydata() == pytest.approx([1, 1])


def test_a_context_at_its_target_has_nowhere_to_go():
    with pytest.raises(ValueError, match=r"context and target are both \(0, 2\)"):
        plot_pull(PLACES, (0, 2), (0, 2), ("tens", "ones"))


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
