"""How long a result is, and how many axes it has: whose length it took."""

from collections.abc import Callable, Iterator
from itertools import product

from torch import Tensor

from .claims import Case, Claim, sizes


def lengths(case: Case) -> Iterator[Claim]:
    """An axis of another length, and which argument has that length."""
    got, expected = case.tensors
    for axis in range(expected.dim()) if got.dim() == expected.dim() else ():
        one = ("one entry", lambda case: 1)
        for (words, size), (right, wanted) in product([*sizes(case), one], [*sizes(case), *_products(case)]):
            if size(case) != wanted(case) and _lengths(case, axis, size, wanted):
                yield Claim(
                    "an axis of another length",
                    f"Along axis {axis} your result is as long as {words}. It should be as long as {right}.",
                    lambda case, a=axis, s=size, w=wanted: _lengths(case, a, s, w),
                )
    ranks = [got.dim(), expected.dim()]
    if ranks[0] != ranks[1]:
        more = "fewer" if ranks[0] < ranks[1] else "more"
        axes = "axis" if ranks[0] == 1 else "axes"
        text = f"Your result has {ranks[0]} {axes}, {more} than the {ranks[1]} that are wanted."
        yield Claim("another number of axes", text, lambda case: [tensor.dim() for tensor in case.tensors] == ranks)


def counted(case: Case) -> Iterator[Claim]:
    """A list with another number of entries."""
    if not isinstance(case.got, list) or not isinstance(case.expected, list):
        return
    for (words, size), (right, wanted) in product(sizes(case), sizes(case)):
        yield Claim(
            "another number of entries",
            f"The length of your list is {words}. It should be {right}.",
            lambda case, s=size, w=wanted: (
                None if s(case) == w(case) else [len(case.got), len(case.expected)] == [s(case), w(case)]
            ),
        )


def _products(case: Case) -> Iterator[tuple[str, Callable[[Case], float]]]:
    """Two axes of one argument as one, as `flatten` joins them."""
    for i, name, arg in case.named():
        for axis in range(arg.dim() - 1) if isinstance(arg, Tensor) else ():
            words = f"axis {axis} times axis {axis + 1} of `{name}`"
            yield words, lambda other, i=i, axis=axis: other.args[i].shape[axis] * other.args[i].shape[axis + 1]


def _lengths(case: Case, axis: int, size: Callable[[Case], float], wanted: Callable[[Case], float]) -> bool:
    return [tensor.shape[axis] for tensor in case.tensors] == [size(case), wanted(case)]
