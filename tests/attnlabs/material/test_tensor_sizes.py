"""The largest tensor that a function makes is counted."""

import torch

from attnlabs.material.tensor_sizes import largest_tensor


def test_the_largest_tensor_on_the_way_counts_and_not_the_result():
    column = torch.ones(5, 1)
    result, largest = largest_tensor(lambda x: (x @ x.mT).sum(), column)
    assert (result.item(), largest) == (25, 25)


def test_the_parts_of_a_tuple_are_counted():
    assert largest_tensor(lambda x: x.split(3), torch.ones(4))[1] == 3
