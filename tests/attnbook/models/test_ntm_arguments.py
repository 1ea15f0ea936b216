"""Heads and memory that don't fit together are refused, and the sentence says why."""

import pytest
import torch

from attnbook.models import ntm_arguments as arguments

MEMORY = torch.zeros(2, 5, 3)


def test_a_missing_axis_is_named_with_the_shape_that_is_wanted():
    with pytest.raises(ValueError, match=r"gate must have shape \(2, 1\), got \(2,\)"):
        arguments.check_last("gate", torch.zeros(2), torch.zeros(2, 5), 1)


@pytest.mark.parametrize("memory, weights, said", [
    (torch.zeros(2, 5), torch.zeros(2, 5), r"memory must have shape \(B, N, M\), got \(2, 5\)"),
    (MEMORY, torch.zeros(3, 5), r"weights must have 2 axes, or 3 with heads, and the batch of memory, 2; got shape"),
    (MEMORY, torch.zeros(2, 4), "weights are over 4 rows but memory has 5"),
])  # fmt: skip
def test_weights_must_be_over_the_rows_of_memory(memory, weights, said):
    with pytest.raises(ValueError, match=said):
        arguments.check_rows(memory, weights)


def test_what_is_written_has_the_features_of_a_row():
    with pytest.raises(ValueError, match=r"erase must have shape \(2, 3\), got \(2, 4\)"):
        arguments.check_rows(MEMORY, torch.zeros(2, 5), erase=torch.zeros(2, 4), add=torch.zeros(2, 3))
    arguments.check_rows(MEMORY, torch.zeros(2, 1, 5), erase=torch.zeros(2, 1, 3))


def test_a_key_has_the_features_of_a_row_and_one_beta():
    with pytest.raises(ValueError, match="key has 4 features but a row of memory has 3"):
        arguments.check_address(torch.zeros(2, 4), torch.zeros(2, 1), MEMORY)
    with pytest.raises(ValueError, match=r"beta must have shape \(2, 1\), got \(2, 2\)"):
        arguments.check_address(torch.zeros(2, 3), torch.zeros(2, 2), MEMORY)
