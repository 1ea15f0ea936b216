from itertools import pairwise

import pytest
from matplotlib.patches import FancyArrowPatch

from attnpages.figures.chapters.ch19 import (
    draw_circuit,
    draw_cuts,
    plot_heads,
    plot_removed,
    plot_shares,
    plot_sinks,
    plot_strips,
    plot_surprises,
)


def test_each_token_has_a_bar_and_marked_ones_a_colour_of_their_own():
    ax = plot_surprises(["a", " b", "c"], [1.0, 2.0, 3.0], {"name": [1, 2]})
    heights = [[bar.get_height() for bar in container] for container in ax.containers]
    assert heights == [[1.0, 2.0, 3.0], [2.0, 3.0]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "␣b", "c"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["name"]
    with pytest.raises(ValueError, match="got 2 tokens, 1 numbers and 0 groups"):
        plot_surprises(["a", "b"], [1.0], {})


def test_other_measurements_are_marks_over_the_bars():
    ax = plot_surprises(["a", " b"], [1.0, 2.0], {"name": [1]}, beside={"all heads": [0.5, 0.6], "others": [0.7, 0.8]})
    marks = {line.get_label(): (line.get_marker(), list(line.get_ydata())) for line in ax.lines}
    assert marks == {"all heads": ("o", [0.5, 0.6]), "others": ("_", [0.7, 0.8])}


def test_lengths_stand_below_the_layers_of_the_sinks():
    top, below = plot_sinks([[0.1, 0.9, 0.2], [0.0, 0.5, 0.3]], [0.9, 8.0, 180.0])
    assert [bar.get_height() for bar in below.patches] == [0.9, 8.0, 180.0]
    assert below.get_yscale() == "log"
    assert top.get_xlim() == below.get_xlim()
    with pytest.raises(ValueError, match="give one ratio per layer, 2, got 1"):
        plot_sinks([[0.1, 0.9]], [1.0])


def test_heads_are_dots_and_some_have_their_names():
    ax = plot_heads({"1.1": (0.1, 0.2), "1.2": (0.3, 0.4)}, ["1.2"], "prefix matching", "copying")
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0.1, 0.2]], [[0.3, 0.4]]]
    assert [text.get_text() for text in ax.texts] == ["1.2"]
    with pytest.raises(ValueError, match=r"named holds \['2.1'\]"):
        plot_heads({"1.1": (0.1, 0.2)}, ["2.1"], "x", "y")


def test_layers_are_whole_numbers_and_names_stand_away_from_the_crowd():
    ax = plot_heads({"1.1": (1, 0.9), "2.1": (2, 0.0)}, ["1.1", "2.1"], "layer", "score")
    ax.figure.draw_without_rendering()
    assert all(tick == int(tick) for tick in ax.get_xticks())
    high, low = (text.xyann[1] for text in ax.texts)
    assert high < 0 < low


def test_each_draw_is_a_dot_and_a_diamond_stands_at_their_mean():
    ax = plot_removed({"finders": [0.1], "others": [0.6, 0.8, 0.7]}, ["finders"], "copied (share)")
    dots, means = ([line for line in ax.lines if line.get_marker() == marker] for marker in "oD")
    assert [list(line.get_xdata()) for line in dots] == [[0.1], [0.6, 0.8, 0.7]]
    assert [round(line.get_xdata()[0], 6) for line in means] == [0.1, 0.7]
    assert len({line.get_color() for line in means}) == 2
    assert [text.get_text() for text in ax.texts] == ["0.10", "0.70", "mean"]
    with pytest.raises(ValueError, match="named holds"):
        plot_removed({"finders": [0.1]}, ["both"], "copied (share)")


def test_other_limits_and_digits_of_the_means():
    ax = plot_removed({"one": [2.0, 5.0], "other": [-0.01]}, ("one", "other"), "logit", limits=(-3, 20), digits=1)
    assert ax.get_xlim() == (-3, 20)
    assert [text.get_text() for text in ax.texts] == ["3.5", "0.0", "mean"]


def test_each_part_has_two_bars_with_their_numbers():
    ax = plot_shares({"finders": (1.62, 0.2), "the rest": (3.9, 3.3)}, ("all heads", "without"), "share")
    widths = [[round(bar.get_width(), 2) for bar in container] for container in ax.containers]
    assert widths == [[1.62, 3.9], [0.2, 3.3]]
    assert [text.get_text() for text in ax.texts] == ["1.6", "3.9", "0.2", "3.3"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all heads", "without"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["finders", "the rest"]


def test_a_third_bar_finds_its_place_and_no_number_is_minus_zero():
    ax = plot_shares({"finders": (1.6, 0.2, -0.01), "late": (5.8, 2.0, -0.24)}, ("all", "without", "alone"), "share")
    assert [text.get_text() for text in ax.texts] == ["1.6", "5.8", "0.2", "2.0", "0.0", "−0.2"]
    edges = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for container in ax.containers for bar in container)
    assert all(end <= start for (_, end), (start, _) in pairwise(edges))


def test_what_was_measured_stands_in_place_of_the_questions():
    found = {part: f"of {part}" for part in ("reader", "note", "match", "finders", "writer")}
    words = [text.get_text() for text in draw_circuit("on", "Qu", found).texts]
    assert set(found.values()) <= set(words)
    assert not any("?" in word for word in words)
    with pytest.raises(KeyError, match="writer"):
        draw_circuit("on", "Qu", dict.fromkeys(("reader", "note", "match", "finders"), ""))


def test_the_circuit_leads_from_each_token_to_a_later_one():
    ax = draw_circuit("on", "Qu")
    words = [text.get_text() for text in ax.texts]
    assert words.count("on") == words.count("Qu") == 2  # read twice; read once and written once
    assert {"“I follow on”", "key: “I follow on”", "query: “who follows on?”"} <= set(words)
    ends = [patch._posA_posB for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert len(ends) == 2
    assert all(end[0] > start[0] for start, end in ends)
    assert ends[0][0][1] < ends[1][0][1]  # layer 17 before layers 18 and 19


def test_what_an_intervention_changes_is_dashed_and_its_result_stands_beside():
    ax = draw_cuts({"nothing": ((), "−0.0"), "keys": (("keys", "finders"), "−7.0"), "rest": (("rest",), "−1.0")})
    words = [text.get_text() for text in ax.texts]
    assert [words.count(name) for name in ("nothing", "note of 17.1", "all other paths", "−7.0")] == [1, 3, 3, 1]
    dashed = [patch for patch in ax.patches if patch.get_linestyle() == "--"]
    assert len(dashed) == 2 * 2 + 1  # two stations with their arrows, and the arrow of the ways around
    assert [line.get_linestyle() for line in ax.lines] == ["-", "-", "--"]
    with pytest.raises(ValueError, match=r"got \['queries'\]"):
        draw_cuts({"queries": (("queries",), "")})


def test_strips_have_a_column_for_what_comes_later_and_numbers_in_large_cells():
    top, below = plot_strips(
        {"as it is": {"ark": [0.9, 0.04, 0.03, 0.03]}, "changed": {"ark": [0.2, 0.8], "Qu": [0.5, 0.5]}}, ["At", " the"]
    )
    assert [text.get_text() for text in top.texts] == ["0.90", "0.06"]
    assert [label.get_text() for label in below.get_xticklabels()] == ["At", "the", "all later\n(sum)"]
    assert [label.get_text() for label in below.get_yticklabels()] == ["ark", "Qu"]
    assert (top.get_title(loc="left"), below.get_title(loc="left")) == ("as it is", "changed")
    with pytest.raises(ValueError, match=r"'ark' needs one weight per token, at least 2, got the shape \(1,\)"):
        plot_strips({"": {"ark": [1.0]}}, ["At", " the"])
