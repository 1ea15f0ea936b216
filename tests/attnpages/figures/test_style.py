import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnpages.figures import COLOURS, styles_for, use_book_style
from attnpages.figures.style import HEAT_MAP, STYLES, inches, legend_above, new_axes, readable
from attnruns.experiments import scores


def lightness(colour) -> float:
    """CIE L*, 0 to 100: the grey that remains in print."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    y = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return 116 * y ** (1 / 3) - 16 if y > 0.00886 else 903.3 * y


def test_the_heat_map_darkens_steadily_from_white():
    greys = np.array([lightness(plt.get_cmap(HEAT_MAP)(value)[:3]) for value in np.linspace(0, 1, 50)])
    assert (np.diff(greys) < 0).all()
    assert greys[0] > 95
    assert greys[-1] < 30


@pytest.mark.parametrize("field", ["colour", "line", "marker", "hatch"])
def test_each_style_can_be_told_by_any_one_of_its_four_signs(field):
    signs = [getattr(style, field) for style in STYLES]
    assert len(set(signs)) == len(signs)


def test_no_colour_vanishes_on_white():
    assert all(lightness(style.colour) < 75 for style in STYLES)


def test_figures_are_white_large_and_sharp():
    use_book_style()
    figure = plt.figure()
    assert figure.get_facecolor() == (1, 1, 1, 1)
    assert figure.dpi == 150
    assert figure.get_figwidth() == 6.5
    sizes = ["font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"]
    assert min(plt.rcParams[size] for size in sizes) >= 10


def test_a_curve_without_a_name_changes_more_than_its_colour():
    _, ax = plt.subplots()
    lines = [ax.plot([0, 1], [i, i])[0] for i in range(3)]
    assert len({line.get_linestyle() for line in lines}) == 3
    assert len({line.get_marker() for line in lines}) == 3


def test_a_model_keeps_its_colour_from_figure_to_figure():
    assert styles_for(["plain", "attention"])["attention"] == styles_for(["attention", "dot"])["attention"]
    assert styles_for(["attention"])["attention"].colour == COLOURS["attention"]


def test_spelling_does_not_change_the_style():
    assert styles_for(["Location-aware"])["Location-aware"] == styles_for(["location_aware"])["location_aware"]


COMPARED = ["plain", "attention", "location_aware", "attention_one_way"]  # together in chapters 01 and 02


@pytest.mark.parametrize("names", [COMPARED, scores.EXPERIMENT.steps, ["attention", "additive", "x", "y"]])
def test_no_two_models_of_a_figure_look_alike(names):
    assert len(set(styles_for(names).values())) == len(names)


def test_too_many_curves_are_refused():
    with pytest.raises(ValueError, match="at most 10 curves apart, got 11; draw two figures"):
        styles_for(map(str, range(11)))


def test_names_are_written_for_people():
    assert readable("location_aware") == "location aware"


def test_inches_measure_what_is_drawn():
    ax = plt.figure(figsize=(4, 2), layout="none").add_axes((0, 0, 1, 0.5))
    assert inches(ax) == pytest.approx((4, 1))


def test_what_is_in_no_figure_has_no_inches():
    with pytest.raises(ValueError, match=r"artist Rectangle.* is in no figure; add it to one first"):
        inches(plt.Rectangle((0, 0), 1, 1))


def test_a_legend_of_long_names_takes_one_column_and_stays_above_the_axes(looks_right):
    ax = new_axes()
    lines = [ax.plot([0, 1], [0, 1])[0] for _ in range(3)]
    ax.set(xlabel="x", ylabel="y")
    legend_above(ax, lines, [f"a rather long name of a model, number {i}" for i in range(3)], "A title over it")
    looks_right(ax)
    assert ax.get_legend()._ncols == 1
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1 - 1
