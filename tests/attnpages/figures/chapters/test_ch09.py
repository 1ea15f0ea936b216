import pytest
import torch

from attnpages.figures.chapters.ch09 import (
    draw_transformer,
    plot_by_learning_rate,
    plot_shares_right,
    plot_three_maps,
    plot_with_and_without,
    plot_without_heads,
)

SENTENCES = ("forty two", "BOS zwei", "zwei und")


@pytest.mark.parametrize(("norm", "layer_norms"), [("post", 5), ("pre", 7)])
def test_the_whole_model_names_its_parts_and_its_masks(texts, norm, layer_norms):
    written = texts(draw_transformer(*SENTENCES, norm=norm, layers=3))
    assert written.count("feed-forward") == 2
    assert written.count("self-attention\n(padding mask)") == 1
    assert written.count("self-attention\n(causal mask)") == 1
    assert written.count("cross-attention\n(padding mask)") == 1
    assert written.count("layer norm") == layer_norms  # pre-norm has one more at the end of each stream
    assert {*SENTENCES, "encoder, 3 ×", "decoder, 3 ×", "memory", "keys, values", "queries"} <= set(written)


def test_another_norm_is_refused():
    with pytest.raises(ValueError, match="norm must be 'post' or 'pre'"):
        draw_transformer(*SENTENCES, norm="batch")


def test_no_line_of_the_drawing_has_dashes_or_markers_but_the_frames():
    ax = draw_transformer(*SENTENCES)
    assert all(line.get_linestyle() == "-" and line.get_marker() == "" for line in ax.lines)


KINDS = "switched off", "trained without"


def test_each_row_has_a_mark_per_seed_and_kind_on_a_logarithmic_axis(texts):
    rows = {"all parts": ([], [1.0, 2.0, 3.0]), "positions": ([100.0] * 3, [90.0] * 3)}
    ax = plot_with_and_without(rows, KINDS, "mistakes (%)")
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["all parts", "positions"]
    compared, off, without = ax.lines
    assert list(compared.get_xdata()) == [2.0, 2.0]  # the first model's mean, to compare with
    assert list(off.get_xdata()) == [100.0] * 3
    assert list(without.get_xdata()) == [1.0, 2.0, 3.0, 90.0, 90.0, 90.0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(KINDS)


@pytest.mark.parametrize(("rows", "why"), [
    ({}, "at least one model"), ({"all": ([], [])}, "at least one value"), ({"all": ([], [0.0, 1.0])}, "above 0"),
])  # fmt: skip
def test_a_logarithmic_axis_has_no_zero_and_a_row_to_compare_with(rows, why):
    with pytest.raises(ValueError, match=why):
        plot_with_and_without(rows, KINDS, "mistakes (%)")


def test_each_seed_is_a_dot_at_its_learning_rate():
    curves = {"no warm-up": {0.001: [0.9, 1.0], 0.002: [0.0, 0.1]}, "warm-up": {0.002: [0.8, 0.9]}}
    post, pre = plot_by_learning_rate({"post-norm": curves, "pre-norm": curves}, "exact match")
    assert [ax.get_title() for ax in (post, pre)] == ["post-norm", "pre-norm"]
    means, dots, *_ = post.lines
    assert list(means.get_ydata()) == pytest.approx([0.95, 0.05])
    assert list(dots.get_ydata()) == [0.9, 1.0, 0.0, 0.1]
    assert [label.get_text() for label in post.get_xticklabels()] == ["0.001", "0.002"]
    with pytest.raises(ValueError, match="panels is empty"):
        plot_by_learning_rate({}, "exact match")


def test_each_head_has_a_dot_per_table_and_each_model_a_row(texts):
    values = [1.0] * 7 + [0.0]
    tables = {"replaced by 0": {"encoder": values, "decoder": values}, "mean": {"encoder": values, "decoder": values}}
    axes = plot_without_heads({"seed 0": tables, "seed 1": tables}, "exact match (share)")
    assert [ax.get_title() for ax in axes] == ["encoder", "decoder", "", ""]
    assert [list(line.get_ydata()) for line in axes[3].lines] == [values, values]
    assert [label.get_text() for label in axes[2].get_xticklabels()][-1] == "2.4"
    assert "seed 1" in texts(axes[3])
    with pytest.raises(ValueError, match="rows is empty"):
        plot_without_heads({}, "exact match")


def test_maps_share_one_scale():
    axes = plot_three_maps({name: (torch.eye(3), ["a", "b", "c"], ["x", "y", "z"]) for name in ("one", "two")})
    assert [ax.get_title() for ax in axes] == ["one", "two"]
    assert {ax.images[0].get_clim() for ax in axes} == {(0.0, 1.0)}
    with pytest.raises(ValueError, match="panels is empty"):
        plot_three_maps({})


def test_each_share_stands_in_its_cell_in_per_cent_and_a_dash_where_nothing_was_measured(texts):
    off = {"all parts": {"und": 1.0, "EOS": 0.994}, "positions": {"und": 0.5, "EOS": 0.0}}
    without = {"all parts": {"6": 0.98}, "positions": {"6": float("nan")}}
    left, right = plot_shares_right({"switched off": off, "trained without": without}, ["next word", "numbers"])
    assert [ax.get_title() for ax in (left, right)] == ["switched off", "trained without"]
    assert [ax.get_xlabel() for ax in (left, right)] == ["next word", "numbers"]
    assert [text.get_text() for text in left.texts] == ["100", "99", "50", "0"]
    assert [text.get_text() for text in right.texts] == ["98", "–"]
    assert [label.get_text() for label in left.get_xticklabels()] == ["und", "EOS"]
    assert [label.get_text() for label in left.get_yticklabels()] == ["all parts", "positions"]


@pytest.mark.parametrize(("panels", "why"), [
    ({}, "at least one title"), ({"off": {}}, "at least one row"),
    ({"off": {"a": {"und": 1.0}}, "without": {"b": {"und": 1.0}}}, "'without' must have the rows"),
    ({"off": {"a": {"und": 1.0}, "b": {"EOS": 1.0}}}, "the same columns in each row"),
])  # fmt: skip
def test_panels_of_shares_have_the_same_rows_and_their_rows_the_same_columns(panels, why):
    with pytest.raises(ValueError, match=why):
        plot_shares_right(panels, ["next word"] * len(panels))
