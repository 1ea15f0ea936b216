import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch

from attnpages.figures.chapters.ch12_windows import draw_band, draw_paths, draw_relay, plot_grid, plot_readings
from attnpages.figures.palette import FAINT, READS
from attnpages.figures.style import STYLES


def test_a_band_shows_what_is_in_the_window_and_what_each_block_computes_besides():
    ax = draw_band(12, window=3, size=4)
    colours = [patch.get_facecolor() for patch in ax.patches if patch.get_width() == 1]
    inside, masked, left_out = (colours.count(to_rgba(colour)) for colour in (STYLES[0].colour, FAINT, READS))
    assert (inside, inside + masked, left_out) == (33, 4 * 4 + 2 * 4 * 6, 2 * 4 + 6 * 4)
    frames = [patch for patch in ax.patches if patch.get_width() > 1]
    corners = [(frame.get_x() + 0.5, frame.get_y() + 0.5, frame.get_width(), frame.get_height()) for frame in frames]
    assert corners == [(0, 0, 4, 4), (2, 4, 6, 4), (6, 8, 6, 4)]
    with pytest.raises(ValueError, match="at least 1, got 12, 0 and 4"):
        draw_band(12, window=0, size=4)


def test_a_relay_takes_one_hop_of_a_window_per_layer(texts):
    ax = draw_relay(12, window=3, layers=5)
    assert {f"layer {n}" for n in range(1, 6)} | {"tokens"} <= set(texts(ax))
    hops = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert sorted(tuple(patch._posA_posB) for patch in hops) == [((1 + 2 * n, n), (3 + 2 * n, n + 1)) for n in range(5)]
    written = [text.get_text() for text in ax.texts]
    assert [written.count(str(position)) for position in (0, 1, 2, 11)] == [1, 2, 1, 2]  # twice where the path passes
    assert len(ax.lines) == 3 * (9 + 7 + 5 + 3 + 1) - len(hops)  # of each position in the cone to its window of three
    with pytest.raises(ValueError, match="got 10, 3 and 5"):
        draw_relay(10, window=3, layers=5)


def test_each_reading_has_its_bar_and_a_sketch_of_what_is_visible():
    causal = np.tril(np.ones((4, 4), dtype=bool))
    bars, whole, first = plot_readings(
        {"all": [36.0, 38.0], "window": [78.0, 80.0]},
        {"all": causal, "window": causal & ~np.tri(4, k=-2, dtype=bool)},
        "x",
    )
    assert [bar.get_width() for bar in bars.patches] == [37, 79]
    assert {to_rgba(bar.get_facecolor(), 1) for bar in bars.patches} == {to_rgba(STYLES[0].colour)}
    shown = [sorted(np.ravel(ax.collections[0].get_array()).tolist()).count(2) for ax in (whole, first)]
    assert shown == [10, 7]
    with pytest.raises(ValueError, match="the same names"):
        plot_readings({"all": [1.0]}, {}, "x")


def test_paths_show_for_each_key_how_it_reaches_the_last_query_and_count_its_scores():
    kinds = {"a": "directly", "b": "through a layer", ".": "never"}
    ax = draw_paths({"all": "aaaa", "window": ".baa"}, kinds)
    cells = [patch.get_facecolor() for patch in ax.patches]
    first, second, never = (cells.count(to_rgba(colour)) for colour in (STYLES[0].colour, STYLES[1].colour, "white"))
    assert (len(cells), first, second, never) == (8, 6, 1, 1)
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3", "scores", "all", "4", "window", "2"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*kinds.values()]
    for wrong in ({}, {"all": "aa", "window": "a"}, {"all": "x"}):
        with pytest.raises(ValueError, match="of one length, and of the letters"):
            draw_paths(wrong, kinds)


def test_a_grid_shows_each_share_and_frames_what_is_in_reach():
    shares = {(16, 0): 0.125, (16, 16): 1.0}
    ax = plot_grid(shares, {(16, 0): False, (16, 16): True})
    assert [text.get_text() for text in ax.texts] == ["0.12", "1.00"]
    (frame,) = ax.patches
    assert frame.get_x() == pytest.approx(1 - 0.44)
    with pytest.raises(ValueError, match=r"each pair of lags \[16, 32\] and memories \[0, 16\]"):
        plot_grid({(16, 0): 0.1, (32, 16): 1.0}, {})
