"""What an answer's function does when it is called again, and what the right one would give for other arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from .. import values
from .claims import Case, Claim, equals, same


def random(case: Case) -> Iterator[Claim]:
    """Two calls on one input differ."""
    yield Claim(
        "random",
        "Your function gave another result when it was called a second time with the same input. Use "
        "only the arguments: nothing random, and nothing kept from an earlier call.",
        _restless,
    )


def _restless(case: Case) -> bool:
    def otherwise_seeded(*args):
        torch.default_generator.manual_seed(1)
        return case.answer(*args)

    again, seeded = case.run(case.answer, case.args), case.run(otherwise_seeded, case.args)
    return not (values.same(again, case.got) and values.same(seeded, case.got))


def swapped_arguments(case: Case) -> Iterator[Claim]:
    """The right result for two arguments exchanged."""
    for (i, first, one), (j, second, other) in combinations(case.named(), 2):
        if type(one) is type(other) and not isinstance(one, str):
            text = f"Your result is what comes out when `{first}` and `{second}` are exchanged."
            yield _as_if(
                "arguments exchanged",
                text,
                lambda case, i=i, j=j: _put(_put(case.args, i, case.args[j]), j, case.args[i]),
            )


def _put(args: tuple, index: int, value: Any) -> tuple:
    return (*args[:index], value, *args[index + 1 :])


def _as_if(kind: str, text: str, other_args: Callable[[Case], tuple]) -> Claim:
    return equals(kind, text, lambda case: case.run(case.exercise.reference, other_args(case)))


NUMBERS = (
    ("its double", lambda x: 2 * x), ("its half", lambda x: x / 2), ("its square", lambda x: x * x),
    ("its square root", math.sqrt), ("one over it", lambda x: 1 / x), ("minus it", lambda x: -x),
    ("1 minus it", lambda x: 1 - x), ("0", lambda x: 0 * x), ("1", lambda x: 0 * x + 1),
    ("one more", lambda x: x + 1), ("one less", lambda x: x - 1),
)  # fmt: skip
TENSORS = (
    *NUMBERS[:2], *NUMBERS[5:10], ("its transpose (the last two axes exchanged)", lambda x: x.mT),
    ("its logarithm", torch.log), ("its exponential", torch.exp), ("its absolute value", torch.abs),
    ("its softmax over the last axis", lambda x: x.softmax(-1)),
    ("itself with the last axis reversed", lambda x: x.flip(-1)), ("itself with axis 1 reversed", lambda x: x.flip(1)),
    ("its first row, repeated for all", lambda x: x[:1].expand_as(x).contiguous()),
    ("itself moved on by one along axis 1", lambda x: x.roll(1, 1)),
    ("itself moved back by one along axis 1", lambda x: x.roll(-1, 1)),
    ("itself with each vector divided by its length", lambda x: x / x.norm(dim=-1, keepdim=True)),
    ("itself divided by √n, where n is the size of its last axis", lambda x: x / x.shape[-1] ** 0.5),
    ("itself times √n, where n is the size of its last axis", lambda x: x * x.shape[-1] ** 0.5),
    ("itself divided by n, where n is the size of its last axis", lambda x: x / x.shape[-1]),
    ("itself with rows that sum to 1", lambda x: x / x.sum(-1, keepdim=True)),
    ("itself with 0 in the last feature", lambda x: torch.cat([x[..., :-1], 0 * x[..., -1:]], -1)),
    ("its mean over axis 1, everywhere", lambda x: x.mean(1, keepdim=True).expand_as(x).contiguous()),
    ("itself rounded", torch.round), ("its square", torch.square), ("its tanh", torch.tanh),
)  # fmt: skip
WHOLE = (
    ("itself with the last axis reversed", lambda x: x.flip(-1)),
    ("itself moved on by one along axis 1", lambda x: x.roll(1, 1)),
    ("itself moved back by one along axis 1", lambda x: x.roll(-1, 1)),
    ("one less", lambda x: x - 1), ("one more", lambda x: x + 1),
    ("the inverse permutation", lambda x: x.argsort(-1)), ("itself, sorted", lambda x: x.sort(-1).values),
    ("its first row, repeated for all", lambda x: x[:1].expand_as(x).contiguous()),
    ("itself with 1 for each 0", lambda x: x.clamp(min=1)),
    ("its largest number, everywhere", lambda x: x.amax().expand_as(x)),
)  # fmt: skip
MASKS = (
    ("a mask that is True everywhere", torch.ones_like), ("its opposite (True and False exchanged)", torch.logical_not),
    ("its transpose (the last two axes exchanged)", lambda x: x.mT.contiguous()),
    ("a mask in which rows without any True are open", lambda x: x | ~x.any(-1, keepdim=True)),
    ("its first row, repeated for all", lambda x: x[:1].expand_as(x).contiguous()),
    ("itself moved on by one along the last axis", lambda x: x.roll(1, -1)),
    ("itself with the last axis reversed", lambda x: x.flip(-1)),
    ("itself, with the positions above the diagonal closed", torch.tril),
    ("itself, with the positions below the diagonal closed", torch.triu),
)  # fmt: skip
FUNCTIONS = (
    ("a function that gives back its first argument", lambda f: lambda first, *more: first),
    ("a function that gives back zeros", lambda f: lambda first, *more: torch.zeros_like(first)),
    ("one that never gives back a new state", lambda f: lambda *args: (f(*args)[0], args[-1])),
    ("one with the sign of its result exchanged", lambda f: lambda *args: _on_first(f(*args), torch.neg)),
    ("one with twice its result", lambda f: lambda *args: _on_first(f(*args), lambda x: 2 * x)),
    ("one with half its result", lambda f: lambda *args: _on_first(f(*args), lambda x: x / 2)),
    ("one with √n times its result, n being the size of its last axis",
     lambda f: lambda *args: _on_first(f(*args), lambda x: x * args[0].shape[-1] ** 0.5)),
    ("one with its result divided by √n, n being the size of its last axis",
     lambda f: lambda *args: _on_first(f(*args), lambda x: x / args[0].shape[-1] ** 0.5)),
    ("one that adds its first argument to its result", lambda f: lambda *args: f(*args) + args[0]),
    ("one that adds its last argument to its result", lambda f: lambda *args: f(*args) + args[-1]),
    ("one that takes its first argument off its result", lambda f: lambda *args: f(*args) - args[0]),
    ("one that is applied twice", lambda f: lambda first, *more: f(f(first, *more), *more)),
    ("one that takes its first two arguments in the other order", lambda f: lambda one, two, *more: f(two, one, *more)),
)  # fmt: skip


def _on_first(result: Any, change: Callable[[Tensor], Tensor]) -> Any:
    return (change(result[0]), *result[1:]) if isinstance(result, tuple) else change(result)


def as_if(case: Case) -> Iterator[Claim]:
    """The right result for one argument changed: left out, inverted, doubled, one more …"""
    for i, name, arg in case.named():
        for words, change in _changes(arg):
            text = f"Your result is what comes out when `{name}` is replaced by {words}."
            yield _as_if(
                f"as if {name} were changed",
                text,
                lambda case, i=i, change=change: _put(case.args, i, change(values.clone(case.args[i]))),
            )


def _changes(arg: Any) -> tuple:
    if isinstance(arg, Tensor):
        return MASKS if arg.dtype == torch.bool else TENSORS if arg.is_floating_point() else WHOLE
    if isinstance(arg, int) and not isinstance(arg, bool):
        return (*NUMBERS[-2:], ("1", lambda x: 1), ("0", lambda x: 0), *NUMBERS[:1])
    return NUMBERS if isinstance(arg, float) else FUNCTIONS if callable(arg) else ()


def mixed(case: Case) -> Iterator[Claim]:
    """What happens in one row of an axis changes what comes out for another, where it should not."""
    yield Claim(
        "sentences mixed",
        "Your result for the first sentence of the batch changes when the other "
        "sentences are replaced by copies of it. Each sentence must be computed by itself. Look for a sum, a "
        "mean, a softmax or a product over axis 0.",
        lambda case: _leaks(case, 0, lambda size: [0] * size, lambda x: x[:1]),
    )
    yield Claim(
        "positions mixed",
        "Your result at the first position of axis 1 changes when the later positions are "
        "replaced by copies of it. Each position must be computed by itself here.",
        lambda case: _leaks(case, 1, lambda size: [0] * size, lambda x: x[:, :1]),
    )
    yield Claim(
        "looks ahead",
        "Your result at the first positions changes when the last position of the input is "
        "replaced by the first. A position must not depend on later ones here.",
        lambda case: _leaks(case, 1, lambda size: [*range(size - 1), 0], lambda x: x[:, :-1]),
    )


def _leaks(case: Case, axis: int, order: Callable[[int], list[int]], kept: Callable[[Tensor], Tensor]) -> bool | None:
    """Whether the answer's kept part changes when the others are replaced, and the right one's does not."""
    right = _first(case.expected)
    size = right.shape[axis] if right.dim() > axis else 0
    which = [i for i, arg in enumerate(case.args) if _along(arg, axis, size)]
    if size < 2 or not which or not any(isinstance(arg, Tensor) and arg.dim() > 1 for arg in case.args):
        return None
    args = tuple(_taken(arg, axis, order(size)) if i in which else arg for i, arg in enumerate(case.args))
    wanted, ours = _first(case.run(case.exercise.reference, args)), _first(case.run(case.answer, args))
    if not same(kept(wanted), kept(right), 1e-9) or values.same(wanted, right, 1e-9):
        return None
    if axis == 0 and not _one_by_one(case, which, right):
        return None
    return not values.same(kept(ours), kept(_first(case.got)), 1e-7)


def _one_by_one(case: Case, which: list[int], right: Tensor) -> bool:
    """Whether axis 0 is a batch: in another order the right function gives the same, in that order."""
    order = [*reversed(range(len(right)))]
    args = tuple(_taken(arg, 0, order) if i in which else arg for i, arg in enumerate(case.args))
    return same(_first(case.run(case.exercise.reference, args)), right.flip(0), 1e-9)


def _first(value: Any) -> Tensor:
    """The first tensor of a result. Raises StopIteration where there is none."""
    return next(values.tensors(value))


def _along(arg: Any, axis: int, size: int) -> bool:
    found = values.carried(arg)
    return bool(found) and all(tensor.dim() > axis and tensor.shape[axis] == size for tensor in found)


def _taken(arg: Any, axis: int, order: list[int]) -> Any:
    return values.transform(arg, lambda tensor: tensor.index_select(axis, torch.tensor(order)))


def ignored(case: Case) -> Iterator[Claim]:
    """An argument that has no effect on the answer's result, but on the right one."""
    for i, name, arg in case.named():
        if _other(arg) is not None:
            yield Claim(
                f"{name} has no effect",
                f"Your result stays the same when `{name}` is changed; the right one changes with it.",
                lambda case, i=i: _no_effect(case, i),
            )


def _other(arg: Any) -> Any:
    """Another argument of the same shape, that a function should take as well."""
    if isinstance(arg, Tensor) and arg.dtype == torch.bool and arg.dim():
        return arg.flip(-1)
    if isinstance(arg, Tensor) and arg.numel() > 1:
        return arg.flatten().roll(1).view(arg.shape)
    if isinstance(arg, (int, float)) and not isinstance(arg, bool):
        return arg + 1
    return None


def _no_effect(case: Case, index: int) -> bool | None:
    other = _other(case.args[index])
    if other is None:
        return None
    args = _put(case.args, index, other)
    if values.same(case.run(case.exercise.reference, args), case.expected, 1e-9):
        return None
    return values.same(case.run(case.answer, args), case.got, 1e-12)
