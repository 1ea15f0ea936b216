import pytest

from attnpages.figures.chapters.ch10 import draw_answers, draw_tree, plot_plane, plot_rates, plot_seconds, plot_verdicts
from attnpages.figures.chapters.ch10_cuts import plot_cuts

TREE = {"end": 0.15, "a": 0.48, "b": 0.37, "a end": 0.21, "a a": 0.15, "b end": 0.32}
SECONDS = {"cached": {25: [0.1, 0.11], 100: [0.4, 0.5]}, "not cached": {25: [0.2, 0.2], 100: [2.0, 2.2]}}
VERDICTS = {"plain, 5": {"right": 0.6, "wrong": 0.4}, "attention, 5": {"right": 1.0, "wrong": 0.0}}

ANSWERS = {"target": ["zwei", "drei und zwanzig"], "own prefix": ["zwei", "vier und zwanzig"]}
RATES = {
    "plain": {"correct": (0.2, 0.15, 0.25), "wrong": (0.5, 0.4, 0.6)},
    "attention": {"correct": (0.0, 0.0, 0.0), "wrong": (0.0, 0.0, 0.0)},
}


def test_a_wrong_item_is_framed_and_crossed(texts):
    ax = draw_answers(ANSWERS)
    assert texts(ax).count("×") == 1
    assert "drei\nund\nzwanzig" in texts(ax)
    widths = [patch.get_linewidth() for patch in ax.patches]
    assert [width > 2 for width in widths] == [False, False, False, True]


def test_digits_stand_in_bold_below_the_words(texts):
    ax = draw_answers(ANSWERS, below={"drei und zwanzig": "23"})
    words, digits = (next(text for text in ax.texts if text.get_text() == wanted) for wanted in ("zwei", "23"))
    assert texts(ax).count("23") == 1
    assert digits.get_weight() == "bold"
    assert digits.get_position()[1] < words.get_position()[1]


@pytest.mark.parametrize("below", [None, {"zwei": "2", "drei und zwanzig": "23", "vier und zwanzig": "24"}])
def test_no_two_texts_of_the_answers_overlap(below):
    ax = draw_answers(ANSWERS, below=below)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


@pytest.mark.parametrize("rows", [{}, {"target": ["a", "b"], "own": ["a"]}])
def test_answers_of_different_lengths_are_refused(rows):
    with pytest.raises(ValueError, match="all of one length"):
        draw_answers(rows)


def test_each_rate_is_a_dot_with_its_interval(looks_right):
    ax = plot_rates(RATES, "error rate")
    looks_right(ax)
    bars = {(round(float(c[0].get_xdata()[0]), 2), round(float(c[0].get_ydata()[0]), 2)) for c in ax.containers}
    assert bars == {(0.2, -0.12), (0.5, 0.12), (0.0, 0.88), (0.0, 1.12)}
    ends = [c[2][0].get_segments()[0][:, 0].round(2).tolist() for c in ax.containers]
    assert ends[:2] == [[0.15, 0.25], [0.4, 0.6]]
    assert ax.get_xlim()[0] == 0


@pytest.mark.parametrize("rows", [{}, {"a": {"x": (0.5, 0.6, 0.7)}}, {"a": {"x": (0, 0, 0)}, "b": {"y": (0, 0, 0)}}])
def test_rates_outside_their_interval_are_refused(rows):
    with pytest.raises(ValueError, match=r"rows is empty|must have \(rate, low, high\)"):
        plot_rates(rows, "error rate")


def test_each_beginning_stands_in_the_tree_with_its_probability(texts):
    ax = draw_tree(TREE, kept=["b", "b end"], taken=["a", "a end"])
    shown = {text.get_text() for text in ax.texts}
    assert shown >= {"start", "end\n0.15", "a\n0.48", "b\n0.37", "end\n0.21", "a\n0.15", "end\n0.32"}
    assert {f"{share:.2f}" for share in (0.21 / 0.48, 0.15 / 0.48, 0.32 / 0.37)} <= shown
    assert {"0.15", "0.48", "0.37"} <= shown  # a first word has the same number twice
    assert {text.get_text() for text in ax.texts if text.get_fontweight() == "bold"} == {"b\n0.37", "end\n0.32"}
    assert sorted(line.get_linestyle() for line in ax.lines) == ["-"] * 4 + ["--"] * 2


def test_a_branch_on_both_paths_has_both_lines():
    ax = draw_tree(TREE, kept=["a", "a a"], taken=["a", "a end"])
    assert sorted(line.get_linestyle() for line in ax.lines) == ["-"] * 5 + ["--"] * 2


def test_the_hypotheses_of_a_beam_have_a_frame():
    ax = draw_tree(TREE, framed=["a", "b end"])
    framed = {text.get_text() for text in ax.texts if (box := text.get_bbox_patch()) and box.get_edgecolor()[3] > 0}
    assert framed == {"a\n0.48", "end\n0.32"}


def test_a_tree_of_small_probabilities_has_as_many_decimal_places_as_it_needs(texts):
    shown = texts(draw_tree({"a": 0.0597, "a b": 0.0057}, digits=3))
    assert {"a\n0.060", "b\n0.006", "0.095"} <= set(shown)


def test_no_two_texts_of_the_tree_overlap():
    ax = draw_tree(TREE)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


@pytest.mark.parametrize("tree, message", [({}, "empty"), ({"a b": 0.1, "a": 0.2}, "'a b' comes before")])
def test_what_is_no_tree_is_refused(tree, message):
    with pytest.raises(ValueError, match=message):
        draw_tree(tree)


def test_seconds_are_drawn_by_factors(looks_right):
    ax = plot_seconds(SECONDS, "words", "seconds")
    looks_right(ax)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["25", "100"]


def test_no_time_at_all_is_refused():
    with pytest.raises(ValueError, match="above 0"):
        plot_seconds({"cached": {25: [0.0]}}, "words", "seconds")


def test_shares_lie_end_to_end(looks_right):
    ax = plot_verdicts(VERDICTS)
    looks_right(ax)
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 0.6), (0.6, 0.4), (0, 1), (1, 0)]
    assert not ax.get_lines()


def test_a_mark_crosses_all_bars():
    (line,) = plot_verdicts(VERDICTS, mark=0.8).get_lines()
    assert list(line.get_xdata()) == [0.8, 0.8]


@pytest.mark.parametrize("rows", [{}, {"a": {"right": 0.6}}, {"a": {"x": 1.0}, "b": {"y": 1.0}}])
def test_what_does_not_add_up_is_refused(rows):
    with pytest.raises(ValueError, match=r"rows is empty|must share 1 out"):
        plot_verdicts(rows)


def test_a_nucleus_and_top_k_cut_where_the_figure_says(texts, looks_right):
    peaked, flat = [0.9, *[0.02] * 5], [*[1 / 32] * 16, *[1 / 4096] * 2048]
    ax = plot_cuts({"sure": peaked, "open": flat}, top_k=4, top_p=0.5)
    looks_right(ax)
    assert set(texts(ax)) >= {"1 token", "96%", "16 tokens", "12%", "nucleus of 0.5", "top-k 4"}
    curves = {line.get_label(): line.get_ydata() for line in ax.get_lines() if str(line.get_label()).startswith("“")}
    assert [y.round(2).tolist()[:3] for y in curves.values()] == [[0.9, 0.92, 0.94], [0.03, 0.06, 0.09]]
    marks = [tuple(line.get_xydata()[0].round(2)) for line in ax.get_lines() if line.get_marker() in ("o", "s")]
    assert marks == [(1, 0.9), (4, 0.96), (16, 0.5), (4, 0.12)]


def test_words_between_two_cuts_stand_in_the_middle_below_the_curve():
    ax = plot_cuts({"sure": [0.5, *[0.05] * 10]}, top_k=9, top_p=0.5, between={"sure": "his, her"})
    (words,) = (text for text in ax.texts if text.get_text() == "his, her")
    assert words.get_position() == pytest.approx((3, 0.39))
    assert words.get_ha() == "center"


def test_top_k_may_keep_more_tokens_than_there_are(texts):
    assert "100%" in texts(plot_cuts({"sure": [0.75, 0.25]}, top_k=50, top_p=0.5))


@pytest.mark.parametrize("given, message", [({}, "empty"), ({"a": [0.1, 0.9]}, "after 'a' must fall")])
def test_words_out_of_order_have_no_cut(given, message):
    with pytest.raises(ValueError, match=message):
        plot_cuts(given, 4, 0.9)


PLANE = {
    "temperature": {"": [(1.0, 40.0)], "0.7": [(2.0, 20.0), (2.4, 10.0)]},
    "nucleus": {"greedy": [(1.0, 40.0)], "0.9": [(2.0, 12.0)]},
}


def test_settings_lie_in_the_plane_at_the_mean_of_their_groups(looks_right):
    ax = plot_plane(PLANE, [(4.0, 4.0), (4.0, 6.0)], "surprise", "pairs")
    looks_right(ax)
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert lines["temperature"].get_xydata().tolist() == [[1.0, 40.0], [2.2, 15.0]]
    assert lines["the author"].get_xydata().tolist() == [[4.0, 5.0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["temperature", "nucleus", "the author"]
    written = {text.get_text(): text.xyann for text in ax.texts}
    assert written.keys() == {"", "0.7", "greedy", "0.9"}
    assert written["0.7"][1] > 0 > written["0.9"][1]  # above the first curve, and below the second


@pytest.mark.parametrize(
    "curves, target", [({}, [(1, 1)]), (PLANE, []), ({"a": {}}, [(1, 1)]), ({"a": {"0.5": []}}, [(1, 1)])]
)
def test_a_plane_without_points_is_refused(curves, target):
    with pytest.raises(ValueError, match="at least one point"):
        plot_plane(curves, target, "x", "y")
