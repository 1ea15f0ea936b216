import re

import pytest
import torch

from attnpages.figures.chapters.ch03_masks import plot_empty_values, plot_masks

NAN = float("nan")
WEIGHTS = torch.tensor([[[1.0, 0], [0.3, 0.7]], [[NAN, NAN], [0, 1]]])  # (B, T, T)
LATER = torch.tensor([[[False, True], [False, False]]] * 2)
PADDING = torch.tensor([[[False, False]] * 2, [[True, False]] * 2])
TEXTS = {"one text": ["he", "bakes"], "padding in front": ["<pad>", "bread"]}


def drawn():
    return plot_masks(WEIGHTS, {"later word": LATER, "padding": PADDING}, TEXTS)


def test_each_text_has_a_panel_with_its_words_and_weights(texts):
    one, other = drawn()
    assert [ax.get_title() for ax in (one, other)] == list(TEXTS)
    assert [label.get_text() for label in one.get_xticklabels()] == ["he", "bakes"]
    assert {"0.30", "0.70"} <= set(texts(one))
    assert (one.get_ylabel(), other.get_ylabel()) == ("query", "")


def test_a_masked_cell_bears_the_marks_of_each_mask_that_forbids_it():
    one, other = drawn()
    assert [(patch.get_xy(), patch.get_hatch()) for patch in one.patches] == [((0.5, -0.5), "")]
    marks = {patch.get_xy(): patch.get_hatch() for patch in other.patches}
    assert marks == {(-0.5, -0.5): "///", (0.5, -0.5): "", (-0.5, 0.5): "///"}
    both = plot_masks(WEIGHTS, {"later word": LATER, "padding": PADDING | LATER}, TEXTS)[0].patches[0]
    alone = one.patches[0]
    assert (both.get_hatch(), both.get_facecolor()) == ("///", alone.get_facecolor())


def test_rows_without_a_key_say_so():
    counts = [[text.get_text() for text in ax.texts].count("NaN") for ax in drawn()]
    assert counts == [0, 2]


def test_a_legend_names_the_masks_and_an_odd_number_of_texts_leaves_no_empty_panel():
    axes = plot_masks(WEIGHTS[:1], {"later word": LATER[:1]}, {"one text": ["he", "bakes"]})
    figure = axes[0].figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["later word"]
    assert len(figure.axes) == 1


@pytest.mark.parametrize(
    ("forbidden", "message"),
    [
        (dict.fromkeys("abcd", LATER), "forbidden has 4 reasons"),
        ({"later word": LATER[:1]}, re.escape("shapes [(1, 2, 2), (2, 2, 2)] and 2 texts do not fit")),
    ],
)
def test_masks_that_do_not_fit_are_refused(forbidden, message):
    with pytest.raises(ValueError, match=message):
        plot_masks(WEIGHTS, forbidden, TEXTS)


def test_each_head_is_a_point_and_the_first_layer_is_marked(looks_right, texts):
    ax = plot_empty_values([[0.1, 0.2], [0.7, 0.8], [0.5, 0.6]], [[1.0, 0.4], [0.1, 0.2], [0.3, 0.05]], even=0.07)
    looks_right(ax)
    first, later = (line for line in ax.lines if line.get_marker())
    assert first.get_xydata().tolist() == [[0.1, 1.0], [0.2, 0.4]]
    assert later.get_xydata().tolist() == [[0.7, 0.1], [0.8, 0.2], [0.5, 0.3], [0.6, 0.05]]
    assert first.get_marker() != later.get_marker()
    assert {"layer 1", "later layers", "equal weights"} <= set(texts(ax))


def test_heads_without_a_length_are_refused():
    with pytest.raises(ValueError, match="differ in layers or heads"):
        plot_empty_values([[0.1, 0.2]], [[0.1]], even=0.1)
