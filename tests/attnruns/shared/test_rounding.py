"""Numbers of a record."""

import pytest
import torch

from attnruns.shared.rounding import rounded


@pytest.mark.parametrize("numbers, expected", [
    (torch.tensor([[0.123456, 1.0], [2.0, -0.00004]]), [[0.1235, 1.0], [2.0, -0.0]]),
    ([[0.123456], [1.0, 2.5]], [[0.1235], [1.0, 2.5]]),
    (torch.tensor(0.123456), 0.1235),
    ([], []),
])  # fmt: skip
def test_each_number_has_four_decimals_and_the_shape_stays(numbers, expected):
    assert rounded(numbers) == expected
