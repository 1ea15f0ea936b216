import math

import pytest
import torch

from attnbook.attention import sinusoidal_positions
from attnpages.figures.chapters.ch08 import (
    Reach,
    draw_clocks,
    draw_heads,
    draw_rotary,
    plot_by_distance,
    plot_dot_products,
    plot_heads_at,
    plot_reach,
    plot_readouts,
    plot_sinusoids,
)


def test_multi_head_attention_is_drawn_with_every_part_and_shape():
    shown = [text.get_text() for text in draw_heads(heads=4, dim=64).texts]
    assert {f"{name}, shape (T, 64)" for name in ("word vectors X", "queries Q", "keys K", "values V")} <= set(shown)
    assert [f"head {head}" in shown for head in range(4)] == [True] * 4
    assert sum(text.startswith("weights (T, T):") for text in shown) == 4
    assert sum(text.startswith("context (T, 16):") for text in shown) == 4
    assert [shown.count(str(head)) for head in range(4)] == [4] * 4  # strips of Q, K, V and of the joined contexts


@pytest.mark.parametrize("heads", [0, 3, 16])
def test_heads_that_can_not_be_drawn_are_refused(heads):
    with pytest.raises(ValueError, match="equal heads"):
        draw_heads(heads=heads, dim=64)


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


SENTENCES = ("the dog bit the man", "today the dog bit the man")


def test_the_angle_between_rotated_hands_stays_when_both_words_move(texts):
    key = (math.cos(math.radians(30)), math.sin(math.radians(30)))
    axes = draw_rotary((6.0, 0.0), key, 30, SENTENCES, "bit", ("dog", "man"))
    angles = [
        [text.get_text() for text in ax.texts if text.get_text().endswith("°") and ":" not in text.get_text()]
        for ax in axes
    ]
    assert angles == [["30°"], ["0°"], ["0°"], ["30°"], ["90°"], ["90°"]]
    shown = texts(axes[0])
    assert {
        "bit: 0°",
        "dog: 30°",
        "bit at 2: 0°+60° = 60°",
        "dog at 1: 30°+30° = 60°",
        "bit at 3: 0°+90° = 90°",
        "man at 5: 30°+150° = 180°",
    } <= set(shown)
    assert [shown.count(score) for score in ("score 6", "score 0", "not yet rotated")] == [2, 2, 2]
    query, hand = (line.get_xydata()[-1] for line in axes[5].lines[-2:])  # man, with today in front
    assert query.tolist() == pytest.approx([1, 0], abs=1e-9)  # from the top by a quarter of a turn, clockwise
    assert hand[0] == pytest.approx(0, abs=1e-9)
    assert hand[1] < 0


@pytest.mark.parametrize(("sentences", "nouns"), [((), ("dog",)), (SENTENCES, ()), (SENTENCES, ("cat",))])
def test_hands_of_words_that_are_missing_are_refused(sentences, nouns):
    with pytest.raises(ValueError, match="must contain the verb and all nouns"):
        draw_rotary((6.0, 0.0), (1.0, 0.0), 30, sentences, "bit", nouns)


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
    assert torch.allclose(drawn, sinusoidal_positions(40, 16).T)


@pytest.mark.parametrize(("dim", "length"), [(15, 40), (0, 40), (16, 1)])
def test_sinusoids_without_hands_or_positions_are_refused(dim, length):
    with pytest.raises(ValueError, match="dim must be even and length at least 2"):
        plot_sinusoids(dim=dim, length=length)


def test_scores_are_drawn_over_their_distances():
    ax = plot_by_distance({"head_0": [1.0, 2.0, 1.0], "head 1": [0.0, 3.0, 0.0]}, [-1, 0, 1], (-0.5, 0.5))
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert drawn == {"head 0": [1.0, 2.0, 1.0], "head 1": [0.0, 3.0, 0.0]}
    assert "distances seen in training" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert len({line.get_linestyle() for line in ax.lines}) == 2  # told apart in grey print


@pytest.mark.parametrize("curves", [{}, {"head": [1.0, 2.0]}])
def test_curves_that_do_not_fit_the_distances_are_refused(curves):
    with pytest.raises(ValueError, match="one value for each distance"):
        plot_by_distance(curves, [-1, 0, 1], (0, 1))


def test_reach_is_drawn_in_one_panel_per_model_and_only_trained_distances_are_shaded():
    near = Reach("near", {"head": [1.0, 2.0, 1.0]}, [-1, 0, 1])
    far = Reach("far", {"before": [0.0] * 50, "after": [1.0] * 50}, range(50), trained=(0, 20))
    axes = plot_reach([near, far])
    assert [ax.get_title(loc="left") for ax in axes] == ["near", "far"]
    assert [list(line.get_ydata()) for line in axes[0].lines] == [[1.0, 2.0, 1.0]]
    named = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in axes]
    assert [sorted(names) for names in named] == [["head"], ["after", "before", "distances seen in training"]]
    assert axes[1].get_xlabel() == "position of the key minus position of the query"


@pytest.mark.parametrize("panels", [[], [Reach("", {}, [1])], [Reach("", {"head": [1.0]}, [1, 2])]])
def test_reach_without_a_value_for_each_distance_is_refused(panels):
    with pytest.raises(ValueError, match="one value for each distance"):
        plot_reach(panels)


def test_heads_at_a_word_have_a_row_each_and_large_weights_their_percent():
    weights = torch.tensor([[0.96, 0.03, 0.01], [0.3, 0.1, 0.6]])
    ax = plot_heads_at(weights, ["head 0", "one head"], ["dog", "bit", "man"], query=1, split=1)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["head 0", "one head"]
    assert [label.get_fontweight() == "bold" for label in ax.get_xticklabels()] == [False, True, False]
    assert [text.get_text() for text in ax.texts] == ["96", "30", "10", "60"]
    assert list(ax.lines[-1].get_ydata()) == [0.5, 0.5]


@pytest.mark.parametrize(("names", "query"), [(["head 0"], 0), (["head 0", "head 1"], 3)])
def test_heads_that_do_not_fit_their_names_or_words_are_refused(names, query):
    with pytest.raises(ValueError, match="don't fit"):
        plot_heads_at(torch.eye(2, 3), names, ["dog", "bit", "man"], query=query)


def test_readouts_have_a_panel_per_task_a_row_per_attention_and_a_mark_per_seed():
    linear, hidden = {"1 head": [0.2, 0.3], "2 heads": [1.0, 0.9]}, {"1 head": [0.8, 0.9], "2 heads": [1.0, 1.0]}
    axes = plot_readouts(
        {"two nouns": {"linear": linear, "hidden": hidden}, "six": {"linear": hidden, "hidden": linear}}, "share"
    )
    assert [ax.get_title(loc="left") for ax in axes] == ["two nouns", "six"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["1 head", "2 heads"]
    marks = {line.get_label(): [tuple(point) for point in line.get_xydata().round().tolist()] for line in axes[0].lines}
    assert marks["linear"] == [(20, 0), (30, 0), (100, 1), (90, 1)]
    assert axes[0].lines[0].get_marker() != axes[0].lines[1].get_marker()  # told apart in grey print
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == ["linear", "hidden"]


@pytest.mark.parametrize(
    "panels", [{}, {"two": {}}, {"two": {"linear": {"1": [0.2]}}, "six": {"linear": {"2": [0.2]}}}]
)
def test_readouts_of_panels_that_differ_are_refused(panels):
    with pytest.raises(ValueError, match="the same readouts and rows"):
        plot_readouts(panels, "share")
