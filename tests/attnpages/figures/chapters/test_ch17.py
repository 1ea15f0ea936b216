import pytest
import torch

from attnpages.figures.chapters.ch17 import Beyond, draw_scores, plot_beyond, plot_ways


def test_each_panel_has_its_curves_and_its_trained_lengths():
    curves = {"rotary": {2: [1.0, 0.9], 4: [0.5, 0.3]}}
    first, second = plot_beyond([Beyond(curves, "letters", "share", (1, 2)), Beyond(curves, "tokens", "share", (1, 4))])
    assert [line.get_ydata().tolist() for line in first.lines] == [[0.95, 0.4]]
    assert (first.get_xlabel(), second.get_xlabel()) == ("letters", "tokens")
    with pytest.raises(ValueError, match="panels is empty"):
        plot_beyond([])


def test_scores_are_drawn_below_the_highest_of_their_row_and_later_keys_not_at_all():
    scores = torch.tensor([[1.0, 9, 9, 9], [2.0, 5.0, 9, 9], [3.0, 1.0, 2.0, 9], [0.0, 4.0, 4.0, 1.0]])
    axes = draw_scores({"as trained": scores, "slowed": scores + 7, "none": scores}, trained=2)
    assert [ax.get_title(loc="left") for ax in axes] == ["as trained", "slowed", "none"]
    shown = axes[0].images[0].get_array()
    assert shown.filled(99).tolist() == [[0, 99, 99, 99], [-3, 0, 99, 99], [0, -2, -1, 99], [-4, 0, 0, -3]]
    assert axes[1].images[0].get_array().filled(99).tolist() == shown.filled(99).tolist()
    right, square = axes[0].lines
    assert (right.get_xdata().tolist(), right.get_ydata().tolist()) == ([0, 1], [2, 3])
    assert square.get_ydata().tolist() == [1.5, 1.5, -0.5]
    near, far = draw_scores({"as trained": scores}, trained=2, rewarded=(1, 2))[0].lines[2:]
    assert [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in (near, far)] == [
        ([1, 2], [2, 3]),
        ([0, 1], [2, 3]),
    ]
    with pytest.raises(ValueError, match="maps is empty"):
        draw_scores({}, trained=2)


def test_each_training_has_a_line_through_its_ways():
    ways = {
        "file": [{"as trained": 0.5, "both": 0.2}, {"as trained": 0.6, "both": 0.1}],
        "blocks": [{"as trained": 0.1, "both": 0.2}],
    }
    first, second = plot_ways({"15 letters": ways, "24 letters": ways}, "share")
    for ax, title in ((first, "15 letters"), (second, "24 letters")):
        assert [line.get_ydata().tolist() for line in ax.lines] == [[0.5, 0.2], [0.6, 0.1], [0.1, 0.2]]
        assert [label.get_text() for label in ax.get_xticklabels()] == ["as trained", "both"]
        assert ax.get_ylabel() == f"share\n({title})"
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["file", "blocks"]
    assert first.lines[0].get_color() == first.lines[1].get_color() != first.lines[2].get_color()
    with pytest.raises(ValueError, match="panels is empty"):
        plot_ways({}, "share")
    with pytest.raises(ValueError, match="a training of blocks has the ways"):
        plot_ways({"15 letters": ways | {"blocks": [{"both": 0.2}]}}, "share")
