import pytest
import torch
from matplotlib.patches import Rectangle

from attnpages.figures.chapters.ch06_maps import Read, by_offset, plot_maps, plot_offsets, plot_reads, plot_two_ways

IMAGE = torch.zeros(8, 8).index_fill(0, torch.tensor([3]), 1.0)


def test_maps_have_one_panel_per_word_and_one_for_the_canvas(looks_right):
    weights = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
    axes = plot_maps(IMAGE, weights, ["a", "seven"], frames={1: (2, 3)}, side=4)
    assert [ax.get_title() for ax in axes] == ["canvas", "a (0.40)", "seven (0.70)"]
    frames = [patch for patch in axes[2].patches if isinstance(patch, Rectangle) and patch.get_width() == 4]
    assert [patch.get_xy() for patch in frames] == [(2.5, 1.5)]
    assert not [patch for patch in axes[1].patches if patch.get_width() == 4]


@pytest.mark.parametrize("shape, words", [((2, 4), ["a"]), ((0, 4), []), ((1, 5), ["a"]), ((4,), ["a"])])
def test_what_is_no_map_is_refused(shape, words):
    with pytest.raises(ValueError, match="weights must be"):
        plot_maps(IMAGE, torch.ones(shape), words)


def test_two_ways_stand_below_each_other_with_their_own_words_and_the_cell_that_is_read_is_framed(looks_right):
    good, stuck = torch.tensor([[0.02, 0.28, 0.3, 0.4]]), torch.tensor([[0.0, 0.97, 0.03, 0.0]])
    axes = plot_two_ways(IMAGE, {"good": good, "stuck": stuck}, {"good": ["left-of"], "stuck": ["above"]})
    assert [ax.get_title() for ax in axes] == ["good", "left-of", "stuck", "above"]
    assert [text.get_text() for text in axes[1].texts] == ["0.28", "0.30", "0.40"]
    frames = [[patch.get_xy() for patch in ax.patches if patch.get_width() == 4] for ax in axes]
    assert frames == [[], [(3.5, 3.5)], [], [(3.5, -0.5)]]


def test_where_all_weights_are_equal_no_cell_is_framed():
    axes = plot_two_ways(IMAGE, {"no attention": torch.full((1, 4), 0.25)}, {"no attention": ["two"]})
    assert [text.get_text() for text in axes[1].texts] == ["0.25"] * 4
    assert not [patch for patch in axes[1].patches if patch.get_width() == 4]


@pytest.mark.parametrize("maps", [{}, {"a": torch.ones(2, 4)}, {"a": torch.ones(1, 4), "b": torch.ones(1, 9)}])
def test_maps_that_do_not_match_are_refused(maps):
    with pytest.raises(ValueError, match="maps must be"):
        plot_two_ways(IMAGE, maps, {"a": ["seven"], "b": ["seven"]})


def test_the_cell_that_is_read_is_framed_and_the_others_are_pale(looks_right):
    reads = [Read(IMAGE, 0, "two"), Read(IMAGE, 3, "seven (0.66)")]
    axes = plot_reads({"as trained": reads, "an empty cell": reads}, cells=2)
    assert [ax.get_title() for ax in axes] == ["two", "seven (0.66)"] * 2
    pale = [[patch for patch in ax.patches if patch.get_alpha() == 0.7] for ax in axes]
    assert [len(of) for of in pale] == [3, 3, 3, 3]
    frames = [[patch.get_xy() for patch in ax.patches if patch.get_linestyle() == "--"] for ax in axes]
    assert frames == [[(-0.5, -0.5)], [(3.5, 3.5)]] * 2


@pytest.mark.parametrize("rows", [{}, {"a": []}, {"a": [Read(IMAGE, 9, "x")]}, {"a": [Read(IMAGE, 0, "x")], "b": []}])
def test_reads_that_do_not_match_are_refused(rows):
    with pytest.raises(ValueError, match="rows must be"):
        plot_reads(rows)


def test_the_mean_by_offset_is_that_of_the_cells_there():
    # Cells of 4 pixels on a canvas of 8: centres at 2 and 6. A digit of 4 pixels at (0, 0) has its centre at 2.
    values = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    found = by_offset(values, torch.tensor([[0, 0], [0, 4]]), reach=4, canvas=8, size=4)
    assert found.shape == (9, 9)
    assert found[4, 4] == (1 + 6) / 2  # the centre: cell 0 of the first digit, cell 1 of the second
    assert [found[4, 8], found[4, 0], found[8, 4]] == [2, 5, (3 + 8) / 2]
    assert found.isnan().sum() == 81 - 6


def test_offsets_without_a_corner_each_are_refused():
    with pytest.raises(ValueError, match="one per row"):
        by_offset(torch.ones(2, 4), torch.zeros(3, 2, dtype=torch.long))


def test_offsets_are_drawn_with_the_frame_of_the_digit(looks_right):
    matrix = torch.rand(21, 21)
    axes = plot_offsets({"weight": {"soft": matrix, "hard": matrix}}, {"weight": (0.0, 1.0)})
    assert [ax.get_title() for ax in axes] == ["soft", "hard"]
    assert all(ax.patches[0].get_width() == 8 for ax in axes)


@pytest.mark.parametrize("rows", [{}, {"weight": {"soft": torch.rand(3, 3)}}])
def test_quantities_without_limits_are_refused(rows):
    with pytest.raises(ValueError, match="limits"):
        plot_offsets(rows, {})


def test_quantities_of_different_models_are_refused():
    matrix = torch.rand(3, 3)
    with pytest.raises(ValueError, match="same models"):
        plot_offsets({"a": {"soft": matrix}, "b": {"hard": matrix}}, {"a": (0.0, 1.0), "b": (0.0, 1.0)})
