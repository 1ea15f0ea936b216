import pytest

from attnpages.figures.chapters.ch20 import (
    draw_checked_guesses,
    draw_kept,
    draw_shared,
    plot_copied,
    plot_forgetting,
    plot_measured_time,
    plot_updates,
)


def test_a_round_keeps_the_guesses_before_the_rejected_one_and_cuts_the_others_from_the_cache():
    ax = draw_checked_guesses(["the"], ["cat", "sat", "in", "it"], kept=2, drawn="on")
    written = [text.get_text() for text in ax.texts]
    assert (written.count("✓"), written.count("✗"), written.count("–")) == (2, 1, 1)
    assert (written.count("cat"), written.count("in"), written.count("on"), written.count("cut")) == (3, 1, 1, 2)


@pytest.mark.parametrize("kept", [-1, 2])
def test_no_more_guesses_are_kept_than_there_are(kept):
    with pytest.raises(ValueError, match=f"from 0 to 1, the number of guesses, got {kept}"):
        draw_checked_guesses(["the"], ["cat"], kept=kept, drawn="on")


def test_each_measured_time_is_a_dot_of_its_line_s_colour():
    measured = {"short": {1: [54.0, 55.0], 4: [19.0]}, "long": {1: [69.0], 4: [31.0]}}
    ax = plot_measured_time(measured, {"short": {1: 35.0, 4: 9.0}, "long": {1: 41.0, 4: 15.0}})
    lines, dots = ([line for line in ax.get_lines() if (line.get_marker() == "") == plain] for plain in (True, False))
    assert [sorted(line.get_xydata().tolist()) for line in dots] == [[[1, 54], [1, 55], [4, 19]], [[1, 69], [4, 31]]]
    assert [line.get_color() for line in lines] == [line.get_color() for line in dots]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["short", "long"]


def test_a_line_without_dots_is_refused():
    with pytest.raises(ValueError, match=r"measured \['short'\], calculated \['long'\]"):
        plot_measured_time({"short": {1: [54.0]}}, {"long": {1: 35.0}})


def test_a_cache_is_drawn_as_the_rectangles_that_it_keeps():
    full, window = draw_kept({"full": [(0, 0, 96, 16)], "window": [(66, 0, 30, 16)]}, tokens=96, bits=16)
    assert [ax.patches[0].get_bbox().bounds for ax in (full, window)] == [(0, 0, 96, 16), (66, 0, 30, 16)]
    assert full.get_title(loc="left") == "full"


def test_the_bits_that_are_kept_are_marked_on_the_axis():
    _, rounded = draw_kept({"full": [(0, 0, 96, 16)], "rounded": [(0, 0, 96, 5)]}, tokens=96, bits=16)
    assert list(rounded.get_yticks()) == [0, 5, 16]


def test_each_test_has_a_panel_with_a_curve_per_memory():
    panels = plot_forgetting({"age": {"sum": {"old": 0.9, "new": 1.0}}, "number": {"sum": {"32": 1.0, "64": 0.5}}})
    assert [list(ax.get_lines()[0].get_ydata()) for ax in panels] == [[0.9, 1.0], [1.0, 0.5]]
    assert [ax.get_xlabel() for ax in panels] == ["age", "number"]


@pytest.mark.parametrize("panels", [{}, {"age": {"sum": {"old": 1.0}}, "number": {"window": {"32": 1.0}}}])
def test_panels_need_the_same_memories(panels):
    with pytest.raises(ValueError, match="panels need the same memories"):
        plot_forgetting(panels)


def test_one_panel_is_enough():
    assert len(draw_kept({"full": [(0, 0, 96, 16)]}, tokens=96, bits=16)) == 1


def test_four_tests_stand_in_two_rows():
    panels = plot_forgetting({test: {"sum": {"a": 1.0, "b": 0.5}} for test in ("age", "cosine", "number", "times")})
    assert [ax.get_ylabel() != "" for ax in panels] == [True, False, True, False]


def test_a_cache_is_one_dot_per_text_and_one_curve_of_means():
    copied = {"full": {100: [0.8, 0.6], 300: [0.7, 0.7]}, "window": {100: [0.8, 0.8], 300: [0.0, 0.2]}}
    farthest = {"full": [0.7, 0.8], "window": [0, 0.1]}
    left, right = plot_copied(copied, {"full": [0, 0], "window": [0.1, 0.3]}, farthest, widths={"window": 192})
    assert [line.get_xydata().tolist() for line in left.get_lines()] == [[[0, 0.7], [0, 0.8]], [[0.1, 0], [0.3, 0.1]]]
    curves = [line for line in right.get_lines() if line.get_linestyle() != ":"]
    assert [list(curve.get_ydata()) for curve in curves] == [
        [pytest.approx(0.7)] * 2,
        [pytest.approx(0.8), pytest.approx(0.1)],
    ]
    assert [list(line.get_xdata()) for line in right.get_lines() if line.get_linestyle() == ":"] == [[192, 192]]


@pytest.mark.parametrize(("rises", "farthest"), [({"window": [0.1]}, {"full": [0]}), ({"full": [0.1]}, {})])
def test_both_panels_need_the_same_caches(rises, farthest):
    with pytest.raises(ValueError, match="both panels need the same caches"):
        plot_copied({"full": {100: [0.8]}}, rises, farthest, widths={})


def test_the_first_tokens_are_a_bar_of_another_colour():
    with_sinks, without = draw_kept({"a": [(66, 0, 30, 16)], "b": [(66, 0, 30, 16)]}, tokens=96, bits=16, sinks=["a"])
    assert [len(ax.patches) for ax in (with_sinks, without)] == [2, 1]
    assert with_sinks.patches[1].get_bbox().bounds == (0, 0, 0.96, 16)
    with pytest.raises(ValueError, match=r"sinks must be titles of caches, \['a'\], got \['c'\]"):
        draw_kept({"a": []}, tokens=96, bits=16, sinks=["c"])


def test_heads_share_what_is_kept_and_a_latent_vector_makes_a_key_for_each():
    ax = draw_shared({"own": 4, "grouped": 2, "latent": 1}, heads=4, latent=["latent"])
    written = [text.get_text() for text in ax.texts]
    assert (written.count("q"), written.count("k, v"), written.count("c")) == (12, 4 + 2 + 4, 1)
    assert sum(patch.get_linestyle() == "--" for patch in ax.patches) == 4


@pytest.mark.parametrize(("panels", "latent"), [({"a": 3}, []), ({"a": 0}, []), ({"a": 2}, ["a"])])
def test_heads_cannot_share_what_does_not_divide_them(panels, latent):
    with pytest.raises(ValueError, match=r"4 heads cannot share \d \('a'\)"):
        draw_shared(panels, heads=4, latent=latent)


def test_a_state_moves_from_one_point_to_where_each_rule_ends_it():
    panel = [((1, 0), 3.0)], ((0.6, 0.8), 10.0), {"sum": (9, 13), "delta": (5.52, 8.36)}
    (ax,) = plot_updates({"store 10": panel}, start=(3, 5), most=(12, 14))
    dots = {line.get_label(): line.get_xydata().tolist() for line in ax.get_lines() if line.get_marker() != ""}
    assert dots == {"sum": [[9, 13]], "delta": [[5.52, 8.36]], "state before": [[3, 5]]}
    assert len(ax.patches) == 2  # an arrow per rule
    older, new = (line for line in ax.get_lines() if line.get_marker() == "")
    assert older.get_xy1() == (3, 0)
    assert [0.6 * x + 0.8 * y for x, y in (new.get_xy1(), new.get_xy2())] == [pytest.approx(10)] * 2


@pytest.mark.parametrize("panels", [{}, {"a": ([], ((1, 0), 3.0), {"sum": (3, 0)}), "b": ([], ((1, 0), 3.0), {})}])
def test_panels_of_updates_need_the_same_rules(panels):
    with pytest.raises(ValueError, match="panels need the same rules"):
        plot_updates(panels, (0, 0), (12, 14))


def test_the_lists_are_hatched_in_all_panels_and_may_stand_behind_the_cache():
    panels = draw_kept({"a": [(0, 0, 96, 16)], "b": [(0, 0, 96, 5)]}, tokens=96, bits=16, listed=[(8, 16), (96, 104)])
    assert [sum(patch.get_hatch() is not None for patch in ax.patches) for ax in panels] == [2, 2]
    assert [ax.get_xlim() for ax in panels] == [(0, 104)] * 2
