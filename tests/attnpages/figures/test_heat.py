import numpy as np
import pytest
import torch

from attnpages.figures import plot_heat, plot_side_by_side
from attnpages.figures.heat import as_label, as_matrix

SCORES = torch.tensor([[0.5, -1.25, 2.0], [0.0, 3.126, float("-inf")]])


def test_each_number_stands_in_its_cell(looks_right):
    ax = plot_heat(SCORES, "key", "query", title="scores")
    looks_right(ax)
    assert {text.get_position(): text.get_text() for text in ax.texts} == {
        (0, 0): "0.50", (1, 0): "−1.25", (2, 0): "2.00", (0, 1): "0.00", (1, 1): "3.13", (2, 1): "−∞",
    }  # fmt: skip


def test_the_rows_go_down_and_are_labelled(looks_right):
    ax = plot_heat(SCORES, "key", "query", xticks=["Tom", "chases", "Jerry"], yticks=["q1", "q2"])
    looks_right(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert ax.get_ylim() == (1.5, -0.5)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Tom", "chases", "Jerry"]


def test_numbers_are_white_on_dark_cells_and_black_on_light_ones():
    ax = plot_heat([[0.0, 1.0]], "key", "query")
    assert [text.get_color() for text in ax.texts] == ["black", "white"]


def test_a_mask_is_written_with_0_and_1():
    ax = plot_heat(torch.ones(2, 2).tril().bool(), "key", "query")
    assert [text.get_text() for text in ax.texts] == ["1", "0", "1", "1"]


def test_a_colour_bar_comes_with_its_label(looks_right, texts):
    ax = plot_heat([[0.2, 0.8]], "key", "query", colour_label="attention weight", limits=(0, 1))
    looks_right(ax)
    assert "attention weight" in texts(ax)
    assert ax.images[0].get_clim() == (0, 1)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (8, 1), (8, 8)])
def test_small_matrices_look_right(shape, looks_right):
    looks_right(plot_heat(np.linspace(-9, 9, shape[0] * shape[1]).reshape(shape), "key position", "query position"))


def test_long_names_are_turned(looks_right):
    ax = plot_heat(np.eye(6), "key", "query", xticks=["unidirectional"] * 6)
    looks_right(ax)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {90.0}


def test_names_that_leave_places_empty_are_not_thinned_out(looks_right):
    ax = plot_heat(
        np.eye(30), "layer", "head", annotate=False, xticks=[str(i) if i % 5 == 0 else "" for i in range(30)]
    )
    looks_right(ax)
    assert ax.get_xlabel() == "layer"
    assert [label.get_text() for label in ax.get_xticklabels()][::5] == ["0", "5", "10", "15", "20", "25"]


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"inches wide but the 20 columns only .*take fewer decimals"):
        plot_heat(np.full((2, 20), -10.0), "key", "query")


def test_there_is_one_name_a_column_and_a_row():
    with pytest.raises(ValueError, match="xticks has 2 names but matrix has 3 there"):
        plot_heat(SCORES, "key", "query", xticks=["a", "b"])
    with pytest.raises(ValueError, match="yticks has 3 names but matrix has 2 there"):
        plot_heat(SCORES, "key", "query", yticks="abc")


@pytest.mark.parametrize("bad", [[1.0, 2.0], [[]], np.zeros((1, 1, 1))])
def test_a_matrix_has_two_axes_and_a_cell(bad):
    with pytest.raises(ValueError, match="matrix must have 2 axes and at least one cell"):
        plot_heat(bad, "key", "query")


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_has_no_colour_is_refused(bad):
    with pytest.raises(ValueError, match=r"matrix holds NaN or \+inf"):
        plot_heat([[bad]], "key", "query")


def test_a_matrix_comes_from_each_device_and_dtype(device, dtype):
    matrix = torch.eye(2, device=device, dtype=dtype, requires_grad=True)
    assert as_matrix("matrix", matrix).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_spaces_are_made_visible_and_dollars_start_no_formula():
    assert as_label(" ") == "␣"
    assert as_label("5$") == r"5\$"


def test_each_matrix_has_its_title_and_its_numbers():
    matrices = {"six": torch.eye(6), "eight": torch.eye(8)}
    axes = plot_side_by_side(matrices, "read", "written")
    assert [ax.get_title() for ax in axes] == ["six", "eight"]
    assert [ax.images[0].get_array().shape for ax in axes] == [(6, 6), (8, 8)]
    assert [label.get_text() for label in axes[1].get_xticklabels()] == [str(n) for n in range(1, 9)]


def test_one_colour_means_the_same_in_each_matrix_and_one_bar_says_it():
    axes = plot_side_by_side({"pale": torch.full((2, 2), 0.1), "dark": torch.ones(2, 2)}, "x", "y", "share")
    assert {ax.images[0].get_clim() for ax in axes} == {(0.0, 1.0)}
    assert [ax.get_ylabel() for ax in axes[0].figure.axes].count("share") == 1


def test_marks_stand_on_their_cells():
    (ax,) = plot_side_by_side({"a": torch.eye(3)}, "x", "y", marks=[(0, 2), (1, 1)])
    assert [(*line.get_xdata(), *line.get_ydata()) for line in ax.lines] == [(0, 2), (1, 1)]


def test_matrices_side_by_side_are_readable(looks_right):
    letters = list("headache")
    matrices = {f"step {n}": torch.eye(8) for n in (0, 100, 400)}
    axes = plot_side_by_side(matrices, "source letter", "target letter", xticks=letters, yticks=letters[::-1])
    looks_right(axes[0])


@pytest.mark.parametrize(
    "matrices, names, message",
    [({}, None, "matrices is empty"), ({"a": torch.eye(3)}, ["x", "y"], "'a' has 3 cells along x but there are 2")],
)
def test_matrices_that_do_not_fit_are_refused(matrices, names, message):
    with pytest.raises(ValueError, match=message):
        plot_side_by_side(matrices, "x", "y", xticks=names)
