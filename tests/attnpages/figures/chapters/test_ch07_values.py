import pytest
import torch

from attnpages.figures.chapters.ch07_values import draw_value_map


def test_the_head_is_framed_and_named_with_its_value(looks_right, texts):
    shifts = torch.zeros(30, 9)
    shifts[26, 0], shifts[3, 2] = 2.87, -0.1
    ax = draw_value_map(shifts, (26, 0))
    looks_right(ax)
    assert "head 27.1: 2.9" in texts(ax)
    assert ax.images[0].get_array().shape == (9, 30)
    assert [patch.get_xy() for patch in ax.patches] == [(25.5, -0.5)]


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"no head \(2, 0\) in 2 layers of 3 heads"):
        draw_value_map(torch.zeros(2, 3), (2, 0))
