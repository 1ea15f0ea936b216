import numpy as np
import pytest

from attnpages.figures.chapters.ch13_copying import plot_grids, plot_learning


def test_each_training_has_its_curve_which_ends_with_a_mark(looks_right, texts):
    upper, lower = plot_learning({"one_model": [[30, 0]], "another": [[30, 20, 0], [9, 0, 0, 0]]}, every=500)
    looks_right(lower)
    short, long = lower.lines
    assert short.get_xdata().tolist() == [0.5, 1, 1.5]
    assert short.get_ydata().tolist() == [30, 20, 0]
    assert (short.get_markevery(), long.get_markevery()) == ([2], [3])
    assert upper.get_xlim() == lower.get_xlim() == pytest.approx((0, 2.04))  # the longest, in whichever panel
    assert {"one model", "another", "seed 0", "seed 1"} <= set(texts(upper))
    with pytest.raises(ValueError, match="panels is empty"):
        plot_learning({})


def grid(wrong: float) -> dict:
    """So many wrong bits in each cell, of sequences of 10 and of 40 vectors."""
    return {length: {"32": wrong, "64": 0.0} for length in ("10", "40")}


def test_a_cell_counts_the_seeds_that_copy_and_is_as_dark_as_the_mean_share(looks_right):
    few, many = plot_grids({"few": [grid(0), grid(8)], "many": [grid(0.5)] * 3})
    looks_right_below(looks_right, few)
    assert [text.get_text() for text in few.texts] == ["1", "2", "2"]  # no number where the rows do not suffice
    assert [text.get_text() for text in many.texts] == ["3", "3", "3"]
    shares = few.images[0].get_array()
    assert shares[0].tolist() == [pytest.approx(0.05), 0]
    assert np.ma.is_masked(shares[1, 0])
    assert few.images[0].get_clim() == (0, 0.5)


def looks_right_below(looks_right, ax) -> None:
    """The label of the rows stands below all panels together."""
    assert ax.figure.get_supxlabel() == "rows of the memory"
    ax.set_xlabel(" ")
    looks_right(ax)


def test_panels_stand_in_lines_of_like_length_and_the_rest_is_left_out():
    axes = plot_grids({str(number): [grid(0)] for number in range(5)})
    assert len(axes) == 5
    assert [ax.get_visible() for ax in axes[0].figure.axes[:6]] == [True] * 5 + [False]


def test_a_dark_cell_has_a_white_number():
    (ax,) = plot_grids({"guessing": [grid(40)]})
    assert [text.get_color() for text in ax.texts] == ["white", "black", "black"]


@pytest.mark.parametrize("panels", [{}, {"model": []}])
def test_nothing_to_draw_is_an_error(panels):
    with pytest.raises(ValueError, match="at least one"):
        plot_grids(panels)
