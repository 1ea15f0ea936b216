"""The right numbers with their axes exchanged, folded, cut or joined otherwise: what `reshape` and `transpose` do."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import torch
from torch import Tensor

from .changes import RECUT, recut
from .claims import Case, Claim, becomes, close, equals


def folded(case: Case) -> Iterator[Claim]:
    """The right numbers in the right order, in another shape."""
    got, expected = case.tensors
    if got.shape != expected.shape:
        kind, what = _other_shape(got, expected)
        yield Claim(kind, f"Your result holds the right numbers in the right order, but it has {what}", _refolded)


def _other_shape(got: Tensor, expected: Tensor) -> tuple[str, str]:
    """What is other about a shape: in short, and in words."""
    many = got.dim() > expected.dim()
    if got.dim() == expected.dim():
        advice = "Is the order of the sizes right where you give the shape (`reshape`, `view`)?"
        return "axes of other lengths", f"axes of other lengths. {advice}"
    if [size for size in got.shape if size != 1] != [size for size in expected.shape if size != 1]:
        return "axes folded", f"axes {'apart that belong together' if many else 'in one that should stay apart'}."
    what = "many: take it away with indexing or `squeeze(dim)`."
    if not many:
        what = (
            "few. A `squeeze()` without an axis takes away each axis of size 1, a batch of one sentence too; "
            "`keepdim=True` keeps an axis, and `None` in an index puts one in."
        )
    return "an axis of size 1", f"an axis of size 1 too {what}"


def _refolded(case: Case) -> bool:
    got, expected = case.tensors
    return got.shape != expected.shape and got.numel() == expected.numel() and case.is_(expected.reshape(got.shape))


def permuted(case: Case) -> Iterator[Claim]:
    """The axes in another order."""
    rank = case.tensors[1].dim()
    for order in permutations(range(rank)) if 2 <= rank <= 4 else ():
        moved = [axis for axis in range(rank) if order[axis] != axis]
        what = f"axes {moved[0]} and {moved[1]} are exchanged" if len(moved) == 2 else f"its axes stand as {order}"
        if moved:
            text = f"Your result holds the right numbers, but {what}. Exchange them back (`transpose`, `permute`)."
            exchanged = becomes("axes permuted", text, lambda right, order=order: right.permute(order))
            yield replace(exchanged, fits=lambda case, order=order: _symmetric(case.tensors[1], order))
            text = (
                f"Your result holds the right numbers, read off while {what}, and then cut into the shape that "
                "it has. `reshape` and `view` don't exchange axes: `transpose` or `permute` does."
            )
            poured = Claim("reshaped, not transposed", text, lambda case, order=order: _poured(case, order))
            yield replace(poured, fits=lambda case, order=order: _symmetric(case.tensors[1], order))


def _symmetric(right: Tensor, order: tuple[int, ...]) -> bool:
    """Whether nobody could see that the axes were exchanged."""
    return close(right.permute(order).reshape(right.shape), right)


def _poured(case: Case, order: tuple[int, ...]) -> bool:
    got, expected = case.tensors
    return got.numel() == expected.numel() and case.is_(expected.permute(order).reshape(got.shape))


def cut_otherwise(case: Case) -> Iterator[Claim]:
    """Two neighbouring axes cut with each other's sizes."""
    for axis in range(case.tensors[1].dim() - 1):
        text = (
            f"Your result holds the right numbers, {RECUT.format(axis, axis + 1)}. The sizes that you give `reshape` "
            "or `view` must stand in the order of the axes."
        )
        claim = becomes("axes cut in the wrong order", text, lambda right, a=axis: recut(right, a))
        yield replace(claim, fits=lambda case, a=axis: close(recut(case.tensors[1], a), case.tensors[1]))


def poured(case: Case) -> Iterator[Claim]:
    """The numbers of one argument, cut into another shape."""
    for i, name, arg in case.named():
        rank = arg.dim() if isinstance(arg, Tensor) and arg.is_floating_point() else 0
        for order in permutations(range(rank)) if 2 <= rank <= 4 else ():
            read = "in their own order" if order == (*range(rank),) else f"read with its axes in the order {order}"
            text = (
                f"Your result holds the numbers of `{name}`, {read}, and cut into the shape of your result. "
                "`reshape`, `view` and `flatten` join axes or cut them, but they never exchange them."
            )
            wanted = lambda case, i=i, o=order: case.args[i].permute(o).reshape(case.got.shape)  # noqa: E731
            yield equals("an argument reshaped", text, wanted)


HALVES = (
    ("exchanged", lambda two, a: torch.cat([two[1], two[0]], a)),
    ("added", lambda two, a: two[0] + two[1]),
    ("averaged", lambda two, a: (two[0] + two[1]) / 2),
    ("mixed, one number of each by turns,", lambda two, a: torch.stack(two, a + 1).flatten(a, a + 1)),
)


def halves(case: Case) -> Iterator[Claim]:
    """What is laid side by side along an axis: added, in the other order, by turns, along another axis."""
    rank = case.tensors[1].dim()
    for axis in reversed(range(rank)):
        for words, change in HALVES:
            text = f"The two halves of the right result along axis {axis} are {words} in yours."
            yield becomes(
                "halves joined otherwise", text, lambda right, a=axis, change=change: change(_cut(right, a), a)
            )
        for other in (other for other in range(rank) if other != axis):
            text = f"The two halves of your result stand side by side along axis {other}; wanted is axis {axis}."
            yield becomes(
                "halves joined otherwise", text, lambda right, a=axis, o=other: torch.cat(list(_cut(right, a)), o)
            )


def _cut(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Two halves. Raises ValueError where there are none."""
    first, second = tensor.tensor_split(2, axis)
    if first.shape != second.shape:
        raise ValueError("no halves")
    return first, second
