"""Masks: True and False exchanged, one open position too many or too few."""

from collections.abc import Iterator

import torch
from torch import Tensor

from .claims import Case, Claim, becomes


def truths(case: Case) -> Iterator[Claim]:
    """True and False exchanged, or each True in a wrong position."""
    if case.is_mask:
        yield becomes(
            "True and False exchanged",
            "Your result is the opposite of the right one: it is True where False is right, and False where True is.",
            lambda right: 1 - right,
        )
        yield Claim(
            "no True is right",
            "Wherever your result is True, it should be False: not one of its True is right.",
            lambda case: bool(case.tensors[0].any()) and not (case.tensors[0] * case.tensors[1]).any(),
        )


def by_one(case: Case) -> Iterator[Claim]:
    """In each row of a mask one True too many, or too few. One True or False for each input is no row of a mask."""
    if not case.is_mask or case.tensors[1].dim() < 2:
        return
    for by, where in ((1, "after the last"), (-1, "before the first")):
        text = f"Your mask is right, but in each row it is open for one position too many, the one {where} open one."
        yield becomes("one position too many open", text, lambda right, by=by: torch.maximum(right, _next(right, by)))
    for by, where in ((-1, "last"), (1, "first")):
        text = f"Your mask is right, but in each row the {where} open position is closed."
        yield becomes("one position too few open", text, lambda right, by=by: torch.minimum(right, _next(right, by)))


def amounts(case: Case) -> Iterator[Claim]:
    """Too many True, or too few."""
    if not case.is_mask:
        return
    text = "Each True that is wanted is there, but your result has True at other positions, too."
    yield Claim("too many True", text, lambda case: _less(case.tensors[1], case.tensors[0]))
    text = "Each True of your result is right, but True is missing at other positions."
    yield Claim("too few True", text, lambda case: _less(*case.tensors))


def _next(mask: Tensor, by: int) -> Tensor:
    """The mask moved along its last axis; nothing comes round."""
    moved = mask.roll(by, -1)
    moved[..., 0 if by > 0 else -1] = 0
    return moved


def _less(small: Tensor, large: Tensor) -> bool:
    """Whether all that is True in `small` is True in `large`, which has more (numbers instead of True don't count)."""
    if small.shape != large.shape:
        return False
    small, large = small != 0, large != 0
    return bool((large | ~small).all()) and bool((large & ~small).any())
