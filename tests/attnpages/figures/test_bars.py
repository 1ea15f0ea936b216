import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnpages.figures import COLOURS, plot_bars

SEEDS = {"plain": [0.2, 0.3, 0.25], "attention": [0.98, 0.99, 1.0]}


def test_bars_end_at_the_mean_and_each_seed_is_a_dot(looks_right, texts):
    ax = plot_bars(SEEDS, "exact match (share of lists)", title="Six numbers")
    looks_right(ax)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.25, 0.99])
    assert [line.get_xdata().tolist() for line in ax.get_lines()] == list(SEEDS.values())
    assert {"mean", "0.25", "0.99"} <= set(texts(ax))


def test_equal_seeds_do_not_hide_each_other():
    (dots,) = plot_bars({"plain": [0.5, 0.5, 0.5]}, "exact match").get_lines()
    assert len(set(dots.get_ydata())) == 3


def test_a_model_has_its_colour():
    assert plot_bars(SEEDS, "exact match").patches[0].get_facecolor()[:3] == pytest.approx(
        plt.matplotlib.colors.to_rgb(COLOURS["plain"])
    )


@pytest.mark.parametrize(
    "numbers, wanted", [([0.8, 0.9], (0, 1)), ([10.0, 20.0], (0, 21)), ([-2.0, 1.0], (-2.1, 1.05)), ([0.0], (0, 1))]
)
def test_the_axis_begins_at_zero_and_shares_end_at_one(numbers, wanted):
    assert plot_bars({"plain": numbers}, "x").get_xlim() == pytest.approx(wanted)


def test_a_reference_is_drawn_and_named(looks_right, texts):
    ax = plot_bars({"BiGRU": [0.1, 0.12]}, "error (share)", reference=("diagonal", 0.4), title="Alignment")
    looks_right(ax)
    assert "diagonal" in texts(ax)
    assert ax.get_xlim()[1] > 0.4


@pytest.mark.parametrize("count", [1, 10, 14])
def test_few_and_many_bars_look_right(count, looks_right):
    looks_right(
        plot_bars({f"a model with a name {i}": [i, i + 1] for i in range(count)}, "steps (thousands)", decimals=0)
    )


def test_a_bare_number_is_one_seed():
    assert plot_bars({"plain": np.float64(3)}, "x").patches[0].get_width() == 3


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="values is empty"):
        plot_bars({}, "x")


@pytest.mark.parametrize("bad", [[], [float("nan")], [1.0, float("inf")]])
def test_what_is_not_a_finite_number_is_refused(bad):
    with pytest.raises(ValueError, match="values of 'plain' must be finite numbers, at least one"):
        plot_bars({"plain": bad}, "x")
