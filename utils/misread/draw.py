"""Random inputs for exercises: the same numbers on every machine."""

from collections.abc import Collection

import torch
from torch import Tensor


class Draw:
    """Random inputs for one draw of one variant; the same numbers on every machine.

    A `compact` draw has sizes as small as can be, equal ones too: it finds nothing that the others don't,
    but what they found may be read more easily in it. In a draw with a `one` the size of that number is 1:
    one sentence, one position, one feature, where a `squeeze()` or a mean over "the others" goes wrong.
    """

    def __init__(self, variant: int, number: int, compact: bool = False, one: int | None = None):
        self.variant, self.number, self.compact, self.one = variant, number, compact, one
        self.drawn, self.has_one = 0, False  # how many sizes the case asked for first, and whether one of them is 1
        seed = 7919 * variant + number + 10**6 * compact + (0 if one is None else 10**5 * (one + 1))
        self.generator = torch.Generator().manual_seed(seed)

    def sizes(self, count: int, low: int = 2, never_one: Collection[int] = ()) -> list[int]:
        """`count` sizes, all different, at least `low`; a few more to choose from after the first draw.

        In a draw with a `one` the size of that number is 1, unless its number is in `never_one`, because
        the exercise's text excludes it (a vocabulary, draws that need others beside them).
        """
        if self.compact:
            return self.integers(low, low + 2, count).tolist()
        spread = count + 1 if self.number == 0 else count + 3
        sizes = [low + i for i in torch.randperm(spread, generator=self.generator)[:count].tolist()]
        if not self.drawn and self.one in set(range(count)) - {*never_one}:
            sizes[self.one], self.has_one = 1, True
        self.drawn = self.drawn or count
        return sizes

    def normal(self, *shape: int) -> Tensor:
        """Normal numbers in float64; in a compact draw with one decimal."""
        numbers = torch.randn(*shape, generator=self.generator, dtype=torch.float64)
        return (10 * numbers).round() / 10 if self.compact else numbers

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Uniform numbers in float64."""
        return low + (high - low) * torch.rand(*shape, generator=self.generator, dtype=torch.float64)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers from `low` to `high - 1`, int64."""
        return torch.randint(low, high, shape, generator=self.generator)

    def integer(self, low: int, high: int) -> int:
        """One whole number from `low` to `high - 1`."""
        return int(self.integers(low, high, 1))

    def order(self, count: int) -> Tensor:
        """A random order of `0 … count - 1`."""
        return torch.randperm(count, generator=self.generator)

    def lengths(self, batch: int, longest: int, shortest: int = 1) -> Tensor:
        """`(B,)` lengths: one row is full, another is not, in no order."""
        lengths = self.integers(shortest, longest + 1, batch)
        lengths[0], lengths[-1] = max(shortest, longest - 1 - self.integer(0, 2)), longest
        return lengths[self.order(batch)]

    def mask(self, *shape: int, empty_rows: bool = True) -> Tensor:
        """A bool mask `(…, rows, Tk)`: some positions closed in each row but the first, which is open.

        The last row is closed altogether; without `empty_rows` it is open in one position at least.
        """
        if shape[-1] == 1 and not empty_rows:
            return torch.ones(*shape, dtype=torch.bool)
        mask = torch.rand(*shape, generator=self.generator) < 0.6
        rows = mask.view(-1, shape[-1])
        place = self.integers(0, shape[-1], len(rows), 1)
        rows.scatter_(1, place, True)
        rows[1:].scatter_(1, (place[1:] + 1) % shape[-1], False)
        rows[0] = True
        if empty_rows:
            rows[-1] = False
        return mask
