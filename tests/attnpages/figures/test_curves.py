from types import SimpleNamespace

import numpy as np
import pytest

from attnbook.training import History
from attnpages.figures import plot_by_length, plot_gradient_by_distance, plot_losses
from attnruns.experiments import scores

LENGTHS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32]
TWO = {
    "plain": {str(n): [max(0.0, 1 - 0.2 * n), max(0.0, 1 - 0.1 * n)] for n in LENGTHS},
    "location_aware": {str(n): [1.0, 0.98] for n in LENGTHS},
}
GRADIENTS = {"plain": {d: [0.5**d, 0.6**d] for d in range(1, 26)}, "attention": dict.fromkeys(range(1, 26), 1.0)}


def test_curves_by_length_look_right(looks_right, texts):
    ax = plot_by_length(TWO, xlabel="numbers in the list", title="Beyond the trained lengths")
    looks_right(ax)
    written = texts(ax)
    assert {"plain", "location aware", "lengths seen in training", "numbers in the list"} <= set(written)
    assert {"1", "6", "8", "32"} <= set(written)


def test_nine_curves_with_their_legend_still_fit(looks_right):
    curves = {name: dict.fromkeys(LENGTHS, 0.1 * i) for i, name in enumerate(scores.NAMES)}
    looks_right(plot_by_length(curves))


def test_the_line_runs_through_the_means_and_the_band_from_worst_to_best():
    ax = plot_by_length({"plain": {"2": [0.2, 0.4], "1": [0.9, 0.5]}})
    line = ax.get_lines()[0]
    assert line.get_xdata().tolist() == [1, 2]
    assert line.get_ydata() == pytest.approx([0.7, 0.3])
    corners = ax.collections[0].get_paths()[0].vertices
    assert corners[:, 1].min() == 0.2
    assert corners[:, 1].max() == 0.9


def test_each_seed_can_have_its_own_line_and_all_one_entry_in_the_legend(looks_right, texts):
    ax = plot_by_length(TWO, each=True)
    looks_right(ax)
    assert [line.get_ydata()[1] for line in ax.get_lines()] == pytest.approx([0.6, 0.8, 1.0, 0.98])
    assert not ax.collections
    assert texts(ax).count("plain") == texts(ax).count("location aware") == 1


def test_a_bare_number_is_one_seed():
    assert plot_by_length({"plain": {1: 0.5, 2: 0.25}}).get_lines()[0].get_ydata() == pytest.approx([0.5, 0.25])


def test_shares_are_drawn_from_0_to_1_and_other_numbers_freely():
    assert plot_by_length({"plain": {1: [0.5]}}).get_ylim() == pytest.approx((-0.03, 1.03))
    assert plot_by_length({"plain": {1: [50.0], 2: [20.0]}}).get_ylim()[1] > 1.1


def test_without_trained_lengths_nothing_is_shaded(texts):
    assert "lengths seen in training" not in texts(plot_by_length(TWO, trained=None))


@pytest.mark.parametrize("count, named", [(12, range(1, 13)), (25, range(2, 25, 2)), (119, range(10, 119, 10))])
def test_even_distances_are_named_evenly(count, named, looks_right):
    ax = plot_by_length({"plain": dict.fromkeys(range(1, count + 1), 0.5)}, trained=None)
    looks_right(ax)
    assert ax.get_xticks().tolist() == list(named)


def test_lengths_too_near_to_each_other_are_not_all_named(looks_right):
    ax = plot_by_length({"plain": dict.fromkeys([1, 2, 100, 101, 200], 0.5)}, trained=None)
    looks_right(ax)
    assert ax.get_xticks().tolist() == [1, 100, 200]


@pytest.mark.parametrize("plot", [plot_by_length, plot_gradient_by_distance])
def test_no_curve_or_an_empty_one_is_refused(plot):
    with pytest.raises(ValueError, match="curves is empty"):
        plot({})
    with pytest.raises(ValueError, match="the curve 'plain' has no points"):
        plot({"plain": {}})


@pytest.mark.parametrize("bad", [[], [float("nan")], [1.0, float("inf")]])
@pytest.mark.parametrize("plot", [plot_by_length, plot_gradient_by_distance])
def test_what_is_not_a_finite_number_is_refused(plot, bad):
    with pytest.raises(ValueError, match=r"the curve 'plain' holds .* at 3; it needs finite numbers"):
        plot({"plain": {3: bad}})


def test_gradients_are_drawn_on_a_logarithmic_axis(looks_right):
    ax = plot_gradient_by_distance(GRADIENTS, title="What reaches the first word")
    looks_right(ax)
    assert ax.get_yscale() == "log"
    assert ax.get_lines()[0].get_ydata()[:2] == pytest.approx([0.55, 0.305])


def test_a_gradient_of_zero_is_refused():
    with pytest.raises(ValueError, match="plain has a gradient norm of 0 at distance 2; a logarithmic axis"):
        plot_gradient_by_distance({"plain": {1: [0.5], 2: [0.0]}})


def test_losses_come_as_histories_lists_or_seeds(looks_right):
    losses = np.geomspace(3, 0.01, 400).tolist()
    ax = plot_losses(
        {"plain": History(losses=losses), "attention": [losses, losses[:300]], "dot": losses}, title="Loss"
    )
    looks_right(ax)
    assert [len(line.get_xdata()) for line in ax.get_lines()] == [400, 300, 400]
    assert ax.get_lines()[0].get_xdata()[-1] == 400


def test_a_loss_is_averaged_with_the_ones_before_it_only():
    ax = plot_losses({"plain": [4.0, 2.0, 1.0, 3.0]}, smooth=2)
    assert ax.get_lines()[0].get_ydata() == pytest.approx([4.0, 3.0, 1.5, 2.0])


def test_losses_have_plain_numbers_at_their_ticks():
    ax = plot_losses({"plain": [3.6, 1.2, 0.3]}, smooth=1)
    ax.figure.canvas.draw()
    shown = [text.get_text() for text in ax.get_yticklabels(which="both") if text.get_text()]
    assert {"1", "2", "0.4"} <= set(shown)
    assert not any("$" in text for text in shown)


def test_losses_kept_every_50_steps_stand_at_their_steps():
    ax = plot_losses({"plain": [4.0, 2.0, 1.0]}, every=50)
    assert ax.get_lines()[0].get_xdata().tolist() == [50, 100, 150]
    assert ax.get_lines()[0].get_ydata() == pytest.approx([4.0, 2.0, 1.0])


@pytest.mark.parametrize("bad", [[], [1.0, 0.0], [1.0, float("nan")], SimpleNamespace(losses=[])])
def test_losses_must_be_finite_and_above_0(bad):
    with pytest.raises(ValueError, match="the losses of 'plain' must be a list of finite numbers above 0"):
        plot_losses({"plain": bad})


def test_no_history_is_refused():
    with pytest.raises(ValueError, match="histories is empty"):
        plot_losses({})


@pytest.mark.parametrize("wrong", [{"smooth": 0}, {"every": 0}])
def test_smoothing_takes_at_least_one_step(wrong):
    with pytest.raises(ValueError, match="smooth and every must be at least 1"):
        plot_losses({"plain": [1.0]}, **wrong)
