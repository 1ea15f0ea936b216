import numpy as np
import pytest
import torch

from attnpages.figures.chapters.ch13_without import draw_without


def test_each_machine_has_a_row_of_panels_and_the_rows_go_around_the_circle(looks_right, texts):
    whole, stuck = torch.eye(6)[[0, 5, 1, 2]], torch.eye(6)[[0, 0, 0, 0]]  # (T, N) = (4, 6)
    axes = draw_without({"one": {"whole": whole, "stuck": stuck}, "two": {"whole": stuck, "stuck": whole}}, 2, (-2, 4))
    looks_right(axes[1, 0])
    assert axes.shape == (2, 2)
    assert [ax.get_title() for ax in axes[0]] == ["whole", "stuck"]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["one\nrow of memory", "two\nrow of memory"]
    np.testing.assert_array_equal(axes[0, 0].images[0].get_array(), np.roll(whole.numpy(), 2, axis=1).T)
    dots, mark = axes[0, 0].lines
    assert dots.get_ydata().tolist() == [0, -1, 1, 2]  # row 5 is one row before row 0
    assert mark.get_xdata()[0] == 2
    assert [label.get_text() for label in axes[0, 0].get_yticklabels()] == ["4", "0"]
    assert axes[0, 0].yaxis_inverted()
    assert texts(axes[0, 0]).count("time step") == 2


def test_a_head_that_is_spread_out_gets_no_dot(looks_right):
    spread = torch.cat([torch.full((1, 20), 0.05), torch.eye(20)[:1]])  # (T, N) = (2, 20)
    axes = draw_without({"one": {"whole": spread}}, 1)
    looks_right(axes[0, 0])
    np.testing.assert_array_equal(axes[0, 0].lines[0].get_ydata(), [np.nan, 0])


def test_machines_without_the_same_interventions_are_refused():
    with pytest.raises(ValueError, match="give machines with the same interventions"):
        draw_without({}, end=0)
    with pytest.raises(ValueError, match="give machines with the same interventions"):
        draw_without({"one": {"whole": torch.eye(2)}, "two": {}}, end=0)
