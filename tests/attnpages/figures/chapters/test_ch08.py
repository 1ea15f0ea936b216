import pytest
import torch

from attnpages.figures.chapters.ch08 import draw_heads, plot_by_distance, plot_hands, plot_heads_at, plot_readouts

Q = torch.tensor([[0.0, 0, 0, 0], [6, 0, 6, 0], [0, 0, 0, 0]])
K = torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
V = torch.tensor([[4.0, 0, 4, 0], [0, 0, 0, 0], [2, 0, 2, 0]])


def test_one_head_and_two_are_drawn_with_their_weights_and_what_they_receive():
    shown = [text.get_text() for text in draw_heads(Q, K, V, ["dog", "bit", "man"], query=1).texts]
    assert {"queries Q", "keys K", "values V", "one head", "head 0", "head 1"} <= set(shown)
    assert [text for text in shown if text.startswith("receives")] == [
        "receives 2.93",
        "receives 3.92",
        "receives 2.00",
    ]
    assert "scores and weights:\ndog: 4.24, so 97 %\nbit: 0.00, so 1 %\nman: 0.00, so 1 %" in shown
    assert [shown.count(number) for number in ("3.92", "2.00")] == [1, 1]  # side by side, after merging


@pytest.mark.parametrize(("keys", "words"), [(K[:, :2], "abc"), (K, "ab")])
def test_matrices_that_do_not_fit_are_refused(keys, words):
    with pytest.raises(ValueError, match="of one shape"):
        draw_heads(Q, keys, V, list(words), query=1)


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


def test_hands_are_drawn_with_their_terms_and_their_sum():
    terms = {"at -1": [2.0, 1.0], "at 0": [-1.0, 1.0]}
    top, below = plot_hands([2.0, 1.0], terms, [-1, 0], [3.0, 0.0])
    assert [(bar.get_y(), bar.get_height()) for bar in top.patches] == [(-2.0, 4.0), (-1.0, 2.0)]
    assert {line.get_label(): list(line.get_ydata()) for line in top.lines} == terms
    assert [list(line.get_ydata()) for line in below.lines] == [[3.0, 0.0]]


@pytest.mark.parametrize("given", [([], {}, [0], [1.0]), ([1.0], {"at 0": []}, [0], [1.0]), ([1.0], {}, [0, 1], [1.0])])
def test_terms_and_scores_that_fit_no_hand_or_distance_are_refused(given):
    with pytest.raises(ValueError, match="one term per hand"):
        plot_hands(*given)


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
