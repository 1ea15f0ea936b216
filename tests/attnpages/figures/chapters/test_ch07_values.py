import pytest
import torch

from attnpages.figures.chapters.ch07_values import draw_value_map


def test_the_heads_are_framed_and_named_with_their_values(looks_right, texts):
    shifts = torch.zeros(30, 9)
    shifts[26, 0], shifts[27, 8], shifts[3, 2] = 2.87, 0.8, -0.1
    ax = draw_value_map(shifts, [(26, 0), (27, 8)])
    looks_right(ax)
    assert {"head 27.1: 2.9", "head 28.9: 0.8"} <= set(texts(ax))
    assert ax.images[0].get_array().shape == (9, 30)
    assert [patch.get_xy() for patch in ax.patches] == [(25.5, -0.5), (26.5, 7.5)]


def test_no_change_is_grey_and_a_fall_has_another_colour_than_a_rise():
    image = draw_value_map(torch.tensor([[0.0, 1.0, -1.0]]), [(0, 1)]).images[0]
    none, rise, fall = image.to_rgba(image.get_array())[:, 0, :3]
    assert max(none) - min(none) < 0.01
    assert rise[2] > rise[0]  # blue
    assert fall[0] > fall[2]  # orange


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"no head \(2, 0\) in 2 layers of 3 heads"):
        draw_value_map(torch.zeros(2, 3), [(0, 0), (2, 0)])
