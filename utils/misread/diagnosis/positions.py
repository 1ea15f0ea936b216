"""Where a result is wrong: at one end of an axis, at masked positions, where the right number is 0 …"""

from collections.abc import Callable, Iterator
from itertools import chain

import torch
from torch import Tensor

from .claims import Case, Claim

MUCH = 0.25  # a few wrong numbers lie inside of something by chance
Where = Callable[[Case], Tensor]  # True at some positions of the result
Named = tuple[str, Where]  # the positions in words


def only_there(case: Case) -> Iterator[Claim]:
    """The result is wrong in some positions only, and they can be named."""
    yield from _only(_ends_and_values(case))


def only_in_part(case: Case) -> Iterator[Claim]:
    """The same for positions that are much of an axis, which tells less."""
    yield from _only(chain(_along(case, HALVES), _valued(BOUNDS), _along(case, PARTS)))


def _only(places: Iterator[Named]) -> Iterator[Claim]:
    for words, where in places:
        yield Claim(
            f"wrong only {words}",
            f"Your result is wrong only {words}; everywhere else it is right.",
            lambda case, where=where: _inside(case, _wrong(case), where(case)) and _telling(case, where(case)),
        )


def where_not_finite(case: Case) -> Iterator[Claim]:
    """NaN or infinity, and where."""
    for words, where in chain(_named_positions(case), _along(case, PARTS)):
        text = f"NaN or infinity stands only {words}."
        yield Claim("not a number", text, lambda case, where=where: _inside(case, _not_finite(case), where(case)))


def _wrong(case: Case) -> Tensor:
    """Where the result is wrong. Raises ValueError where it has another shape."""
    tolerance = max(case.exercise.tolerance, 1e-9)
    return ~torch.isclose(*_of_one_shape(case), rtol=tolerance, atol=tolerance, equal_nan=True)


def _not_finite(case: Case) -> Tensor:
    """Where the result is NaN or infinite and should be a number."""
    got, expected = _of_one_shape(case)
    return ~got.isfinite() & expected.isfinite()


def _of_one_shape(case: Case) -> tuple[Tensor, Tensor]:
    if case.tensors[0].shape != case.tensors[1].shape:
        raise ValueError("another shape")
    return case.tensors


def _telling(case: Case, where: Tensor) -> bool | None:
    """None where all that stands elsewhere is one number, which is right too easily."""
    elsewhere = case.tensors[1][~where]
    return None if not elsewhere.numel() or bool((elsewhere == elsewhere[0]).all()) else True


def _inside(case: Case, found: Tensor, where: Tensor) -> bool | None:
    """Whether all that was found lies inside, and is much of it; None where there is no outside.

    Zeros are often those of padding, where nothing can be wrong.
    """
    if not found.any() or where.all():
        return None
    all_of_it = int((where & (case.tensors[1] != 0)).sum()) or where.sum()
    return bool((where | ~found).all()) and bool(found.sum() >= MUCH * all_of_it)


def _named_positions(case: Case) -> Iterator[Named]:
    yield from chain(_ends_and_values(case), _along(case, HALVES), _valued(BOUNDS))


def _ends_and_values(case: Case) -> Iterator[Named]:
    yield from chain(_masked(case), _by_length(case), _along(case, ENDS), _squares(case), _valued(SIGNS), _zeros(case))


def _valued(table: tuple) -> Iterator[Named]:
    for words, where in table:
        yield f"where the right result is {words}", lambda case, where=where: where(case.tensors[1])


ENDS = (("at the first position", lambda at, last: at == 0), ("at the last position", lambda at, last: at == last))
HALVES = (("in the first half", lambda at, last: 2 * at < last), ("in the second half", lambda at, last: 2 * at > last))
PARTS = (
    ("after the first position", lambda at, last: at > 0),
    ("before the last position", lambda at, last: at < last),
    ("at the odd positions (1, 3, …)", lambda at, last: at % 2 == 1),
    ("at the even positions (0, 2, …)", lambda at, last: at % 2 == 0),
    ("at both ends", lambda at, last: (at == 0) | (at == last)),
)
LENGTHS = (
    ("at the last real position of each row", lambda at, lengths: at == lengths - 1),
    ("behind the last real position of each row", lambda at, lengths: at >= lengths),
)
SQUARES = (
    ("on the diagonal", lambda row, column: row == column),
    ("above the diagonal", lambda row, column: row < column),
    ("below the diagonal", lambda row, column: row > column),
    ("off the diagonal", lambda row, column: row != column),
)
WITH_THE_DIAGONAL = (
    ("on the diagonal and above", lambda row, column: row <= column),
    ("on the diagonal and below", lambda row, column: row >= column),
)
SIGNS = (
    ("0", lambda right: right == 0),
    ("not 0", lambda right: right != 0),
    ("infinite", lambda right: right.isinf()),
)
BOUNDS = (("negative", lambda right: right < 0), ("positive", lambda right: right > 0))
ROWS = (
    ("in the rows in which `{}` has no True at all", lambda mask: ~mask.any(-1, keepdim=True)),
    ("where `{}` is False", lambda mask: ~mask),
    ("in the rows in which `{}` is not True everywhere", lambda mask: ~mask.all(-1, keepdim=True)),
    ("in the rows in which `{}` is True everywhere", lambda mask: mask.all(-1, keepdim=True)),
    ("where `{}` is True", lambda mask: mask),
    ("in the rows in which `{}` is True somewhere", lambda mask: mask.any(-1, keepdim=True)),
)
NUMBERS = (
    ("where `{}` is 0", lambda x: x == 0),
    ("where a row of `{}` is zero", lambda x: (x == 0).all(-1)),
    ("where `{}` is negative", lambda x: x < 0),
)


def _along(case: Case, table: tuple) -> Iterator[Named]:
    for axis in range(case.tensors[1].dim()):
        for words, where in table:
            yield (
                f"{words} of axis {axis}",
                lambda case, a=axis, where=where: where(_index(case, a), case.tensors[1].shape[a] - 1),
            )


def _index(case: Case, axis: int) -> Tensor:
    """The position along an axis, at each number of the result."""
    shape = case.tensors[1].shape
    return torch.arange(shape[axis]).view(-1, *[1] * (len(shape) - axis - 1)).expand(shape)


def _squares(case: Case) -> Iterator[Named]:
    row, column = case.tensors[1].dim() - 2, case.tensors[1].dim() - 1
    for words, where in SQUARES if row >= 0 else ():
        yield (f"{words} of axes {row} and {column}", lambda case, where=where: where(*_square(case, row, column)))
    for words, where in WITH_THE_DIAGONAL if row >= 0 else ():
        yield (f"{words} of axes {row} and {column}", lambda case, where=where: where(*_wrong_on_it(case, row, column)))


def _square(case: Case, row: int, column: int) -> tuple[Tensor, Tensor]:
    """The positions along two axes. Raises ValueError where these are not of one length: then no diagonal is meant."""
    if case.tensors[1].shape[row] != case.tensors[1].shape[column]:
        raise ValueError("no square")
    return _index(case, row), _index(case, column)


def _wrong_on_it(case: Case, row: int, column: int) -> tuple[Tensor, Tensor]:
    """The same. Raises ValueError where the diagonal is right: then it must not be called wrong."""
    rows, columns = _square(case, row, column)
    if not (_wrong(case) & (rows == columns)).any():
        raise ValueError("the diagonal is right")
    return rows, columns


def _masked(case: Case) -> Iterator[Named]:
    for name, mask in _masks(case):
        for words, change in ROWS:
            yield from _stretched(words.format(name), lambda case, mask=mask, change=change: change(mask(case)))


def _zeros(case: Case) -> Iterator[Named]:
    for i, name, arg in case.named():
        if isinstance(arg, Tensor) and arg.is_floating_point() and arg.dim():
            for words, change in NUMBERS:
                yield from _stretched(words.format(name), lambda case, i=i, change=change: change(case.args[i]))


def _stretched(words: str, where: Where) -> Iterator[Named]:
    """A mask over a result: as it is, or with an axis put in. Raises RuntimeError where it doesn't fit."""
    for way in range(4):
        yield words, lambda case, way=way: _ways(where(case))[way].expand(case.tensors[1].shape)


def _ways(mask: Tensor) -> tuple[Tensor, ...]:
    return mask, mask[:, None], mask[..., None], mask.squeeze(-1)


def _masks(case: Case) -> Iterator[Named]:
    """Bool arguments, and what is no padding or no end symbol in arguments of whole numbers."""
    given = {name: i for i, name, _ in case.named()}
    for i, name, arg in case.named():
        if isinstance(arg, Tensor) and arg.dtype == torch.bool and arg.dim():
            yield name, lambda case, i=i: case.args[i]
        elif isinstance(arg, Tensor) and not arg.is_floating_point() and arg.dim() > 1:
            for symbol in sorted({"pad", "eos"} & set(given)):
                yield f"{name} != {symbol}", lambda case, i=i, j=given[symbol]: case.args[i] != case.args[j]


def _by_length(case: Case) -> Iterator[Named]:
    """Where a sentence ends, by an argument `lengths (B,)`."""
    for i in [i for i, name, _ in case.named() if name == "lengths"]:
        for words, where in LENGTHS:
            at = lambda case, i=i, where=where: where(_index(case, 1), _column(case, i))  # noqa: E731
            yield words, at


def _column(case: Case, index: int) -> Tensor:
    """Each row's length, along the first axis of the result."""
    return case.args[index].view(-1, *[1] * (case.tensors[1].dim() - 1))
