import math

import pytest
import torch

from attnbook.attention import sinusoidal_positions
from attnpages.figures.chapters.ch08_positions import (
    draw_clocks,
    draw_found_hand,
    draw_rotary,
    draw_search,
    plot_come_round,
    plot_dot_products,
    plot_sinusoids,
)


def test_each_clock_has_a_hand_for_each_position(texts):
    axes = draw_clocks([math.radians(30), 0.2], range(6), shift=2, starts=(0, 3))
    assert [ax.get_title() for ax in axes] == ["30° per position", "11.5° per position"]
    for ax in axes:
        assert {*"012345", "sine", "cosine"} <= set(texts(ax))
        assert len(ax.lines) == 6 + 2  # hands and arcs


def test_hands_are_the_sine_and_the_cosine_and_arcs_of_one_shift_are_equally_long():
    (ax,) = draw_clocks([1.0], range(6), shift=2, starts=(0, 3))
    ends = torch.tensor([[line.get_xdata()[-1], line.get_ydata()[-1]] for line in ax.lines[:6]])  # (T, 2)
    assert torch.allclose(ends.double(), sinusoidal_positions(6, 2), atol=1e-6)
    chords = [torch.tensor(line.get_xydata()[[0, -1]]).diff(dim=0).norm().item() for line in ax.lines[6:]]
    assert chords[0] == pytest.approx(chords[1])


@pytest.mark.parametrize(("speeds", "positions", "starts"), [([], range(3), [0]), ([1.0], [], [0]), ([1.0], [0], [])])
def test_clocks_without_hands_or_arcs_are_refused(speeds, positions, starts):
    with pytest.raises(ValueError, match="must not be empty"):
        draw_clocks(speeds, positions, shift=1, starts=starts)


def test_the_turned_query_lies_on_the_key_two_positions_back_from_everywhere(texts):
    axes = draw_search(30, 2, (5, 8))
    assert [ax.get_title() for ax in axes] == ["query at position 5", "query at position 8"]
    for ax, wanted in zip(axes, (3, 6), strict=True):
        *keys, own, turned, _ = (line.get_xydata()[-1] for line in ax.lines)  # six keys, the query twice, the arc
        assert len(keys) == 6
        assert own.tolist() == pytest.approx((keys[5] / 0.75).tolist())
        assert turned.tolist() == pytest.approx((keys[3] / 0.75).tolist())
        scores = [f"{math.cos(math.radians(30 * apart)):.2f}" for apart in range(-3, 3)]
        shown = {f"key {wanted + apart}\n{score}" for apart, score in zip(range(-3, 3), scores, strict=True)}
        assert shown <= set(texts(ax))
    assert "query: 240° − 60° = 180°" in texts(axes[1])


@pytest.mark.parametrize(("back", "queries"), [(2, []), (0, [5]), (6, [5])])
def test_searches_without_a_query_or_with_the_wanted_key_outside_are_refused(back, queries):
    with pytest.raises(ValueError, match="at least one query"):
        draw_search(30, back, queries)


SENTENCES = ("the dog bit the man", "today the dog bit the man")


def test_the_angle_between_rotated_hands_stays_when_both_words_move(texts):
    key = (math.cos(math.radians(30)), math.sin(math.radians(30)))
    axes = draw_rotary((6.0, 0.0), key, 30, SENTENCES, "bit", ("dog", "man"))
    angles = [
        [text.get_text() for text in ax.texts if text.get_text().endswith("°") and ":" not in text.get_text()]
        for ax in axes
    ]
    assert angles == [["30°"], ["0°"], ["0°"], [], ["90°"], ["90°"]]
    shown = texts(axes[0])
    assert {
        "bit: 0°",
        "nouns: 30°",
        "first coordinate: up",
        "second: right",
        "bit at 2: 0°+60° = 60°",
        "dog at 1: 30°+30° = 60°",
        "bit at 3: 0°+90° = 90°",
        "man at 5: 30°+150° = 180°",
    } <= set(shown)
    assert [shown.count(score) for score in ("score 6", "score 0", "not yet rotated")] == [2, 2, 1]
    query, hand = (line.get_xydata()[-1] for line in axes[5].lines[-2:])  # man, with today in front
    assert query.tolist() == pytest.approx([1, 0], abs=1e-9)  # from the top by a quarter of a turn, clockwise
    assert hand[0] == pytest.approx(0, abs=1e-9)
    assert hand[1] < 0


@pytest.mark.parametrize(("sentences", "nouns"), [((), ("dog",)), (SENTENCES, ()), (SENTENCES, ("cat",))])
def test_hands_of_words_that_are_missing_are_refused(sentences, nouns):
    with pytest.raises(ValueError, match="must contain the verb and all nouns"):
        draw_rotary((6.0, 0.0), (1.0, 0.0), 30, sentences, "bit", nouns)


def test_a_key_that_starts_ahead_meets_the_query_one_position_back(texts):
    *dials, below = draw_found_hand(66, 57, (-2, -1, 0), {"rotated": [1.0, 3.0, 2.0], "not rotated": [2.0] * 3})
    assert [ax.get_title() for ax in dials] == ["distance −2", "distance −1", "distance 0"]
    for ax, shown in zip(
        dials, ({"key: 66° − 114° = −48°", "−48°"}, {"key: 66° − 57° = 9°", "9°"}, {"key: 66°"}), strict=True
    ):
        assert shown <= set(texts(ax))
        query, key = (line.get_xydata()[-1] for line in ax.lines[-2:])
        assert query.tolist() == pytest.approx([0, 1])  # to the top in each dial
    assert key.tolist() == pytest.approx([0.75 * math.sin(math.radians(66)), 0.75 * math.cos(math.radians(66))])
    rotated, plain = below.lines
    assert rotated.get_xdata().tolist() == [-2, -1, 0]
    assert rotated.get_ydata().tolist() == [1.0, 3.0, 2.0]
    assert rotated.get_linestyle() != plain.get_linestyle()


@pytest.mark.parametrize(
    ("distances", "scores"), [((), {"a": [1.0]}), ((0,), {}), ((0,), {"a": [1.0], "b": [1.0], "c": [1.0]})]
)
def test_a_found_hand_without_a_distance_or_with_too_many_curves_is_refused(distances, scores):
    with pytest.raises(ValueError, match="at least one distance and one or two curves"):
        draw_found_hand(66, 57, distances, scores)


def test_each_key_has_a_panel_with_a_dot_on_its_first_curve_where_it_stands(texts):
    curves = {"cat": {"all": [1.0, 0.0, 2.0], "few": [0.5, 0.0, 1.5]}, "dog": {"all": [3.0, 1.0, 0.0]}}
    cat, dog = plot_come_round(curves, [-2, -1, 0], (-1, 0), {"cat": 0, "dog": -2})
    assert {"cat at 0: 2.0"} <= set(texts(cat))
    assert {"dog at −2: 3.0"} <= set(texts(dog))
    drawn = {line.get_label(): list(line.get_ydata()) for line in cat.lines if not line.get_label().startswith("_")}
    assert drawn == curves["cat"]
    assert len({line.get_linestyle() for line in cat.lines if line.get_label() in drawn}) == 2  # told apart in grey
    assert [line.get_xydata().tolist() for line in dog.lines if line.get_marker() == "o"] == [[[-2, 3.0]]]


@pytest.mark.parametrize(
    ("curves", "places"), [({}, {}), ({"cat": {}}, {"cat": 0}), ({"cat": {"all": [1.0]}}, {"cat": 7})]
)
def test_keys_without_curves_or_a_place_among_the_distances_are_refused(curves, places):
    with pytest.raises(ValueError, match="one or two curves for each key"):
        plot_come_round(curves, [0], (0, 0), places)


def test_dot_products_are_sums_of_cosines_and_a_shifted_query_moves_the_peak():
    plain, shifted = plot_dot_products(dim=16, farthest=9, shift=-2).lines
    distances = torch.arange(-9.0, 10.0, dtype=torch.float64)
    speeds = 10000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)  # (D/2,)
    sums = (distances[:, None] * speeds).cos().sum(dim=1)
    assert torch.allclose(torch.as_tensor(plain.get_ydata()), sums)
    peaks = [line.get_xdata()[line.get_ydata().argmax()] for line in (plain, shifted)]
    assert peaks == [0, -2]


def test_dot_products_without_a_distance_are_refused():
    with pytest.raises(ValueError, match="farthest must be at least 1 position, got 0"):
        plot_dot_products(dim=16, farthest=0, shift=-2)


def test_sinusoids_are_drawn_as_cells_with_the_length_of_each_turn():
    turns = ["6", "20", "63", "199", "628", "1,987", "6,283", "19,869"]
    ax = plot_sinusoids(dim=16, length=40)
    assert [text.get_text() for text in ax.get_yticklabels()] == turns
    drawn = torch.tensor(ax.images[0].get_array())
    assert torch.allclose(drawn[1::2], sinusoidal_positions(40, 16).T[::2])  # the sine below its cosine
    assert torch.allclose(drawn[::2], sinusoidal_positions(40, 16).T[1::2])


@pytest.mark.parametrize(("dim", "length"), [(15, 40), (0, 40), (16, 1)])
def test_sinusoids_without_hands_or_positions_are_refused(dim, length):
    with pytest.raises(ValueError, match="dim must be even and length at least 2"):
        plot_sinusoids(dim=dim, length=length)
