import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrow

from attnpages.figures.chapters.ch12 import (
    draw_kernels,
    draw_schedule,
    draw_to_scale,
    plot_bounds,
    plot_cost,
    plot_extra,
    plot_running,
)
from attnpages.figures.palette import INK, READS, WRITES


def test_the_bars_of_each_block_are_measured_from_the_largest_score_so_far():
    first, second = plot_running([2.0, 4.0, 6.0, 5.0], [1.0, 2.0, 3.0, 4.0], size=2)
    assert [text.get_text() for text in first.texts] == ["0.1353", "1.0000"]
    assert [text.get_text() for text in second.texts] == ["0.0183", "0.1353", "1.0000", "0.3679"]
    assert second.get_title(loc="left") == "after block 2"
    kept = ["largest 4,  total 1.1353,\nweighted sum 2.1353", "largest 6,  total 1.5215,\nweighted sum 4.7605"]
    assert [first.get_xlabel(), second.get_xlabel()] == kept
    assert first.patches[0].get_facecolor() == second.patches[0].get_facecolor() != second.patches[2].get_facecolor()
    with pytest.raises(ValueError, match="equally many, size at least 1, got 2, 1, 2"):
        plot_running([1.0, 2.0], [1.0], 2)


def test_the_scores_the_tile_and_the_contexts_are_drawn_to_scale():
    ax = draw_to_scale(100, 10, 5, {"scores": "all", "half": "a quarter", "tile": "one tile", "contexts": "returned"})
    sizes = [(round(patch.get_width(), 9), round(patch.get_height(), 9)) for patch in ax.patches]
    assert sizes == [(1, 1), (0.5, 0.5), (0.05, 0.05), (0.1, 1)]
    assert {text.get_text() for text in ax.texts} == {"all", "a quarter", "one tile", "returned"}
    with pytest.raises(ValueError, match="got 4, 2, 5"):
        draw_to_scale(4, 2, 5, {})


def test_the_schedule_says_what_is_moved_and_what_lies_on_the_chip():
    amounts = {name: name.upper() for name in ("queries", "keys and values", "again", "contexts", "large", "chip")}
    ax = draw_schedule(amounts, [("queries 3", True), ("keys 5", False)], blocks=4, row=1, column=2)
    written = {text.get_text() for text in ax.texts}
    assert {*amounts.values(), "queries", "keys", "values", "contexts", "queries 3", "keys 5"} <= written
    replaced, stays = ([p for p in ax.patches if p.get_facecolor() == to_rgba(name)] for name in (READS, WRITES))
    assert (len(replaced), len(stays)) == (2 + 1, 2 + 1)  # two in the large memory, one on the chip
    framed = [patch for patch in (*replaced, *stays) if patch.get_edgecolor() == to_rgba(INK)]
    assert len(framed) == 4
    with pytest.raises(ValueError, match="between 0 and 3, got 4 and 0"):
        draw_schedule(amounts, [("queries", True)], blocks=4, row=4, column=0)


def test_kernels_read_and_write_and_thick_arrows_carry_the_matrix():
    kernels = [
        ("multiply", [("queries", False), ("keys", False)], ("scores", True)),
        ("softmax", [("scores", True)], ("weights", True)),
    ]
    ax = draw_kernels(kernels, large="slow", chip="fast")
    written = [text.get_text() for text in ax.texts]
    assert {"slow", "fast", "multiply", "softmax", "queries", "keys", "scores", "weights"} == {*written}
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrow)]
    upwards = [arrow.get_xy()[:, 1].argmax() == 0 for arrow in arrows]  # the tip is the first corner
    assert upwards == [True, True, False, True, False]
    thick = [arrow.get_facecolor() != to_rgba(INK) for arrow in arrows]
    assert thick == [False, False, True, True, True]
    with pytest.raises(ValueError, match="kernels is empty"):
        draw_kernels([], large="slow", chip="fast")


def test_cost_has_logarithmic_axes_and_one_legend():
    curves = {"whole": {512: [1.0], 1024: [4.0]}, "blocked": {512: [2.0], 1024: [8.0]}}
    axes = plot_cost({"time (ms, log)": curves, "memory (MiB, log)": curves})
    assert [(ax.get_xscale(), ax.get_yscale()) for ax in axes] == [("log", "log")] * 2
    assert [ax.get_legend() is not None for ax in axes] == [True, False]
    assert axes[1].get_xlabel() == "length of the text (positions)"
    with pytest.raises(ValueError, match="panels is empty"):
        plot_cost({})


def test_what_is_lost_stands_in_one_panel_for_each_model_with_a_line_where_the_first_word_leaves():
    curves = {"window": {2: [0.0], 6: [0.1], 31: [0.12]}, "and the first": {2: [0.0], 6: [0.0], 31: [0.01]}}
    axes = plot_extra({"small": (curves, 5.5), "large": ({name: {1000: [1.0]} for name in curves}, 128)})
    assert [ax.get_title(loc="left") for ax in axes] == ["small", "large"]
    lines = [[line for line in ax.lines if len(line.get_xdata()) == 2 and len({*line.get_xdata()}) == 1] for ax in axes]
    assert [line.get_xdata()[0] for (line,) in lines] == [5.5, 128]
    assert [text.get_text() for text in axes[1].get_xticklabels()][-1] == "1,024"
    with pytest.raises(ValueError, match="panels is empty"):
        plot_extra({})


def test_bounds_have_one_bar_per_part_and_hatch_what_was_measured():
    above, below = plot_bounds(
        {
            "one head": {"matrix": {"moving": 0.27, "computing": 0.055}},
            "all": {"matrix": {"moving": 20, "measured": 41.7}},
        },
        "ms",
    )
    assert [bar.get_width() for bar in above.patches] == [0.27, 0.055]
    assert [label.get_text() for label in below.get_yticklabels()] == ["matrix: moving", "matrix: measured"]
    assert [bar.get_hatch() for bar in below.patches] == [None, "//"]
    assert above.patches[0].get_facecolor() == below.patches[0].get_facecolor()
    assert [text.get_text() for text in below.texts] == ["20", "42"]
    for wrong in ({}, {"empty": {}}):
        with pytest.raises(ValueError, match="at least one bar"):
            plot_bounds(wrong, "ms")
