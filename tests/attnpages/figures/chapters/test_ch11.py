import numpy as np
import pytest

from attnpages.figures.chapters.ch11 import (
    draw_induction,
    plot_copying_maps,
    plot_heads,
    plot_next_words,
    plot_scaling,
    plot_task_route,
    plot_while_training,
)


def test_each_word_but_the_first_notes_what_it_follows():
    said = [text.get_text() for text in draw_induction().texts]
    notes = ["B\n“I follow A”", "C\n“I follow B”", "D\n“I follow C”", "A\n“I follow D”"]
    assert [one for one in said if "I follow" in one] == notes
    assert "A\nnext: B" in said


def test_each_way_has_a_panel_and_each_word_a_bar(looks_right):
    axes = plot_next_words({"all": [0.5, 0.3, 0.2], "top-k": [0.6, 0.4, 0.0]}, ["cat", "dog", "goat"])
    assert [ax.get_title() for ax in axes] == ["all", "top-k"]
    assert [[bar.get_width() for bar in ax.patches] for ax in axes] == [[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]]
    assert axes[1].texts[-1].get_text() == "–"
    assert [label.get_text() for label in axes[1].get_yticklabels()] == [
        "",
        "",
        "",
    ]  # the words stand once, at the left
    looks_right(axes[0])


@pytest.mark.parametrize("panels", [{}, {"all": [0.5, 0.5]}])
def test_panels_that_do_not_fit_the_words_are_named(panels):
    with pytest.raises(ValueError, match="at least one panel, each with 3 probabilities"):
        plot_next_words(panels, ["cat", "dog", "goat"])


def test_each_token_of_a_prompt_has_a_bar_beside_the_curves(looks_right):
    left, right = plot_task_route(["big", "->", "small"], [0.1, 0.2, 0.7], {"at the answers": {0: 0.0, 14: 0.5}})
    assert [bar.get_width() for bar in left.patches] == [0.1, 0.2, 0.7]
    assert [label.get_text() for label in left.get_yticklabels()] == ["big", "->", "small"]
    assert list(right.lines[0].get_ydata()) == [0.0, 0.5]
    looks_right(right)


def test_tokens_without_weights_are_named():
    with pytest.raises(ValueError, match="2 tokens must have as many weights, got 1"):
        plot_task_route(["big", "->"], [1.0], {"at the answers": {0: 0.0}})


SIZES = {1000: [8.0, 8.0], 10_000: [4.0, 4.0], 100_000: [3.0, 3.2]}


def test_each_seed_is_a_point_and_a_law_goes_through_the_points_that_it_was_fitted_to(looks_right):
    exponent = -0.30103  # a tenth of the loss's logarithm: 8 to 4 while x grows tenfold
    axes = plot_scaling({"size": SIZES, "tokens": SIZES}, {"size": (exponent, [1000, 10_000])}, "loss (nats)")
    assert [ax.get_xlabel() for ax in axes] == ["size", "tokens"]
    assert axes[0].lines[0].get_ydata() == pytest.approx([8, 8, 4, 4, 3, 3.2])
    assert axes[0].lines[1].get_ydata() == pytest.approx([8, 4, 2], abs=1e-4)
    assert axes[1].lines[1].get_ydata() == pytest.approx([8, 4, 3.1])  # without a law, the means
    looks_right(axes[0])


@pytest.mark.parametrize("panels, laws", [({}, {}), ({"size": SIZES}, {"tokens": (-0.1, [1000])})])
def test_a_law_without_a_panel_is_named(panels, laws):
    with pytest.raises(ValueError, match="at least one panel, and one for each of"):
        plot_scaling(panels, laws, "loss")


def test_each_model_has_a_row_of_maps_with_its_own_tokens(looks_right):
    small, large = np.eye(3), np.eye(4)
    axes = plot_copying_maps(
        {
            "small": (["·", "A", "B"], {"1.2": small, "2.3": small}),
            "large": (list("wxyz"), {"17.1": large, "19.7": large}),
        }
    )
    assert [[ax.get_title() for ax in row] for row in axes] == [
        ["small, 1.2", "small, 2.3"],
        ["large, 17.1", "large, 19.7"],
    ]
    assert [label.get_text() for label in axes[1, 0].get_yticklabels()] == list("wxyz")
    looks_right(axes[0, 0])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "at least one"),
        ({"a": ("x", {"1": np.eye(1)}), "b": ("x", {})}, "equally many heads"),
        ({"a": ("xy", {"1": np.eye(3)})}, "one row and one column per token of a"),
    ],
)
def test_maps_that_do_not_fit_are_named(models, message):
    with pytest.raises(ValueError, match=message):
        plot_copying_maps(models)


def test_each_head_is_a_mark_at_its_layer(looks_right):
    axes = plot_heads(
        {
            "small": {"previous": {1: [0.9, 0.1], 2: [0.0, 0.1]}},
            "large": {"previous": {n: [0.5] for n in range(1, 31)}},
        },
        "score",
    )
    assert axes[0].lines[0].get_xdata().tolist() == [1, 1, 2, 2]
    assert axes[1].get_xticks().tolist() == [5, 10, 15, 20, 25, 30]
    looks_right(axes[1])


def test_no_heads_are_refused():
    with pytest.raises(ValueError, match="at least one model"):
        plot_heads({}, "score")


def test_each_quantity_of_a_training_has_a_panel(looks_right):
    losses = {"two layers": {0: [6.0, 5.0], 100: [3.0, 3.2], 200: [0.1, 0.2]}}
    axes = plot_while_training({"loss": losses, "copied": losses})
    assert [ax.get_ylabel() for ax in axes] == ["loss", "copied"]
    assert axes[0].lines[0].get_ydata() == pytest.approx([5.5, 3.1, 0.15])
    assert [label.get_text() for label in axes[1].get_xticklabels()] == ["0", "100", "200"]
    looks_right(axes[0])


def test_a_training_without_panels_is_named():
    with pytest.raises(ValueError, match="at least one panel"):
        plot_while_training({})
