import matplotlib.pyplot as plt
import pytest
import torch

from attnpages.figures.chapters.ch14 import Choice, Way, plot_choices, plot_same_last, plot_second_cities, plot_ways

SQUARE = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


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


def test_each_first_city_has_an_arrow_and_a_second_city_of_most_of_them_a_ring():
    one, two = plot_second_cities(SQUARE, {"habit": torch.tensor([2, 2, 3, 2]), "around": torch.tensor([1, 2, 3, 0])})
    assert len(one.texts) == len(two.texts) == 4  # annotations without words
    drawn = [*one.lines, *two.lines]
    rings = [tuple(*line.get_xydata().tolist()) for line in drawn if line.get_markersize() == 16]
    assert rings == [(1.0, 1.0)]
    with pytest.raises(ValueError, match="seconds must hold"):
        plot_second_cities(SQUARE, {"short": torch.tensor([1, 2])})
    plt.close("all")


def test_each_choice_is_a_panel_and_what_was_chosen_is_crossed_out(texts):
    probabilities = torch.tensor([[0.0, 0.7, 0.2, 0.1], [0.0, 0.0, 0.1, 0.9], [0.0, 0.0, 1.0, 0.0]])
    one, two = plot_choices(SQUARE, [0, 1, 3, 2], probabilities, choices=2)
    assert {"0: ×", "1: 70 %", "2: 20 %", "3: 10 %"} <= set(texts(one))
    assert {"0: ×", "1: ×", "2: 10 %", "3: 90 %"} <= set(texts(two))
    assert [ax.get_title(loc="left") for ax in (one, two)] == ["choice 1: 1", "choice 2: 3"]
    sizes = sorted(line.get_markersize() for line in one.lines if line.get_alpha() == 0.3)
    assert len(sizes) == 3  # a more probable city has a larger circle
    assert sizes[0] < sizes[1] < sizes[2]
    for trip, choices in (([0, 1, 3], 2), ([0, 1, 3, 2], 4)):
        with pytest.raises(ValueError, match="do not fit 4 points"):
            plot_choices(SQUARE, trip, probabilities, choices)
    plt.close("all")


def test_what_is_said_of_a_city_lies_outside_its_circle_and_beside_the_lines():
    probabilities = torch.tensor([[0.0, 0.7, 0.2, 0.1], [0.0, 0.0, 0.1, 0.9], [0.0, 0.0, 1.0, 0.0]])
    (ax, _) = plot_choices(SQUARE, [0, 1, 3, 2], probabilities, choices=2)
    said = {text.get_text(): text for text in ax.texts if text.get_text()}
    for text, share in (("1: 70 %", 0.7), ("2: 20 %", 0.2)):
        assert max(abs(part) for part in said[text].get_position()) > 3 + 11 * share**0.5
    assert said["1: 70 %"].get_va() == "top"  # the arrow comes from the left, so below there is room
    plt.close("all")


def test_beginnings_with_the_same_last_position_stand_side_by_side(texts):
    one = Choice([0, 2], 3, torch.tensor([0.0, 0.25, 0.0, 0.75]))
    other = Choice([0, 1, 2], 3, torch.tensor([0.0, 0.0, 0.0, 1.0]))
    axes = plot_same_last(SQUARE, [one, other])
    assert [ax.get_title(loc="left") for ax in axes] == ["after 0, 2", "after 0, 1, 2"]
    assert {"0: ×", "1: 25 %", "2: ×", "3: 75 %"} <= set(texts(axes[0]))
    assert {"0: ×", "1: ×", "2: ×", "3: 100 %"} <= set(texts(axes[1]))
    with pytest.raises(ValueError, match=r"end at the same position, got \[\[0, 2\], \[0, 1\]\]"):
        plot_same_last(SQUARE, [one, Choice([0, 1], 2, torch.ones(4))])


def test_the_first_turn_round_the_mean_is_marked(texts):
    (ax,) = plot_ways([Way("turns", SQUARE, torch.tensor([0, 2, 1, 3]), turn=True)], columns=1)
    assert "180°" in texts(ax)
    (ax,) = plot_ways([Way("turns", SQUARE, torch.tensor([0, 1, 2, 3]), turn=True)], columns=1)
    assert "90°" in texts(ax)


def test_a_number_does_not_stand_on_an_edge():
    points = torch.tensor([[0.0, 0.0], [0.9, 0.9], [0.5, 0.6], [1.0, 1.0]])  # an edge leads outwards from point 1
    (ax,) = plot_ways([Way("around", points, torch.tensor([0, 1, 3, 2]))], columns=1, numbers=True)
    (one,) = [text for text in ax.texts if text.get_text() == "1"]
    assert abs(one.xyann[0] + one.xyann[1]) < 15 or one.xyann[0] < 0
