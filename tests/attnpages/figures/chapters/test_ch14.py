import matplotlib.pyplot as plt
import pytest
import torch

from attnbook.data.points.tours import distances
from attnpages.figures.chapters.ch14 import (
    Way,
    draw_held_karp,
    draw_network,
    draw_queries,
    plot_gaps,
    plot_second_cities,
    plot_ways,
)

SQUARE = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
FIELD = torch.tensor([[[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]]])


def lines(ax):
    """The drawn edges, as pairs of corners."""
    return [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() in ("", "None")]


def test_a_way_is_closed_and_begins_with_a_square():
    (ax,) = plot_ways([Way("around", SQUARE, torch.tensor([0, 1, 2, 3]))], columns=1)
    assert len(lines(ax)) == 4
    assert [tuple(*line.get_xydata().tolist()) for line in ax.lines if line.get_marker() == "s"] == [(0.0, 0.0)]
    assert ax.get_title(loc="left") == "around"


def test_a_part_fills_the_square_and_has_no_numbers_at_its_axes():
    around = torch.tensor([0, 1, 2, 3])
    whole, part = plot_ways([Way("whole", SQUARE, around), Way("part", SQUARE, around, part=(0.5, 0.75, 0.25))])
    corners = {tuple(corner) for line in lines(part) for corner in line.get_xydata().tolist()}
    assert corners == {(-2.0, -3.0), (2.0, -3.0), (2.0, 1.0), (-2.0, 1.0)}
    assert part.get_xlim() == whole.get_xlim()
    assert [ax.xaxis.get_tick_params()["labelbottom"] for ax in (whole, part)] == [True, False]
    with pytest.raises(ValueError, match="part of 'part' must have a positive side, got 0"):
        plot_ways([Way("part", SQUARE, around, part=(0.0, 0.0, 0.0))], columns=1)


def test_what_stands_after_the_end_is_not_drawn():
    (ax,) = plot_ways([Way("three", SQUARE, torch.tensor([0, 1, 2, 4, 4]))], columns=1)
    assert len(lines(ax)) == 3


def test_edges_that_the_best_way_has_not_are_dashed():
    around = torch.tensor([0, 1, 2, 3])
    (ax,) = plot_ways([Way("crossed", SQUARE, torch.tensor([0, 2, 1, 3]), around)], columns=1)
    assert sorted(line.get_linestyle() == "-" for line in lines(ax)) == [False, False, True, True]
    (ax,) = plot_ways([Way("backwards", SQUARE, around.flip(0), around)], columns=1)
    assert all(line.get_linestyle() == "-" for line in lines(ax))


def test_panels_that_are_left_over_stay_empty_and_numbers_can_be_read(looks_right, texts):
    way = Way("around", SQUARE, torch.tensor([0, 1, 2, 3]))
    axes = plot_ways([way] * 4, columns=3, numbers=True)
    assert len(axes) == 4
    figure = axes[0].figure
    assert [ax.axison for ax in figure.axes] == [True] * 4 + [False] * 2
    assert texts(axes[0]).count("3") == 4
    assert figure.get_supxlabel() == "x (sides of the square)"


@pytest.mark.parametrize("ways, columns", [([], 3), ([Way("x", SQUARE, torch.tensor([0]))], 0)])
def test_nothing_to_draw_is_refused(ways, columns):
    with pytest.raises(ValueError, match="at least one"):
        plot_ways(ways, columns)
    with pytest.raises(ValueError, match="has no point"):
        plot_ways([Way("ended at once", SQUARE, torch.tensor([4, 4]))])


def test_gaps_are_dots_on_a_logarithmic_axis_and_published_ones_are_hollow(texts):
    panels = {"ten cities": {"ours": [0.6, 0.61, 0.59]}, "twenty": {"nearest first": [17.3], "theirs": [0.34]}}
    ten, twenty = plot_gaps(panels, published=["theirs"])
    assert ten.get_xscale() == "log"
    assert [sorted(line.get_xdata()) for line in ten.lines] == [[0.59, 0.6, 0.61]]
    ours, theirs = (line.get_markerfacecolor() for line in twenty.lines)
    assert ours != theirs
    assert {"nearest first", "theirs"} <= set(texts(twenty))
    assert twenty.get_ylim()[0] > twenty.get_ylim()[1]  # from top to bottom
    for wrong, message in (
        ({}, "not be empty"),
        ({"ten": {"x": []}}, "needs a gap"),
        ({"ten": {"x": [0.0]}}, "positive"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_gaps(wrong)
    plt.close("all")


def test_each_first_city_has_an_arrow_and_a_second_city_of_most_of_them_a_ring():
    one, two = plot_second_cities(SQUARE, {"habit": torch.tensor([2, 2, 3, 2]), "around": torch.tensor([1, 2, 3, 0])})
    assert len(one.texts) == len(two.texts) == 4  # annotations without words
    drawn = [*one.lines, *two.lines]
    rings = [tuple(*line.get_xydata().tolist()) for line in drawn if line.get_markersize() == 16]
    assert rings == [(1.0, 1.0)]
    with pytest.raises(ValueError, match="seconds must hold"):
        plot_second_cities(SQUARE, {"short": torch.tensor([1, 2])})
    plt.close("all")


def test_the_network_names_its_positions_and_crosses_out_what_was_chosen(texts):
    weights = torch.tensor([[0.1, 0.7, 0.2], [0.3, 0.0, 0.7], [1.0, 0.0, 0.0]])
    words = texts(draw_network(torch.tensor([0.9, 0.2, 0.5]), weights))
    assert {"$h_2$", "$s_3$", "start", "position\n1", "position\n2", "position\n0", "0.70"} <= set(words)
    assert words.count("×") == 3  # one at the second step, two at the third
    assert words.count("0.2") == 2  # read by the encoder, and by the decoder after position 1
    with pytest.raises(ValueError, match="weights must have shape"):
        draw_network(torch.tensor([0.9, 0.2]), weights)


def test_the_table_of_four_cities_holds_what_the_hand_reckons(texts):
    words = texts(draw_held_karp(distances(FIELD)[0]))
    assert {"{1,2} → 1: 8", "{2,3} → 2: 7", "{1,2,3} → 1: 10", "home:\n14"} <= set(words)
    with pytest.raises(ValueError, match="four cities"):
        draw_held_karp(torch.zeros(3, 3))


def test_two_ways_to_make_a_query_are_named(texts):
    words = texts(draw_queries())
    assert {"$s_1$", "$s_3$", "mean of all keys", "key of\nfirst city", "key of\nlast city"} <= set(words)
    assert words.count("query") == 2
    assert words.count("scores, mask, softmax") == 2
