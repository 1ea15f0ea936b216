"""Where a result is wrong: at one end of an axis, at masked positions, where the right number is 0 …"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from .claims import Case, Claim

MUCH = 0.25  # a few wrong numbers lie inside of something by chance
Where = Callable[[Case], Tensor]  # True at some positions of the result


def wrong(case: Case) -> Tensor:
    """Where the result is wrong. Raises ValueError where it has another shape."""
    got, expected = case.tensors
    if got.shape != expected.shape:
        raise ValueError("another shape")
    tolerance = max(case.exercise.tolerance, 1e-9)
    return ~torch.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def not_finite(case: Case) -> Tensor:
    """Where the result is NaN or infinite and should be a number."""
    got, expected = case.tensors
    if got.shape != expected.shape:
        raise ValueError("another shape")
    return ~got.isfinite() & expected.isfinite()


def only_there(case: Case) -> Iterator[Claim]:
    """The result is wrong in some positions only, and they can be named."""
    for words, where in _named_positions(case):
        yield Claim(
            f"wrong only {words[0]}",
            f"Your result is wrong only {words[1]}; everywhere else it is right.",
            lambda case, where=where: _telling(case, where(case)) and inside(wrong(case), where(case)),
        )


def _telling(case: Case, where: Tensor) -> bool | None:
    """None where all that stands elsewhere is one number, which is right too easily."""
    elsewhere = case.tensors[1][~where]
    return None if not elsewhere.numel() or bool((elsewhere == elsewhere[0]).all()) else True


def where_not_finite(case: Case) -> Iterator[Claim]:
    """NaN or infinity, and where."""
    for words, where in _named_positions(case):
        yield Claim(
            "not a number",
            f"NaN or infinity stands only {words[1]}.",
            lambda case, where=where: inside(not_finite(case), where(case)),
        )


def inside(found: Tensor, where: Tensor) -> bool | None:
    """Whether all that was found lies inside, and is much of it; None where there is no outside."""
    if not found.any() or where.all():
        return None
    return bool((where | ~found).all()) and bool(found.sum() >= MUCH * where.sum())


def _named_positions(case: Case) -> Iterator[tuple[tuple[str, str], Where]]:
    yield from _masked(case)
    yield from _ends(case)
    yield from _squares(case)
    for short, words, where in (
        ("where 0 is wanted", "where the right result is 0", lambda right: right == 0),
        ("where 0 isn't wanted", "where the right result is not 0", lambda right: right != 0),
        ("at −∞", "where the right result is infinite", lambda right: right.isinf()),
        ("at negative numbers", "where the right result is negative", lambda right: right < 0),
        ("at positive numbers", "where the right result is positive", lambda right: right > 0),
    ):
        yield (short, words), lambda case, where=where: where(case.tensors[1])
    yield from _zeros(case)
    yield from _ends_left(case)


def _index(case: Case, axis: int) -> Tensor:
    """The position along an axis, at each number of the result."""
    shape = case.tensors[1].shape
    return torch.arange(shape[axis]).view(-1, *[1] * (len(shape) - axis - 1)).expand(shape)


def _ends(case: Case) -> Iterator[tuple[tuple[str, str], Where]]:
    for axis in range(case.tensors[1].dim()):
        for short, words, where in (
            ("at the first position", "at the first position of axis {}", lambda at, last: at == 0),
            ("at the last position", "at the last position of axis {}", lambda at, last: at == last),
        ):
            yield (short, words.format(axis)), _along(axis, where)


def _ends_left(case: Case) -> Iterator[tuple[tuple[str, str], Where]]:
    for axis in range(case.tensors[1].dim()):
        for short, words, where in (
            ("after the first position", "after the first position of axis {}", lambda at, last: at > 0),
            ("before the last position", "before the last position of axis {}", lambda at, last: at < last),
            ("at odd positions", "at the odd positions (1, 3, …) of axis {}", lambda at, last: at % 2 == 1),
            ("at even positions", "at the even positions (0, 2, …) of axis {}", lambda at, last: at % 2 == 0),
            ("at both ends", "at both ends of axis {}", lambda at, last: (at == 0) | (at == last)),
        ):
            yield (short, words.format(axis)), _along(axis, where)


def _along(axis: int, where: Callable[[Tensor, int], Tensor]) -> Where:
    return lambda case: where(_index(case, axis), case.tensors[1].shape[axis] - 1)


def _squares(case: Case) -> Iterator[tuple[tuple[str, str], Where]]:
    rank = case.tensors[1].dim()
    if rank < 2:
        return
    for words, where in (
        ("on the diagonal", lambda row, column: row == column),
        ("above the diagonal", lambda row, column: row < column),
        ("below the diagonal", lambda row, column: row > column),
        ("on the diagonal and above", lambda row, column: row <= column),
        ("on the diagonal and below", lambda row, column: row >= column),
        ("off the diagonal", lambda row, column: row != column),
    ):
        full = f"{words} of axes {rank - 2} and {rank - 1}"
        yield (words, full), lambda case, where=where: where(_index(case, rank - 2), _index(case, rank - 1))


def _masked(case: Case) -> Iterator[tuple[tuple[str, str], Where]]:
    for name, mask in _masks(case):
        for short, words, change in (
            ("in closed rows", "in the rows in which `{}` has no True at all", lambda m: ~m.any(-1, keepdim=True)),
            ("at closed positions", "where `{}` is False", lambda m: ~m),
            (
                "in rows with closed positions",
                "in the rows in which `{}` is not True everywhere",
                lambda m: ~m.all(-1, keepdim=True),
            ),
            ("in full rows", "in the rows in which `{}` is True everywhere", lambda m: m.all(-1, keepdim=True)),
            ("at open positions", "where `{}` is True", lambda m: m),
            (
                "in rows with open positions",
                "in the rows in which `{}` is True somewhere",
                lambda m: m.any(-1, keepdim=True),
            ),
        ):
            for way in range(4):
                yield (
                    (short, words.format(name)),
                    lambda case, m=mask, c=change, w=way: _over(c(m(case)), case.tensors[1].shape, w),
                )


def _masks(case: Case) -> Iterator[tuple[str, Where]]:
    """Bool arguments, and what is no padding or no end symbol in arguments of whole numbers."""
    given = {name: i for i, name, _ in case.named()}
    for i, name, arg in case.named():
        if isinstance(arg, Tensor) and arg.dtype == torch.bool and arg.dim():
            yield name, lambda case, i=i: case.args[i]
        elif isinstance(arg, Tensor) and not arg.is_floating_point() and arg.dim() > 1:
            for symbol in {"pad", "eos"} & set(given):
                yield f"{name} != {symbol}", lambda case, i=i, j=given[symbol]: case.args[i] != case.args[j]


def _over(mask: Tensor, shape: torch.Size, way: int) -> Tensor:
    """A mask stretched over a result: as it is, or with an axis put in. Raises RuntimeError where it doesn't fit."""
    shaped = (mask, mask[:, None], mask[..., None], mask.squeeze(-1))
    return shaped[way].expand(shape)


def _zeros(case: Case) -> Iterator[tuple[tuple[str, str], Where]]:
    for i, name, arg in case.named():
        if isinstance(arg, Tensor) and arg.is_floating_point() and arg.dim():
            for way in range(3):
                yield (
                    (f"at zeros of {name}", f"where `{name}` is 0"),
                    lambda case, i=i, w=way: _over(case.args[i] == 0, case.tensors[1].shape, w),
                )
                yield (
                    (f"at zero rows of {name}", f"where a row of `{name}` is zero"),
                    lambda case, i=i, w=way: _over((case.args[i] == 0).all(-1), case.tensors[1].shape, w),
                )
                yield (
                    (f"at negative {name}", f"where `{name}` is negative"),
                    lambda case, i=i, w=way: _over(case.args[i] < 0, case.tensors[1].shape, w),
                )
