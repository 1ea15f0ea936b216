import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from attnpages.figures import plot_alignment

SOURCE = ["three", "hundred", "and", "forty", "two"]
TARGET = ["drei", "hundert", "zwei", "und", "vierzig"]
LINKS = {(0, 0), (1, 1), (4, 2), (3, 4)}
WEIGHTS = torch.full((5, 5), 0.2)


def outlines(ax) -> set:
    return {patch.get_xy() for patch in ax.patches if isinstance(patch, Rectangle)}


def long_sentence(count: int) -> list[str]:
    return [("hundred", "and", ",", "seventy")[i % 4] for i in range(count)]


def test_words_stand_beside_their_rows_and_columns(looks_right):
    ax = plot_alignment(WEIGHTS, SOURCE, TARGET, truth=LINKS, title="Attention")
    looks_right(ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == SOURCE
    assert [label.get_text() for label in ax.get_yticklabels()] == TARGET
    assert ax.xaxis.get_label_position() == "top"
    assert ax.get_ylim() == (4.5, -0.5)  # the first target word is on top


def test_true_links_are_outlined_at_source_across_and_target_down(texts):
    ax = plot_alignment(WEIGHTS, SOURCE, TARGET, truth=LINKS)
    assert outlines(ax) == {(s - 0.5, t - 0.5) for s, t in LINKS}
    assert "true link" in texts(ax)


@pytest.mark.parametrize("truth", [None, set()])
def test_without_true_links_there_is_no_legend(truth):
    ax = plot_alignment(WEIGHTS, SOURCE, TARGET, truth=truth)
    assert ax.get_legend() is None
    assert outlines(ax) == set()


def test_the_darkest_colour_is_one_unless_told_otherwise():
    assert plot_alignment(WEIGHTS, SOURCE, TARGET).images[0].get_clim() == (0, 1)
    assert plot_alignment(WEIGHTS, SOURCE, TARGET, largest=None).images[0].get_clim() == pytest.approx((0, 0.2))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 30), (27, 29), (150, 120)])
def test_short_and_long_sentences_look_right(shape, looks_right):
    source, target = long_sentence(shape[1]), long_sentence(shape[0])
    truth = {(i, i) for i in range(min(shape))}
    looks_right(plot_alignment(np.full(shape, 1 / shape[1]), source, target, truth=truth, title="A title"))


def test_words_of_long_sentences_are_thinned_out_and_the_label_says_so():
    ax = plot_alignment(np.eye(60), long_sentence(60), long_sentence(60))
    step = ax.get_xticks()[1]
    assert step > 1
    assert ax.get_xlabel() == f"source word (1 in {step} named)"
    assert [label.get_text() for label in ax.get_xticklabels()] == long_sentence(60)[::step]


def test_letters_stand_upright_and_spaces_are_seen(looks_right):
    ax = plot_alignment(np.eye(4), list("a b$"), list("12-3"), xlabel="source letter", ylabel="target letter")
    looks_right(ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "␣", "b", r"\$"]
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0.0}


def test_weights_of_each_device_and_dtype_are_drawn(device, dtype):
    weights = WEIGHTS.to(device, dtype).requires_grad_()
    assert plot_alignment(weights, SOURCE, TARGET).images[0].get_array().shape == (5, 5)


def test_words_and_weights_must_fit_together():
    with pytest.raises(ValueError, match=r"weights has 5 rows but target has 4 words; cut weights\["):
        plot_alignment(WEIGHTS, SOURCE, TARGET[:4])
    with pytest.raises(ValueError, match="weights has 5 columns but source has 6 words"):
        plot_alignment(WEIGHTS, [*SOURCE, "EOS"], TARGET)


@pytest.mark.parametrize("bad", [-1.0, 2.0])
def test_scores_are_not_drawn_as_weights(bad):
    with pytest.raises(ValueError, match=r"weights must lie between 0 and 1.*not the scores"):
        plot_alignment(torch.full((5, 5), bad), SOURCE, TARGET)


def test_weights_are_one_matrix_without_nan():
    with pytest.raises(ValueError, match=r"weights must have 2 axes and at least one cell, got shape \(1, 5, 5\)"):
        plot_alignment(WEIGHTS[None], SOURCE, TARGET)
    with pytest.raises(ValueError, match="weights holds NaN"):
        plot_alignment(WEIGHTS * float("nan"), SOURCE, TARGET)


def test_a_true_link_must_lie_in_the_picture():
    with pytest.raises(
        ValueError, match=r"truth has the link \(5, 0\), meaning \(source, target\), but there are only"
    ):
        plot_alignment(WEIGHTS, SOURCE, TARGET, truth={(5, 0)})
