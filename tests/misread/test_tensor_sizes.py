"""How many numbers a function's tensors hold may be limited, and the limit in force is known."""

import pytest
import torch

from misread.tensor_sizes import TensorSizes, limit_in_force


def test_a_tensor_beyond_the_limit_stops_the_function():
    with TensorSizes(most=4, excess="five are too many"):
        torch.ones(4)
        with pytest.raises(RuntimeError, match="five are too many"):
            torch.ones(5)


def test_the_innermost_limit_is_in_force_and_counting_alone_sets_none():
    assert limit_in_force() is None
    with TensorSizes(9, "ten"), TensorSizes(4, "five"), TensorSizes():
        assert limit_in_force() == (4, "five")
    assert limit_in_force() is None


def test_after_a_tensor_beyond_the_limit_a_smaller_one_is_no_fault():
    with TensorSizes(4, "five"):
        with pytest.raises(RuntimeError, match="five"):
            torch.ones(5)
        assert torch.ones(4).sum() == 4


def test_a_limit_ends_with_an_error_that_it_raised():
    with pytest.raises(RuntimeError, match="five"), TensorSizes(4, "five"):
        torch.ones(5)
    assert limit_in_force() is None
