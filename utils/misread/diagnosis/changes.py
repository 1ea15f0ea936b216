"""What may have been done to a tensor, in words: to the right result by mistake, or to an argument beforehand."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from operator import mul
from typing import Any

import torch
from torch import Tensor

Change = tuple[str, Callable[[Any], Any]]  # in words, and what it does

FUNCTIONS = (
    ("logarithm", torch.log), ("exponential", torch.exp), ("square", torch.square), ("square root", torch.sqrt),
    ("absolute value", torch.abs), ("sigmoid", torch.sigmoid), ("tanh", torch.tanh),
    ("positive part (relu)", torch.relu), ("reciprocal (one over it)", torch.reciprocal),
    ("complement (1 minus it)", lambda x: 1 - x), ("logarithm to base 2", torch.log2), ("arc cosine", torch.acos),
)  # fmt: skip
ALONG = (
    ("rolled", "moved on by one along axis {}, the last entry at the front", lambda x, a: x.roll(1, a)),
    ("rolled", "moved back by one along axis {}, the first entry at the end", lambda x, a: x.roll(-1, a)),
    ("flipped", "in reverse order along axis {}", lambda x, a: x.flip(a)),
    ("sorted", "sorted in ascending order along axis {}", lambda x, a: x.sort(a).values),
    ("sorted", "sorted in descending order along axis {}", lambda x, a: x.sort(a, descending=True).values),
    ("summed up", "summed up along axis {} (a cumulative sum)", lambda x, a: _finite(x).cumsum(a)),
    ("averaged", "averaged along axis {}", lambda x, a: _finite(x).mean(a, keepdim=True).expand_as(x).contiguous()),
)
KEPT = (
    ("moved on by one along axis {}, the first entry kept", lambda x, a: _moved(x, a, -1)),
    ("moved back by one along axis {}, the last entry kept", lambda x, a: _moved(x, a, 1)),
)
RECUT = "cut as if axes {0} and {1} had each other's sizes, and then with these two exchanged"
SHIFTED = (("one more", lambda x: x + 1), ("one less", lambda x: x - 1), ("0", lambda x: 0 * x),
           ("1", lambda x: 0 * x + 1), ("its double", lambda x: 2 * x))  # fmt: skip
SCALED = (*SHIFTED, ("its half", lambda x: x / 2), ("minus it", lambda x: -x))
ROWS = ("its first row, repeated for all", lambda x: x[:1].expand_as(x).contiguous())
TURNED = ("its transpose (the last two axes exchanged)", lambda x: x.mT.contiguous())
REAL = (
    *SCALED, ROWS, TURNED, ("itself rounded", torch.round),
    ("its softmax over the last axis", lambda x: x.softmax(-1)),
    ("itself with each vector divided by its length", lambda x: x / x.norm(dim=-1, keepdim=True)),
    ("itself with rows that sum to 1", lambda x: x / x.sum(-1, keepdim=True)),
    ("itself cut off at 0 and 1", lambda x: x.clamp(0, 1)),
    ("itself with 0 in the last feature", lambda x: torch.cat([x[..., :-1], 0 * x[..., -1:]], -1)),
)  # fmt: skip
WHOLE = (
    *SHIFTED[:2], ROWS, ("the inverse permutation", lambda x: x.argsort(-1)),
    ("itself, sorted", lambda x: x.sort(-1).values),
    ("itself with 1 for each 0", lambda x: x.clamp(min=1)),
    ("its largest number, everywhere", lambda x: x.amax().expand_as(x)),
)  # fmt: skip
MASKS = (
    ("a mask that is True everywhere", torch.ones_like), ("its opposite (True and False exchanged)", torch.logical_not),
    TURNED, ROWS, ("a mask in which rows without any True are open", lambda x: x | ~x.any(-1, keepdim=True)),
    ("itself, with the positions above the diagonal closed", torch.tril),
    ("itself, with the positions below the diagonal closed", torch.triu),
)  # fmt: skip

JOINED = (
    ("`{}`", lambda x, y: y.clone()), ("the sum of both, itself and `{}`", lambda x, y: x + y),
    ("itself minus `{}`", lambda x, y: x - y), ("the product of both, itself and `{}`", lambda x, y: x * y),
)  # fmt: skip
SCALES = (
    ("divided by √n", lambda x, n: x / n**0.5), ("times √n", lambda x, n: x * n**0.5),
    ("divided by n", lambda x, n: x / n), ("times n", lambda x, n: x * n),
)  # fmt: skip
LISTS = (
    ("itself in reverse order", lambda x: x[::-1]), ("its first entry alone", lambda x: x[:1]),
    ("itself without its first entry", lambda x: x[1:]), ("itself without its last entry", lambda x: x[:-1]),
    ("its last entry alone", lambda x: x[-1:]), ("its largest entry alone", lambda x: [max(x)] if x else []),
    ("its different entries, each of them once", lambda x: [*dict.fromkeys(x)]),
    ("its running products (the first, the first times the second …)", lambda x: [*accumulate(x, mul)]),
    ("its running sums", lambda x: [*accumulate(x)]),
)  # fmt: skip


def recut(x: Tensor, axis: int) -> Tensor:
    """Two neighbouring axes cut anew, as `reshape` does with their sizes in the wrong order, and exchanged."""
    sizes = x.shape[axis + 1], x.shape[axis]
    return x.flatten(axis, axis + 1).unflatten(axis, sizes).transpose(axis, axis + 1).contiguous()


def _moved(x: Tensor, axis: int, by: int) -> Tensor:
    last = x.shape[axis] - 1
    return x.index_select(axis, (torch.arange(last + 1) + by).clamp(0, last))


def _finite(x: Tensor) -> Tensor:
    """Of infinite entries each sum and each mean is infinite, whatever it is a sum of."""
    if not x.isfinite().all():
        raise ValueError("infinity swallows the rest")
    return x


def _first(function: Callable, change: Callable) -> Callable:
    """`function`, with `change(first result, *arguments)` in place of its first result."""

    def changed(*args):
        result = function(*args)
        return (change(result[0], *args), *result[1:]) if isinstance(result, tuple) else change(result, *args)

    return changed


CALLED = (
    ("a function that gives back its first argument", lambda f: lambda first, *more: first),
    ("a function that gives back zeros", lambda f: lambda first, *more: torch.zeros_like(first)),
    ("one that never gives back a new state", lambda f: lambda *args: (f(*args)[0], args[-1])),
    ("one with the sign of its result exchanged", lambda f: _first(f, lambda x, *args: -x)),
    ("one with twice its result", lambda f: _first(f, lambda x, *args: 2 * x)),
    ("one with half its result", lambda f: _first(f, lambda x, *args: x / 2)),
    ("one with √n times its result, n being the size of its last axis",
     lambda f: _first(f, lambda x, *args: x * args[0].shape[-1] ** 0.5)),
    ("one with its result divided by √n, n being the size of its last axis",
     lambda f: _first(f, lambda x, *args: x / args[0].shape[-1] ** 0.5)),
    ("one that adds its first argument to its result", lambda f: _first(f, lambda x, *args: x + args[0])),
    ("one that adds its last argument to its result", lambda f: _first(f, lambda x, *args: x + args[-1])),
    ("one that subtracts its first argument from its result", lambda f: _first(f, lambda x, *args: x - args[0])),
    ("one that is applied twice", lambda f: lambda first, *more: f(f(first, *more), *more)),
    ("one that takes its first two arguments in the other order", lambda f: lambda one, two, *more: f(two, one, *more)),
)  # fmt: skip


def of_argument(arg: Any) -> Iterator[Change]:
    """What may stand for an argument: its double, its transpose, a mask that is open everywhere …"""
    if isinstance(arg, Tensor):
        yield from MASKS if arg.dtype == torch.bool else REAL if arg.is_floating_point() else WHOLE
        for axis in range(arg.dim()):
            for words, along in (*(way[1:] for way in (*ALONG[:3], ALONG[-1])), *KEPT):
                yield f"itself, {words.format(axis)}", lambda x, a=axis, along=along: along(x, a)
        for axis in range(arg.dim() - 1):
            yield f"itself, {RECUT.format(axis, axis + 1)}", lambda x, a=axis: recut(x, a)
    elif isinstance(arg, list):
        yield from LISTS
    elif isinstance(arg, float):
        yield from SCALED
    elif isinstance(arg, int) and not isinstance(arg, bool):
        yield from SHIFTED
    if isinstance(arg, float) or (isinstance(arg, Tensor) and arg.is_floating_point()):
        for words, change in FUNCTIONS:
            yield f"its {words}", lambda x, change=change: change(x) if isinstance(x, Tensor) else _number(change, x)
    if callable(arg):
        yield from CALLED


def _number(change: Callable[[Tensor], Tensor], x: float) -> float:
    return change(torch.tensor(x, dtype=torch.float64)).item()
