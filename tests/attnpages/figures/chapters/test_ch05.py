import pytest
import torch
from matplotlib.patches import FancyArrowPatch, Rectangle

from attnpages.figures import plot_losses
from attnpages.figures.chapters.ch05 import (
    draw_gnmt,
    draw_sum,
    draw_unrolled,
    mark_losses,
    plot_coverage,
    plot_learned,
    plot_schedules,
)

SCHEDULE = torch.tensor([[1, 2, 3], [4, 5, 6]])


def test_from_the_second_picture_on_layers_from_the_third_on_have_a_residual_connection(texts):
    signs = [text for text in draw_gnmt().texts if text.get_text() == "+"]
    assert len(signs) == 12  # layers 3, 4 and 8 of both stacks, in two pictures
    assert {text.get_position()[0] for text in signs} == {10.4, 14.8, 20.0, 29.0}


def test_only_the_last_picture_has_a_layer_that_reads_in_both_directions(texts):
    ax = draw_gnmt()
    assert [text.get_position()[0] for text in ax.texts if "←" in text.get_text()] == [20.0]
    assert {"1. two stacks", "2. sums", "3. attention"} <= set(texts(ax))


def test_the_context_goes_to_the_layers_above_the_lowest_and_not_to_the_output():
    arrows = [patch._posA_posB for patch in draw_gnmt().patches if isinstance(patch, FancyArrowPatch)]
    ends = [end for start, end in arrows if start[0] == pytest.approx(26.6)]  # those that leave the line of the context
    assert [height for _, height in ends] == [2.55, 3.75, 5.35, 7.35]  # layers 2, 3, 4 and 8


def test_the_query_leaves_the_lowest_layer_of_the_decoder_by_its_output():
    dashed = [line for line in draw_gnmt().lines if line.get_linestyle() != "-"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in dashed] == [(29.0, (1.35 + 2.55) / 2)]


def test_word_by_word_each_written_word_is_read_in_the_next_column(texts):
    ax = draw_unrolled(("twenty", "one"), ("ein", "und", "zwanzig"))
    places = {height: [t.get_text() for t in ax.texts if t.get_position()[1] == height] for height in (9.0, -0.2)}
    assert [text for text in places[9.0] if text not in ("", "annotations")] == ["ein", "und", "zwanzig", "⟨end⟩"]
    assert places[-0.2] == ["twenty", "one", "⟨end⟩", "ein", "und", "zwanzig"]
    assert texts(ax).count("+") == texts(ax).count("3") == 6  # a sum in the third layer, once per word


def test_word_by_word_the_context_enters_two_layers_and_the_query_comes_from_the_column_before():
    arrows = [patch for patch in draw_unrolled().patches if isinstance(patch, FancyArrowPatch)]
    assert sum(arrow.get_linewidth() == 1.8 for arrow in arrows) == 2 * 3  # layers 2 and 3 of three columns
    assert sum(arrow.get_linestyle() == "--" for arrow in arrows) == 2  # the first column has no query


def test_a_sum_says_what_is_left_of_a_difference_with_and_without_it(texts):
    ax = draw_sum(0.3)
    assert texts(ax).count("1.04") == 2  # beside the sum, and in the triangle
    assert {"0.3", "$f(x)$", "$x + f(x)$", "+"} <= set(texts(ax))


def test_a_range_of_losses_lies_behind_the_curves_and_is_named(looks_right, texts):
    ax = plot_losses({"two layers": [2.0, 1.0, 0.5]}, smooth=1)
    mark_losses(ax, 1.1, 1.14, "only how many words")
    (band,) = (patch for patch in ax.patches if isinstance(patch, Rectangle))
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((1.1, 1.14))
    assert band.get_zorder() < min(line.get_zorder() for line in ax.lines)
    assert "only how many words" in texts(ax)
    looks_right(ax)


def test_an_empty_range_of_losses_is_refused():
    with pytest.raises(ValueError, match="low must be below high"):
        mark_losses(plot_losses({"x": [1.0, 0.5]}, smooth=1), 1.1, 1.1, "none")


def test_a_schedule_has_one_cell_per_layer_and_word(looks_right, texts):
    first, second = plot_schedules({"two layers": SCHEDULE, "one layer": SCHEDULE[:1]})
    cells = [patch for patch in first.patches if isinstance(patch, Rectangle)]
    assert sorted((cell.get_x(), cell.get_y()) for cell in cells) == [
        (0, 0.5), (1, 0.5), (2, 0.5), (3, 1.5), (4, 1.5), (5, 1.5),
    ]  # fmt: skip
    assert first.get_xlim() == second.get_xlim() == (0, 6)
    assert first.get_title(loc="left") == "two layers"
    assert [text.get_text() for text in second.texts] == ["1", "2", "3"]


def test_a_layer_that_reads_in_both_directions_has_a_second_row_from_the_last_word_on():
    (ax,) = plot_schedules({"both": SCHEDULE}, both={"both": [1]})
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    lowest = {(cell.get_x(), cell.get_y()): text.get_text() for cell, text in zip(cells, ax.texts, strict=True)}
    assert [lowest[x, 1] for x in range(3)] == ["1", "2", "3"]
    assert [lowest[x, 0.5] for x in range(3)] == ["3", "2", "1"]
    assert [cell.get_height() for cell in cells] == [0.5] * 6 + [1.0] * 3


@pytest.mark.parametrize("shape", [(3,), (0, 2), (2, 0), (2, 13)])
def test_what_is_no_schedule_is_refused(shape):
    with pytest.raises(ValueError, match="must be"):
        plot_schedules({"x": torch.ones(shape, dtype=torch.long)})


def test_no_schedule_is_refused():
    with pytest.raises(ValueError, match="schedules is empty"):
        plot_schedules({})


def test_coverage_has_one_bar_per_word(looks_right, texts):
    ax = plot_coverage(["forty", "two"], torch.tensor([0.5, 1.25]))
    assert [bar.get_height() for bar in ax.patches] == [0.5, 1.25]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["forty", "two"]


@pytest.mark.parametrize("words, coverage", [([], []), (["a"], [1.0, 2.0])])
def test_coverage_without_its_words_is_refused(words, coverage):
    with pytest.raises(ValueError, match="one number per word"):
        plot_coverage(words, coverage)


def test_each_seed_has_a_point_in_the_row_of_its_model(looks_right, texts):
    groups = {"start": {"one": ("0.1", [0.0, 0.5]), "two": ("0.2", [0.25])}, "sum": {"three": ("1", [1.0])}}
    ax = plot_learned(groups, column="begins with")
    assert [list(line.get_xdata()) for line in ax.lines] == [[0, 50], [25], [100]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two", "three"]
    assert {"start", "sum", "begins with", "0.1", "0.2", "1"} <= set(texts(ax))
    looks_right(ax)


@pytest.mark.parametrize("groups", [{}, {"a": {"b": ("", [])}}, {"a": {"b": ("", [1.5])}}])
def test_models_without_shares_are_refused(groups):
    with pytest.raises(ValueError, match=r"groups is empty|shares from 0 to 1"):
        plot_learned(groups, column="difference")
