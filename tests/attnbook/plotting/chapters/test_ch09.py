import pytest
import torch

from attnbook.plotting.chapters.ch09 import draw_transformer, plot_heads, plot_rates
from attnbook.training import warmup_rate


def test_the_whole_model_names_its_parts_and_its_masks(texts):
    ax = draw_transformer("forty two", "BOS zwei", "zwei und", layers=3)
    written = texts(ax)
    assert written.count("feed-forward") == 2
    assert written.count("self-attention\nmask: padding") == 1
    assert written.count("self-attention\nmask: causal") == 1
    assert written.count("attention to the source\nmask: padding") == 1
    assert written.count("3 ×") == 2
    assert {"forty two", "BOS zwei", "zwei und", "encoder", "decoder"} <= set(written)


def test_no_line_of_the_drawing_has_dashes_or_markers_but_the_frames():
    ax = draw_transformer("forty two", "BOS zwei", "zwei und")
    assert all(line.get_linestyle() == "-" and line.get_marker() == "" for line in ax.lines)


def test_a_rate_is_drawn_at_each_step_counted_from_one(looks_right):
    ax = plot_rates({"D = 64": lambda step: warmup_rate(step, 64, 10)}, steps=30)
    looks_right(ax)
    (line,) = ax.lines
    assert list(line.get_xdata()) == list(range(1, 31))
    assert max(line.get_ydata()) == pytest.approx((64 * 10) ** -0.5)
    with pytest.raises(ValueError, match="schedules is empty"):
        plot_rates({}, steps=3)


def test_each_head_has_a_panel_and_all_share_one_scale():
    axes = plot_heads(torch.eye(3).repeat(4, 1, 1), ["a", "b", "c"], ["x", "y", "z"], "source word", "target word")
    assert [ax.get_title() for ax in axes] == ["head 1", "head 2", "head 3", "head 4"]
    assert {ax.images[0].get_clim() for ax in axes} == {(0.0, 1.0)}
    with pytest.raises(ValueError, match="even number of heads"):
        plot_heads(torch.ones(3, 2, 2), ["a", "b"], ["x", "y"], "", "")
