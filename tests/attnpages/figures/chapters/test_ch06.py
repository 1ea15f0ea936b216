import pytest
import torch
from matplotlib.patches import Rectangle

from attnpages.figures.chapters.ch06 import (
    by_offset,
    draw_captioner,
    draw_choice,
    example_canvas,
    plot_learning,
    plot_maps,
    plot_offsets,
    plot_two_ways,
    plot_updates,
    plot_variances,
)

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


def test_two_ways_stand_below_each_other_and_the_cell_that_is_read_is_framed(looks_right):
    soft, hard = torch.tensor([[0.02, 0.28, 0.3, 0.4]]), torch.tensor([[0.0, 0.97, 0.03, 0.0]])
    axes = plot_two_ways(IMAGE, {"soft": soft, "hard": hard}, ["seven"], read="hard")
    assert [ax.get_title() for ax in axes] == ["soft", "seven", "hard", "seven"]
    assert [text.get_text() for text in axes[1].texts] == ["0.28", "0.30", "0.40"]
    frames = [[patch.get_xy() for patch in ax.patches if patch.get_width() == 4] for ax in axes]
    assert frames == [[], [], [], [(3.5, -0.5)]]


@pytest.mark.parametrize("maps", [{}, {"soft": torch.ones(2, 4)}, {"soft": torch.ones(1, 4), "hard": torch.ones(1, 9)}])
def test_maps_that_do_not_match_are_refused(maps):
    with pytest.raises(ValueError, match="maps must be"):
        plot_two_ways(IMAGE, maps, ["seven"])


def test_the_canvas_of_the_chapter_has_two_digits_and_an_empty_cell_that_shows_nothing_of_them():
    image = example_canvas()
    assert image.shape == (24, 24)
    assert torch.equal(image, example_canvas())
    ink = (image > 0.5).nonzero().float()
    assert ink.min(dim=0).values.tolist() == [9, 2]
    assert ink.max(dim=0).values.tolist() == [13, 12]  # the third cell of the row depends on the columns from 13 on


def test_a_choice_shows_probabilities_and_rewards_of_three_cells(looks_right):
    ax = draw_choice(example_canvas(), [0.5, 0.3, 0.2], [-3.0, -1.0, -2.0])
    texts = [text.get_text() for text in ax.texts]
    assert [text for text in texts if text in ("0.5", "0.3", "0.2")] == ["0.5", "0.3", "0.2"]
    assert {"0.05", "0.37", "0.14", "−3", "−1", "−2"} < set(texts)
    assert [picture.get_array().shape for picture in ax.images] == [(24, 24), (8, 8), (8, 8), (8, 8)]


def test_a_choice_of_other_than_three_is_refused():
    with pytest.raises(ValueError, match="must be three"):
        draw_choice(example_canvas(), [0.5, 0.5], [-3.0, -1.0, -2.0])


def test_the_captioner_writes_the_third_word_of_this_canvas(looks_right):
    ax = draw_captioner(example_canvas())
    assert {"previous word: left-of", "next word: seven"} < {text.get_text() for text in ax.texts}
    assert ax.get_xlim() == (0, 10.4)


def test_updates_have_a_bar_per_score_and_draw(looks_right):
    above, below = plot_updates(
        {"b = 0": {"two": [-1.5, 0.9], "mean": [-0.4, 0.4]}, "b = 1": {"two": [-0.5, 0.5], "mean": [-0.4, 0.4]}},
        ["two", "seven"],
    )
    bars = [patch.get_height() for patch in above.patches if isinstance(patch, Rectangle)]
    assert bars == [-1.5, -0.4, 0.9, 0.4]  # score by score, each with its draws
    assert [label.get_text() for label in below.get_xticklabels()] == ["two", "mean"]


@pytest.mark.parametrize("panels", [{}, {"a": {"x": [1.0]}}, {"a": {"x": [1.0, 2.0]}, "b": {"y": [1.0, 2.0]}}])
def test_updates_that_do_not_match_are_refused(panels):
    with pytest.raises(ValueError, match="must"):
        plot_updates(panels, ["two", "seven"])


def test_variances_have_a_dot_per_seed(looks_right):
    early, late = plot_variances({"early": {"none": [3.0, 1.0], "moving": [0.1, 0.2]}, "late": {"none": [1.0, 2.0],
                                  "moving": [0.3, 0.1]}})  # fmt: skip
    dots = [list(one.get_xdata()) for one in early.lines if one.get_marker() == "o"]
    assert dots == [[3.0, 1.0], [0.1, 0.2]]
    assert late.get_xscale() == "log"
    assert [label.get_text() for label in early.get_yticklabels()] == ["none", "moving"]


@pytest.mark.parametrize("panels", [{}, {"a": {"x": [1.0]}, "b": {"y": [1.0]}}])
def test_panels_with_different_estimators_are_refused(panels):
    with pytest.raises(ValueError, match="same estimators"):
        plot_variances(panels)


def test_a_variance_of_zero_is_refused():
    with pytest.raises(ValueError, match="not above 0"):
        plot_variances({"a": {"x": [0.0]}})


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


def test_learning_has_a_line_per_seed_and_one_through_the_medians(looks_right):
    hard = {0: [0.0, 0.1, 0.5], 10: [0.2, 1.0, 0.9]}
    variance = {"hard": {0: [1.0, 4.0], 10: [0.1, 0.1]}}
    left, right = plot_learning({"soft": {0: [0.1, 0.1, 0.1]}, "hard": hard}, variance, level=0.75)
    assert list(left.lines[-1].get_ydata()) == [0.75, 0.75]
    thick = [one for one in left.lines if one.get_linewidth() > 2]
    assert (len(left.lines), len(thick)) == (9, 2)
    assert list(thick[1].get_ydata()) == [0.1, 0.9]
    assert right.get_yscale() == "log"
    assert right.lines[-1].get_color() == thick[1].get_color()


def test_learning_without_variances_has_one_panel(looks_right):
    (only,) = plot_learning({"soft": {0: [0.1, 0.2], 10: [0.3, 0.4]}})
    assert len(only.lines) == 3


@pytest.mark.parametrize(
    "exact, variance",
    [({}, {"a": {0: [1.0]}}), ({"a": {0: [1.0]}}, {"a": {0: [0.0]}}), ({"a": {0: [1.0], 1: []}}, {"a": {0: [1.0]}})],
)
def test_learning_that_cannot_be_drawn_is_refused(exact, variance):
    with pytest.raises(ValueError, match=r"must|not above 0"):
        plot_learning(exact, variance)
