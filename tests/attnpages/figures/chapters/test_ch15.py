import math

import pytest
import torch
from matplotlib.colors import to_hex

from attnpages.figures.chapters.ch15 import (
    draw_circuit,
    draw_pairs,
    draw_reach,
    plot_episodes,
    plot_errors,
    plot_followed,
    plot_learner,
    plot_worlds,
)
from attnpages.figures.palette import BLUE


def test_each_episode_shows_its_labels_and_ends_with_a_question():
    axes = plot_episodes(torch.zeros(2, 3, 1, 4, 4), torch.tensor([[1, 0, 1], [0, 1, 0]]))
    assert [ax.get_title() for ax in axes] == ["1", "0", "?", "0", "1", "?"]


def test_episodes_need_fitting_shapes():
    with pytest.raises(ValueError, match=r"got \(2, 3, 1, 4, 4\) and \(2, 2\)"):
        plot_episodes(torch.zeros(2, 3, 1, 4, 4), torch.zeros(2, 2))
    with pytest.raises(ValueError, match="T at least 2"):
        plot_episodes(torch.zeros(1, 1, 1, 4, 4), torch.zeros(1, 1))


TOKENS = ["horse", "green", "cup", "red", "door", "blue", "cup"]


def rows_of(ax, *ys):
    """What stands in the boxes of the rows, from below."""
    said = {text.get_position(): text.get_text() for text in ax.texts if text.get_text()}
    return [[said[step, y] for step in range(7)] for y in ys]


def test_a_circuit_binds_each_token_to_the_one_before_it_and_answers():
    ax = draw_circuit(TOKENS)
    assert rows_of(ax, 0.4, 2.64, 3.9) == [TOKENS, ["horse", *TOKENS[:-1]], TOKENS]
    assert ax.texts[-4].get_text() == "red"


def test_a_circuit_reads_its_keys_from_a_twin_that_stands_above_our_input():
    twin = ["horse", "green", "door", "red", "cup", "blue", "door"]
    ax = draw_circuit(TOKENS, twin)
    assert rows_of(ax, 0.4, 1.5, 3.74, 5.0) == [TOKENS, twin, ["horse", *twin[:-1]], TOKENS]
    assert ax.texts[-4].get_text() == "blue"


@pytest.mark.parametrize(("tokens", "twin"), [(["a", "x", "b"], None), (["a", "x", "a"], ["a", "x"])])
def test_a_circuit_needs_a_question_that_stood_before_and_a_twin_as_long(tokens, twin):
    with pytest.raises(ValueError, match="the last token must stand before"):
        draw_circuit(tokens, twin)


def test_pairs_are_bound_to_the_word_before_and_the_colour_beside_it_answers():
    ax = draw_pairs(["horse", "cup", "door", "cup"], ["–", "green", "red", "blue"])
    said = {text.get_position(): text.get_text() for text in ax.texts if text.get_text()}
    assert [said[step, 2.6] for step in (1, 2, 3)] == ["horse", "cup", "door"]
    assert (0, 2.6) not in said
    assert [(said[step, 3.7], said[step, 4.3]) for step in (1, 2)] == [("cup", "green"), ("door", "red")]
    assert said[3, 5.3] == "red"


@pytest.mark.parametrize(("words", "shown"), [(["a", "x", "b"], ["1", "2", "3"]), (["a", "x", "a"], ["1", "2"])])
def test_pairs_need_a_word_that_stood_before_and_a_colour_each(words, shown):
    with pytest.raises(ValueError, match="the last word must stand before"):
        draw_pairs(words, shown)


def seen_inputs(ax):
    """Positions of the lowest row that are drawn in blue."""
    circles = [line for line in ax.lines if len(line.get_xdata()) == 1 and line.get_ydata()[0] == 0]
    return [line.get_xdata()[0] for line in circles if to_hex(line.get_color()) == to_hex(BLUE)]


def test_reach_is_what_the_stack_sees():
    whole, even = draw_reach({"1, 2, 4": [1, 2, 4], "2, 4": [2, 4]}, 8)
    assert seen_inputs(whole) == list(range(8))
    assert seen_inputs(even) == [1, 3, 5, 7]
    assert even.get_title(loc="left") == "2, 4"


@pytest.mark.parametrize(("stacks", "length"), [({}, 8), ({"none": []}, 8), ({"one": [1]}, 0)])
def test_reach_needs_a_layer_and_a_position(stacks, length):
    with pytest.raises(ValueError, match="at least one layer and one position"):
        draw_reach(stacks, length)


def test_a_large_beta_predicts_the_nearest_example_and_a_small_one_the_mean():
    ax = plot_learner([(0, 1), (1, 3), (3, 2)], query=1.0, betas=[200.0, 1e-6])
    sharp, flat, *_ = ax.lines
    at = [abs(sharp.get_xdata() - x).argmin() for x in (0, 1, 3)]
    assert sharp.get_ydata()[at].tolist() == pytest.approx([1, 3, 2], abs=1e-6)
    assert flat.get_ydata() == pytest.approx(2.0, abs=1e-4)


def test_the_answer_at_the_query_is_that_of_the_first_beta():
    ax = plot_learner([(0, 1), (1, 3), (3, 2)], query=1.4, betas=[2.0])
    answer = ax.lines[-1].get_ydata()[0]
    weights = [math.exp(-((1.4 - x) ** 2)) for x in (0, 1, 3)]
    wanted = sum(w * y for w, y in zip(weights, (1, 3, 2), strict=True)) / sum(weights)
    assert answer == pytest.approx(wanted)
    assert round(wanted, 2) == 2.66


@pytest.mark.parametrize(("points", "betas"), [([(0, 1)], [1]), ([(0, 1), (1, 2)], []), ([(0, 1), (0, 2)], [1])])
def test_a_learner_needs_points_and_a_beta(points, betas):
    with pytest.raises(ValueError, match="two different x"):
        plot_learner(points, 0.0, betas)


def test_worlds_stand_on_a_logarithmic_axis_with_their_numbers_as_ticks():
    ax = plot_worlds({"stored": {12: [1.0, 0.9], 10_000: [0.25]}, "read": {12: [0.25], 10_000: [1.0, 0.98]}})
    assert ax.get_xscale() == "log"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["12", "10,000"]
    assert ax.lines[0].get_ydata().tolist() == pytest.approx([0.95, 0.25])


def test_worlds_need_a_curve_and_words():
    for curves in ({}, {"stored": {0: [1.0]}}):
        with pytest.raises(ValueError, match="positive numbers of words"):
            plot_worlds(curves)


def test_each_block_shows_weights_and_answers_and_frames_what_is_expected():
    rows = {"cup": ([0.1, 0.58], [0.11, 0.24], "red"), "door": ([0.7, 0.0], [0.2, 0.22], "green")}
    axes = plot_followed({"before": {"cup": rows["cup"]}, "after": rows}, ["green", "red"])
    assert [ax.get_title() for ax in axes] == [
        f"{what},\n{when}" for when in ("before", "after") for what in ("finding heads attend to", "next token")
    ]
    assert [[text.get_text() for text in ax.texts] for ax in axes[2:]] == [
        ["10", "58", "70", "0"],
        ["11", "24", "20", "22"],
    ]
    assert [[patch.get_xy() for patch in ax.patches] for ax in axes[2:]] == 2 * [[(0.53, -0.45), (-0.47, 0.55)]]


@pytest.mark.parametrize("blocks", [{}, {"none": {}}, {"none": {"cup": ([0.1], [0.1, 0.2], "red")}}])
def test_exchanges_need_rows_with_one_number_per_colour_twice(blocks):
    with pytest.raises(ValueError, match="each with 2 numbers twice"):
        plot_followed(blocks, ["green", "red"])


def test_errors_are_means_over_seeds_on_a_logarithmic_scale():
    ax = plot_errors({"network": [[1.0, 0.1], [0.5, 0.3]], "rule": [[1.0, 0.01]]}, ticks=(0, 1))
    assert ax.lines[0].get_ydata().tolist() == pytest.approx([0.75, 0.2])
    assert ax.get_yscale() == "log"


def test_errors_need_curves():
    with pytest.raises(ValueError, match="curves must be 1 to"):
        plot_errors({})
