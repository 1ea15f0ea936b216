import pytest
import torch

from attnpages.figures.chapters.ch16 import plot_agreement, plot_canvases, plot_gradients, plot_mean_maps, plot_training


def test_each_canvas_is_drawn_and_the_marked_ones_have_a_dashed_frame():
    rows = {"data": torch.zeros(2, 8, 32), "generated": torch.rand(3, 8, 32)}
    axes = plot_canvases(rows, columns=2, marked={"generated": [False, True, False]})
    assert len(axes) == 5
    assert axes[3].images[0].get_array().tolist() == rows["generated"][1].tolist()
    dashed = [ax.patches[0].get_linestyle() not in ("-", "solid") for ax in axes]
    assert dashed == [False, False, False, True, False]
    assert [panel.get_suptitle() for panel in axes[0].figure.figure.subfigs] == ["data", "generated"]


def test_canvases_may_have_colours():
    images = torch.rand(2, 3, 8, 8)
    axes = plot_canvases({"made": images}, columns=2)
    assert axes[1].images[0].get_array().tolist() == images[1].permute(1, 2, 0).tolist()


def test_canvases_have_one_size_and_a_mark_each():
    with pytest.raises(ValueError, match="canvases of one size"):
        plot_canvases({"a": torch.zeros(1, 8, 32), "b": torch.zeros(1, 8, 16)})
    with pytest.raises(ValueError, match=r"one boolean per canvas of a row; it does not for \['a'\]"):
        plot_canvases({"a": torch.zeros(2, 8, 32)}, marked={"a": [True]})


def test_cells_without_a_gradient_stay_white():
    gradient = torch.zeros(4, 16)
    gradient[1, 2], gradient[1, 3] = 1.0, 0.0001
    (ax,) = plot_gradients({"one pixel": (gradient, (1, 2))}, "column", "row")
    shown = torch.tensor(ax.images[0].get_array().tolist())
    assert int((shown > 0).sum()) == 2
    assert shown[1, 3] == pytest.approx(0.1)  # the fourth root
    assert ax.lines[0].get_xydata().tolist() == [[2.0, 1.0]]
    with pytest.raises(ValueError, match="absolute gradients"):
        plot_gradients({"one pixel": (-gradient, (1, 2))}, "column", "row")


def test_each_quantity_of_a_training_has_a_panel():
    axes = plot_training({"γ": {"generator": {0: [0.0, 0.0], 50: [0.1, -0.1]}}, "agreement": {"both": {0: [0.5]}}})
    assert [ax.get_ylabel() for ax in axes] == ["γ", "agreement"]
    assert axes[1].get_xlabel() == "training step"
    with pytest.raises(ValueError, match="panels is empty"):
        plot_training({})


def test_agreement_and_chance_lie_on_one_line_per_seed():
    ax = plot_agreement({"both": [0.9, 0.8], "none": [0.5, 0.5]}, {"both": [0.5, 0.5], "none": [0.5, 0.4]})
    dots = [mark.get_xdata()[0] for mark in ax.lines if mark.get_marker() == "o"]
    bars = [mark.get_xdata()[0] for mark in ax.lines if mark.get_marker() == "|"]
    assert dots == [0.9, 0.8, 0.5, 0.5]
    assert bars == [0.5, 0.5, 0.5, 0.4]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["both", "none"]
    with pytest.raises(ValueError, match="the same models and seeds"):
        plot_agreement({"both": [0.9]}, {"both": [0.5, 0.5]})


def test_mean_maps_share_one_scale_and_say_how_much_goes_to_each_digit():
    left, right = torch.zeros(4, 16), torch.zeros(4, 16)
    left[0, 0], left[0, 15], left[0, 8] = 0.5, 0.25, 0.25
    right[3, 3] = 1.0
    axes = plot_mean_maps({"seed 0": (left, right)})
    assert [ax.get_title(loc="left") for ax in axes] == [
        "seed 0: 0.50 to the left digit, 0.25 right",
        "seed 0: 1.00 to the left digit, 0.00 right",
    ]
    assert [ax.images[0].get_clim() for ax in axes] == [(0, 1.0)] * 2
    assert [ax.patches[0].get_x() for ax in axes] == [-0.5, 11.5]  # the digit that attends is framed
    assert not axes[0].collections
    canvas = torch.zeros(8, 32)
    canvas[2:6, 1:7] = 1
    outlined = plot_mean_maps({"seed 0": (left, right)}, canvases={"seed 0": canvas})[0].collections[0]
    corners = outlined.get_paths()[0].vertices
    assert -0.5 <= corners[:, 0].min() < 0.5
    assert 2.5 < corners[:, 0].max() <= 3.5  # pixels 1 to 6 of 32 lie in the first four of 16 cells
    with pytest.raises(ValueError, match="two maps of one size each"):
        plot_mean_maps({"seed 0": (left, torch.zeros(4, 8))})
