"""The instructions to the heads of a machine: which numbers are drawn, and which are refused."""

import numpy as np
import pytest
import torch

from attnpages.figures.chapters.ch13_instructions import Track, draw_instructions

SHIFT = torch.tensor([[0.1, 0.9, 0], [0, 1, 0], [0, 0.2, 0.8], [0, 0, 1]])  # (T, 3)


def track(gate=(0.5, 0.4, 0.1, 0.2)):
    return Track(SHIFT, gate, torch.tensor([1.0, 1, 5, 1]), torch.tensor([1.0, 2, 6, 3]))


def test_each_head_has_its_instructions_in_one_column(looks_right, texts):
    other = Track(SHIFT.flip(0), (0.9, 0.8, 0.7, 0.6), torch.full((4,), 0.5), torch.full((4,), 1.5))
    axes = draw_instructions({"one": track(), "two": other}, 2)
    looks_right(axes[2, 0])
    assert axes.shape == (3, 2)
    assert [ax.get_title() for ax in axes[0]] == ["one", "two"]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["shift", "gate", r"$\beta$ and $\gamma$"]
    np.testing.assert_array_almost_equal([one.get_ydata() for one in axes[0, 0].lines[:3]], SHIFT.T)
    np.testing.assert_array_almost_equal([one.get_ydata() for one in axes[0, 1].lines[:3]], SHIFT.flip(0).T)
    np.testing.assert_array_equal(axes[1, 1].lines[0].get_ydata(), [0.9, 0.8, 0.7, 0.6])
    assert axes[2, 0].get_ylim()[1] >= 6  # the heads share it, and the second has smaller numbers
    np.testing.assert_array_equal(axes[1, 0].lines[0].get_ydata(), [0.5, 0.4, 0.1, 0.2])
    assert [one.get_ydata()[2] for one in axes[2, 0].lines[:2]] == [5, 6]
    assert all(ax.lines[-1].get_xdata()[0] == 2 for ax in axes.flat)
    assert [text.get_text() for text in axes[0, 1].get_legend().get_texts()] == ["back", "stay", "forward"]
    assert texts(axes[2, 0]).count("time step") == 2


def test_curves_of_a_panel_differ_in_colour_and_in_dashes():
    axes = draw_instructions({"one": track()}, 1)
    looks = [(one.get_color(), one.get_linestyle()) for one in axes[0, 0].lines[:3]]
    assert len({colour for colour, _ in looks}) == len({dashes for _, dashes in looks}) == 3


def test_heads_without_one_number_per_step_are_refused():
    with pytest.raises(ValueError, match="heads is empty"):
        draw_instructions({}, end=0)
    with pytest.raises(ValueError, match=r"one must have shift .* gate.*\(3,\)"):
        draw_instructions({"one": track(gate=(0.5, 0.5, 0.5))}, end=0)
