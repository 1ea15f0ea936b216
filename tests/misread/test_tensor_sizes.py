"""How many numbers a function's tensors hold may be limited, and the limit in force is known."""

import pytest
import torch

from misread.tensor_sizes import Limits, TensorSizes, limit_in_force, uncounted


def test_a_tensor_beyond_the_limit_stops_the_function():
    with TensorSizes(most=4, excess="five are too many"):
        torch.ones(4)
        with pytest.raises(RuntimeError, match="five are too many"):
            torch.ones(5)


def test_the_innermost_limit_is_in_force_and_counting_alone_sets_none():
    assert limit_in_force() is None
    with TensorSizes(9, "ten"), TensorSizes(4, "five"), TensorSizes():
        assert limit_in_force() == Limits(4, "five")
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


def test_tensors_that_are_gone_no_longer_count_as_kept_and_views_never_do():
    with TensorSizes(kept=(8, "too much at once")) as sizes:
        for _ in range(9):
            one = torch.ones(4)
            one[1:], one.add_(1)
        assert (sizes.kept, sizes.made, sizes.largest) == (4, 36, 4)
        assert limit_in_force() == sizes.limits
        with pytest.raises(RuntimeError, match="too much at once"):
            torch.cat([torch.ones(4), torch.ones(1)])


def test_what_is_made_in_all_may_be_limited_too():
    with TensorSizes(made=(8, "too much in all")):
        for _ in range(2):
            torch.ones(4)
        with pytest.raises(RuntimeError, match="too much in all"):
            torch.ones(4)


def test_where_nothing_is_to_be_counted_no_limit_stops_anything():
    with TensorSizes(4, "five") as sizes:
        with uncounted():
            torch.ones(5)
            assert limit_in_force() == Limits(4, "five")
        assert (sizes.largest, sizes.made) == (0, 0)
        with pytest.raises(RuntimeError, match="five"):
            torch.ones(5)
