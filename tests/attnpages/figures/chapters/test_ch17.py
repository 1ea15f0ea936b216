import pytest
import torch

from attnpages.figures.chapters.ch17 import Beyond, draw_reading, plot_beyond, plot_ways


def test_each_panel_has_its_curves_and_its_trained_lengths():
    curves = {"rotary": {2: [1.0, 0.9], 4: [0.5, 0.3]}}
    first, second = plot_beyond([Beyond(curves, "letters", "share", (1, 2)), Beyond(curves, "tokens", "share", (1, 4))])
    assert [line.get_ydata().tolist() for line in first.lines] == [[0.95, 0.4]]
    assert (first.get_xlabel(), second.get_xlabel()) == ("letters", "tokens")
    with pytest.raises(ValueError, match="panels is empty"):
        plot_beyond([])


def test_maps_show_their_weights_and_the_line_of_the_right_letters():
    maps = {"rotary, 3 letters": torch.eye(3), "hard, 5 letters": torch.rand(5, 5), "none": torch.zeros(2, 2)}
    axes = draw_reading(maps)
    assert [ax.get_title(loc="left") for ax in axes] == list(maps)
    assert axes[0].images[0].get_array().tolist() == torch.eye(3).tolist()
    assert axes[1].lines[0].get_ydata().tolist() == [-0.5, 4.5]
    assert len(axes) == 3
    with pytest.raises(ValueError, match="maps is empty"):
        draw_reading({})


def test_letters_of_the_string_are_written_at_both_axes():
    ax = draw_reading({"rotary": torch.eye(3)}, {"rotary": "cab"})[0]
    for axis in (ax.xaxis, ax.yaxis):
        assert [label.get_text() for label in axis.get_ticklabels()] == ["c", "a", "b"]
    with pytest.raises(ValueError):
        draw_reading({"rotary": torch.eye(3)}, {"rotary": "ca"})


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
