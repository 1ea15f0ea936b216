"""Numbers as people write them, and draws that leave nothing to compute but small whole numbers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from random import Random

import torch
from torch import Tensor

MINUS = "−"


def show(number: float | Fraction) -> str:
    """A number without needless digits: 3, −0.25, 2/3, or three decimals after ≈.

    >>> show(0.25), show(-2.0), show(2 / 3), show(1.4142135)
    ('0.25', '−2', '2/3', '≈ 1.414')
    """
    value = float(number)
    value = 0.0 if abs(value) < 1e-9 else value
    near = Fraction(value).limit_denominator(300)
    if abs(value - round(value, 5)) < 1e-9:
        text = f"{round(value, 5):,.5f}".rstrip("0").rstrip(".")
    elif abs(value - near) < 1e-9:
        text = f"{near.numerator}/{near.denominator}"
    else:
        text = f"≈ {value:.3f}"
    return text.replace("-", MINUS)


def vector(numbers: Iterable[float]) -> str:
    """Numbers in brackets: (1, −2, 0.5)."""
    return f"({', '.join(show(number) for number in numbers)})"


def cells(numbers: Iterable[float]) -> tuple[str, ...]:
    """A row of a table."""
    return tuple(show(number) for number in numbers)


def logs(numbers: Iterable[int]) -> str:
    """Scores that are logarithms: ln 1, ln 7."""
    return ", ".join(f"ln {number}" for number in numbers)


def tensor(numbers: Sequence | float) -> Tensor:
    """In double precision, so that a fraction can be recognised in the result."""
    return torch.tensor(numbers, dtype=torch.float64)


def floats(numbers: Tensor) -> list:
    """A tensor as lists of floats without the last digits, which are rounding."""
    return torch.round(numbers.double(), decimals=9).tolist()


def parts(draw: Random, total: int, count: int) -> list[int]:
    """``count`` whole numbers from 1 on that sum to ``total``, not all equal, and one of them the largest.

    >>> sum(parts(Random(0), 10, 4))
    10
    """
    while True:
        cuts = sorted(draw.sample(range(1, total), count - 1))
        found = [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
        if found.count(max(found)) == 1:
            return found


def distinct(draw: Random, low: int, high: int, count: int) -> list[int]:
    """``count`` different whole numbers from ``low`` to ``high``."""
    return draw.sample(range(low, high + 1), count)
