"""What exercises share whose answers draw at random (labs 6 and 17).

Right answers draw differently, so their numbers cannot be compared. What is compared is whether many draws have a
fault, and which is the first in the order of an exercise's `FAULTS`, as a code.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from misread import values
from misread.exercise import Exercise

SHOWN = 3  # calls that a student is shown
MALFORMED = -1000  # no row of numbers, or not always of the size that is wanted


def copied(draw: Any) -> Any:
    """A draw that stays as it is when the answer writes into its own; what is no tensor is given back."""
    return draw.detach().clone() if isinstance(draw, Tensor) else draw


def called(
    function: Callable, args: tuple, generator: torch.Generator, times: int, again: int, fits: Callable[[Any], bool]
) -> tuple[list, list, bool]:
    """Draws one after the other; then some `again` with a generator that begins as the other did, when torch's own
    has moved on. Also whether torch's own had moved on by itself. A first draw that doesn't fit is enough."""
    torch.rand(5)  # away from where a seed that is set inside would bring it
    given, twin, own = values.clone(args), values.clone(generator), torch.get_rng_state()
    draws = [copied(function(*args, generator))]  # writes into these arguments are found
    if not fits(draws[0]):
        return draws * SHOWN, [], False
    draws += [copied(function(*values.clone(given), generator)) for _ in range(times - 1)]
    aside = not torch.equal(own, torch.get_rng_state())
    torch.rand(7)
    return draws, [copied(function(*values.clone(given), twin)) for _ in range(again)], aside


def codes(faults: Iterable[tuple[str, Any]]) -> dict[str, int]:
    """A number for each fault, which no right answer draws."""
    return {name: -100 * (1 + number) for number, (name, _) in enumerate(faults)}


def free_of(coded: Callable[..., Tensor], *faults: str) -> Callable[..., bool]:
    """True of draws that have none of these faults, in the form in which they are compared.

    `coded(fault, *inputs)` makes this form from an exercise's inputs without the last one, which is the generator.
    """
    return lambda result, *args: not any(torch.equal(result, coded(name, *args[:-1])) for name in faults)


def malformed(shape: Sequence[int], kind: int = 0) -> Tensor:
    """A result of a wrong shape in the form in which it is compared: by its shape, and a `kind` of what it holds.

    All its numbers differ, because they are not the answer's, and nothing can be said of them.
    """
    return MALFORMED * (1 + torch.arange(math.prod(shape)).view(tuple(shape))) ** 2 - kind


class ManyCalls(Exercise):
    """An answer is called many times for each input: what is compared is the first fault of its draws, as a code.

    A run's `value` is the reference's first draw where nothing is wrong, else the fault, coded; its `result` is what
    a student is shown: three calls, one after the other.
    """

    def right(self, args: tuple, draw: Tensor) -> Tensor:
        """The reference's draw, with an answer's dtype; int32 is as good as int64."""
        return self.reference(*values.clone(args)).to(torch.int64 if draw.dtype == torch.int32 else draw.dtype)
