"""Shares of attention: closed places have none, the open ones share one."""

import torch

from attnlabs.families.attention_properties import closed_get_nothing, lies_between, rows_sum_to_one

MASK = torch.tensor([[[True, False, True], [False, False, False]]])  # (B, Tq, Tk)
RIGHT = torch.tensor([[[0.25, 0.0, 0.75], [0.0, 0.0, 0.0]]])


def test_right_weights_pass():
    assert closed_get_nothing(RIGHT, MASK)
    assert rows_sum_to_one(RIGHT, MASK)
    assert rows_sum_to_one(RIGHT[:, :1], None)
    assert closed_get_nothing(RIGHT, None)


def test_a_closed_place_with_weight_is_seen():
    assert not closed_get_nothing(RIGHT + torch.tensor([0.0, 1e-9, 0.0]), MASK)


def test_rows_that_sum_to_something_else_are_seen():
    assert not rows_sum_to_one(RIGHT, None)  # the second row would have to be 1
    assert not rows_sum_to_one(2 * RIGHT, MASK)
    assert not rows_sum_to_one(RIGHT.new_full((1, 2, 3), 1 / 3), MASK)


def test_a_mask_may_have_axes_of_one():
    weights = torch.tensor([[[[0.5, 0.5, 0.0]] * 2] * 2])  # (B, H, Tq, Tk)
    mask = torch.tensor([[[[True, True, False]]]])
    assert closed_get_nothing(weights, mask)
    assert rows_sum_to_one(weights, mask)


def test_a_mixture_lies_between_what_is_mixed():
    one, other = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5])
    assert lies_between(0.25 * one + 0.75 * other, one, other)
    assert lies_between(one, one, other)
    assert not lies_between(torch.tensor([-0.1, 0.7]), one, other)
    assert not lies_between(torch.tensor([0.5, 1.1]), one, other)
