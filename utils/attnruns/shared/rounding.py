"""Numbers of a record, short enough to be read."""

from typing import Any

from torch import Tensor


def rounded(numbers: Tensor | list | float) -> Any:
    """A tensor, or lists of numbers, as lists with four decimals.

    >>> rounded([[0.12345, 1.0], [2.0]])
    [[0.1235, 1.0], [2.0]]
    """
    if isinstance(numbers, Tensor):
        return rounded(numbers.tolist())
    return [rounded(one) for one in numbers] if isinstance(numbers, list) else round(numbers, 4)
