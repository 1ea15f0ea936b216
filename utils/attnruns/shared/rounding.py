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


def rounded_mean(values: Tensor, digits: int = 4) -> float:
    """The mean of all values, rounded; of truth values, the share that is true.

    >>> import torch
    >>> rounded_mean(torch.tensor([True, True, False]))
    0.6667
    """
    return round(values.cpu().double().mean().item(), digits)
