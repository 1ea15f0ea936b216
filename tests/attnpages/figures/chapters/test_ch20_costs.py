import pytest

from attnpages.figures.chapters.ch20_costs import plot_bytes_read, plot_found
from attnpages.figures.palette import DARK_GREY


def test_bytes_are_drawn_over_lengths_in_logarithms_beside_the_weights():
    ax = plot_bytes_read({"cache": {1_000: 0.13, 100_000: 13.0}, "state": {1_000: 0.03, 100_000: 0.03}}, weights=15)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    weights, cache, state = ax.get_lines()
    assert list(weights.get_ydata()) == [15, 15]
    assert [line.get_xydata().tolist() for line in (cache, state)] == [
        [[1_000, 0.13], [100_000, 13.0]],
        [[1_000, 0.03], [100_000, 0.03]],
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cache", "state"]
    with pytest.raises(ValueError, match="at least one memory"):
        plot_bytes_read({}, weights=15)


def test_shares_are_means_with_a_band_beside_the_numbers_that_are_kept():
    shares = {"cache": {4: [1.0, 1.0], 64: [1.0, 0.9]}, "state": {4: [1.0, 1.0], 64: [0.6, 0.8]}}
    left, right = plot_found(shares, {"cache": {4: 960, 64: 15_360}, "state": {4: 1_024, 64: 1_024}}, trained=(4, 32))
    assert [line.get_ydata()[-1] for line in left.get_lines()] == [pytest.approx(0.95), pytest.approx(0.7)]
    assert [list(line.get_ydata()) for line in right.get_lines()] == [[0.96, 15.36], [1.024, 1.024]]
    with pytest.raises(ValueError, match="both panels need the same models"):
        plot_found(shares, {"cache": {4: 960, 64: 15_360}}, trained=(4, 32))


def test_memories_without_training_are_a_grey_line_of_their_own():
    shares, kept = {"state": {4: [1.0], 64: [0.7]}}, {"state": {4: 1_024, 64: 1_024}}
    left, _ = plot_found(shares, kept, trained=(4, 32), untrained={"a sum, untrained": {16: 0.99, 64: 0.84}})
    state, untrained = left.get_lines()
    assert untrained.get_xydata().tolist() == [[16, 0.99], [64, 0.84]]
    assert (untrained.get_label(), untrained.get_color()) == ("a sum, untrained", DARK_GREY)
    assert state.get_color() != DARK_GREY
