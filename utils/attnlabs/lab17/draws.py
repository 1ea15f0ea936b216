"""What is wrong with positions that are drawn at random: seen in many draws, since a single one shows little."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from misread import values
from misread.sandbox import Run

from ..families.draws import SHOWN, ManyCalls, called, codes, malformed

CALLS, MANY, AGAIN = 60, 130, 12  # MANY where so few sets are possible that they can be counted
COUNTED = {(3, 5): 1200}  # and more in one place, where draws that favour neighbours are to be told from even ones
FEW_SETS, RARE = 10, 100  # a set out of more than RARE hardly comes by chance
UNEVEN = 60.0  # chi-square of at most nine degrees of freedom: right answers reach it once in 10⁹ checks


@dataclass(frozen=True)
class Drawn:
    """All draws of one answer for one input, as rows `(calls, length)`; `again` with the first state of the generator.

    `aside`: whether torch's own generator was touched, too. `length` positions out of `longest` were wanted, which can
    be chosen in `sets` ways.
    """

    rows: Tensor
    again: Tensor
    aside: bool
    length: int
    longest: int

    @property
    def sets(self) -> int:
        return math.comb(self.longest, self.length)

    @property
    def steps(self) -> Tensor:
        return self.rows.diff(dim=1)


def _outside(drawn: Drawn) -> bool:
    return bool((drawn.rows < 0).any() or (drawn.rows >= drawn.longest).any())


def _repeats(drawn: Drawn) -> bool:
    return bool((drawn.rows.sort(dim=1).values.diff(dim=1) == 0).any())


def _uneven(drawn: Drawn) -> bool:
    """Whether some sets come far more often than others, where there are few enough to count them."""
    if not 1 < drawn.sets <= FEW_SETS:
        return False
    wanted = len(drawn.rows) / drawn.sets
    found = Counter(map(tuple, drawn.rows.tolist())).values()
    missing = drawn.sets - len(found)
    return sum((count - wanted) ** 2 for count in found) / wanted + missing * wanted > UNEVEN


def _with_choice(holds: Callable[[Drawn], Any]) -> Callable[[Drawn], bool]:
    """For faults that show only where more than one set of positions is possible."""
    return lambda drawn: drawn.sets > 1 and bool(holds(drawn))


FAULTS: tuple[tuple[str, Callable[[Drawn], bool]], ...] = (
    ("not whole", lambda drawn: bool((drawn.rows != drawn.rows.round()).any())),
    ("from 1 on", lambda drawn: _outside(drawn) and bool((drawn.rows > 0).all())),
    ("outside", _outside),
    ("repeated", _repeats),
    ("descending", lambda drawn: drawn.length > 1 and bool((drawn.steps < 0).all())),
    ("ranks", _with_choice(lambda drawn: (drawn.steps < 0).any() and (drawn.rows < drawn.length).all())),
    ("not ascending", lambda drawn: bool((drawn.steps < 0).any())),
    ("the first ones", lambda drawn: drawn.sets > RARE and bool((drawn.rows < drawn.length).all())),
    ("always the same", _with_choice(lambda drawn: (drawn.rows == drawn.rows[0]).all())),
    ("generator unused", _with_choice(lambda drawn: not torch.equal(drawn.rows[:AGAIN], drawn.again))),
    ("a block", _with_choice(lambda drawn: drawn.length > 1 and (drawn.steps == 1).all())),
    ("always 0", _with_choice(lambda drawn: (drawn.rows[:, 0] == 0).all())),
    ("always the last", _with_choice(lambda drawn: (drawn.rows[:, -1] == drawn.longest - 1).all())),
    ("never 0", _with_choice(lambda drawn: (drawn.rows > 0).all())),
    ("never the last", _with_choice(lambda drawn: (drawn.rows < drawn.longest - 1).all())),
    ("uneven", _uneven),
    ("torch's own, too", _with_choice(lambda drawn: drawn.aside)),
)
CODES = codes(FAULTS)


def coded(fault: str, length: int, longest: int) -> Tensor:
    """A fault in the form in which it is compared, `(length,)`: no numbers that a look at results would explain."""
    return CODES[fault] - 10_000 * longest - torch.arange(length)


class ManyDraws(ManyCalls):
    """Sets of positions are drawn in many calls, one after the other."""

    def run(self, function: Callable, args: tuple) -> Run:
        done = super().run(partial(_calls, function), args)
        if done.failure is not None or done.raw[0][0] is None:
            return replace(done, result=None, value=None, raw=None)
        draws, again = (_plain(calls) for calls in done.raw[:2])
        fault, call = _first_fault(draws, again, done.raw[2], *args[:2])
        value = self.right(args, draws[0]) if fault is None else fault
        if _reshaped(draws, args[0]):
            value = self.right(args, draws[0]).reshape(draws[0].shape)  # an axis too many: this is all that is said
        shown = slice(call, call + SHOWN)
        # `after` is empty: a generator that was drawn from is another one, and the numbers cannot be written into.
        return replace(done, result=tuple(draws[shown]), value=value, raw=tuple(done.raw[0][shown]), after=())


def _plain(draws: list) -> list:
    """Each draw as it is compared; draws of one form all at once, since there are thousands of them."""
    forms = {(draw.shape, draw.dtype, draw.device) for draw in draws if isinstance(draw, Tensor)}
    if len(forms) == 1 and all(isinstance(draw, Tensor) for draw in draws):
        return list(values.plain(torch.stack(draws)).unbind())
    return [values.plain(draw) for draw in draws]


def calls_of(length: int, longest: int) -> int:
    """How often an answer is called for one input; seldom where all positions are wanted, so that draws are equal."""
    if length == longest:
        return AGAIN
    return COUNTED.get((length, longest), MANY if math.comb(longest, length) <= FEW_SETS else CALLS)


def _calls(function: Callable, length: int, longest: int, generator: torch.Generator) -> tuple[list, list, bool]:
    fits = lambda draw: isinstance(draw, Tensor)  # noqa: E731
    return called(function, (length, longest), generator, calls_of(length, longest), AGAIN, fits)


def _reshaped(draws: list, length: int) -> bool:
    """Whether all draws have as many numbers as wanted, but along more axes than one."""
    first = draws[0]
    if not isinstance(first, Tensor) or first.dim() < 2 or first.numel() != length or first.dtype == torch.bool:
        return False
    return all(isinstance(draw, Tensor) and draw.shape == first.shape for draw in draws)


def _first_fault(draws: list, again: list, aside: bool, length: int, longest: int) -> tuple[Any, int]:
    """The first fault as it is compared, `None` where there is none, and the call from which on it shows."""
    first = draws[0]
    if not isinstance(first, Tensor) or first.dim() != 1 or first.dtype == torch.bool:
        return values.transform(first, lambda tensor: malformed(tensor.shape)), 0
    shapes = [draw.shape if isinstance(draw, Tensor) else None for draw in [*draws, *again]]
    if set(shapes) != {(length,)}:
        return malformed(first.shape if len(set(shapes)) == 1 else (length,)), 0
    drawn = Drawn(torch.stack(draws), torch.stack(again), aside, length, longest)
    for name, holds in FAULTS:
        if holds(drawn):
            calls = range(min(len(draws) - SHOWN, 20))
            alone = (call for call in calls if holds(replace(drawn, rows=drawn.rows[call : call + 1])))
            return coded(name, length, longest), next(alone, 0)
    return None, 0
