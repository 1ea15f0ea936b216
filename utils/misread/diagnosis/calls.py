"""What an answer's function does when it is called again, and what the right one would give for other arguments."""

from collections.abc import Callable, Iterator
from itertools import combinations, permutations, product
from typing import Any

import torch
from torch import Tensor

from .. import values
from . import changes
from .claims import Case, Claim, caused, same, sizes

LONG = 8  # entries along an axis, each of which takes a run


def random(case: Case) -> Iterator[Claim]:
    """Two calls on one input differ. Where they agree nothing is shown, because a few numbers are alike by chance."""
    if _restless(case):
        yield Claim(
            "random",
            "Your function gave another result when it was called a second time with the same input. Use "
            "only the arguments: nothing random, and nothing kept from an earlier call.",
            lambda case: _restless(case) or None,
        )


def _restless(case: Case) -> bool:
    def seeded(seed: int) -> Callable:
        def otherwise_seeded(*args):
            torch.default_generator.manual_seed(seed)
            return case.answer(*args)

        return otherwise_seeded

    calls = (case.answer, *map(seeded, (1, 2, 3)))
    return any(not values.same(case.run(call, case.args), case.got) for call in calls)


def swapped_arguments(case: Case) -> Iterator[Claim]:
    """The right result for two arguments exchanged."""
    for (i, first, one), (j, second, other) in combinations(case.named(), 2):
        if type(one) is type(other) and not isinstance(one, str):
            yield _as_if(
                "arguments exchanged",
                f"Your result is what comes out when `{first}` and `{second}` are exchanged.",
                lambda case, i=i, j=j: _put(_put(case.args, i, case.args[j]), j, case.args[i]),
            )


def _put(args: tuple, index: int, value: Any) -> tuple:
    return (*args[:index], value, *args[index + 1 :])


def _as_if(kind: str, text: str, other_args: Callable[[Case], tuple]) -> Claim:
    return caused(kind, text, lambda case: _right_for(case, text, other_args))


def _right_for(case: Case, text: str, other_args: Callable[[Case], tuple]) -> Any:
    """What the right function gives for other arguments, which `text` names; run once for each input."""
    run = lambda: case.run(case.exercise.reference, other_args(case))  # noqa: E731
    return case.budget.once((text, id(case.args), case.part), run)


def as_if(case: Case) -> Iterator[Claim]:
    """The right result for one argument changed: left out, inverted, doubled, one more …"""
    for i, name, words, change in _replacements(case):
        text = f"Your result is what comes out when `{name}` is replaced by {words}."
        other = lambda case, i=i, change=change: _put(case.args, i, change(case))  # noqa: E731
        yield _as_if(f"as if {name} were changed", text, other)


def _replacements(case: Case) -> Iterator[tuple[int, str, str, Callable[[Case], Any]]]:
    """Number and name of an argument, and what may stand for it, in words and in each case."""
    for i, name, arg in case.named():
        for words, change in changes.of_argument(arg):
            yield i, name, words, lambda case, i=i, change=change: _changed(case.args[i], change)
    for (i, name, one), (j, second, other) in permutations(case.named(), 2):
        if _real(one) and _real(other) and one.shape == other.shape:
            for words, join in changes.JOINED:
                yield i, name, words.format(second), lambda case, i=i, j=j, f=join: f(case.args[i], case.args[j])
    different = {size(case): (words, size) for words, size in reversed([*sizes(case)]) if size(case) > 1}
    for i, name, arg in case.named():
        for words, size in different.values() if _real(arg) else ():
            for power, scale in changes.SCALES:
                what = f"itself {power}, where n is {words}"
                yield i, name, what, lambda case, i=i, n=size, f=scale: f(case.args[i], n(case))


def _real(arg: Any) -> bool:
    return isinstance(arg, Tensor) and arg.is_floating_point()


def _changed(arg: Any, change: Callable[[Any], Any]) -> Any:
    """A copy, changed; an optional argument that is None stays so."""
    return None if arg is None else change(values.clone(arg))


def mixed(case: Case) -> Iterator[Claim]:
    """What stands in one entry along an axis changes the answer's result for another, and never the right one."""
    text = (
        "Your result for one entry along axis {0} changes when the other entries of the input along this axis "
        "are replaced by copies of it. Here each entry must be computed by itself: look for a sum, a mean, a softmax "
        "or a product over axis {0}, and for a `reshape` or `view` that joins it with another axis."
    )
    for axis in (0, 1):
        yield Claim(f"axis {axis} mixed", text.format(axis), _leaks(case, axis, later_only=False))
    yield Claim(
        "depends on later positions",
        "Your result at the earlier positions of axis 1 changes when the last position of the input is "
        "replaced by the first. Here no position may depend on a later one.",
        _leaks(case, 1, later_only=True),
    )


def _leaks(first: Case, axis: int, later_only: bool) -> Callable[[Case], bool | None]:
    """Whether some entry of the answer changes with the others (`later_only`: the first ones with the last), where
    the reference's never do. Of a long axis only the two ends are looked at.

    An axis belongs to the arguments that have it in the first case, whose sizes differ; elsewhere some agree by chance.
    """
    size = _size(first.expected, axis)
    which = [i for i, arg in enumerate(first.args) if _along(arg, axis, size)]
    vectors = all(tensor.dim() < 2 for tensor in values.tensors((first.expected, first.args)))

    def holds(case: Case) -> bool | None:
        size = _size(case.expected, axis)
        if size < 2 or vectors or not which or not all(_along(case.args[i], axis, size) for i in which):
            return None
        ends = range(size) if size <= LONG else (0, size - 1)
        orders = [[*range(size - 1), 0]] if later_only else [[at] * size for at in ends]
        changed = (_changes(case, which, axis, order) for order in orders)
        return any(changed) and _apart(case, which, axis, later_only)

    return holds


def _changes(case: Case, which: list[int], axis: int, order: list[int]) -> bool:
    """Whether the answer's entries change that stay where they are, when the others are replaced by `order`."""
    ours = case.run(case.answer, _taken(case.args, which, axis, order))
    stay = torch.tensor([i for i, source in enumerate(order) if i == source])
    before, after = (_tensor(value).index_select(axis, stay) for value in (case.got, ours))
    return not values.same(before, after, 1e-7)


def _apart(case: Case, which: list[int], axis: int, later_only: bool) -> bool:
    """Whether each entry of the reference's result stays when the others (or those after it) are exchanged."""
    right, size, changed = _tensor(case.expected), _size(case.expected, axis), False
    for i in range(size):
        order = [j if j == i or (later_only and j < i) else (j + 1) % size for j in range(size)]
        other = _tensor(case.run(case.exercise.reference, _taken(case.args, which, axis, order)))
        kept = slice(0, i + 1) if later_only else slice(i, i + 1)
        if not same(other.movedim(axis, 0)[kept], right.movedim(axis, 0)[kept], 1e-9):
            return False
        changed = changed or not values.same(other, right, 1e-9)
    return changed


def _tensor(value: Any) -> Tensor:
    """The first tensor of a result. Raises StopIteration where there is none."""
    return next(values.tensors(value))


def _size(value: Any, axis: int) -> int:
    right = _tensor(value)
    return right.shape[axis] if right.dim() > axis else 0


def _along(arg: Any, axis: int, size: int) -> bool:
    found = values.carried(arg)
    return bool(found) and all(tensor.dim() > axis and tensor.shape[axis] == size for tensor in found)


def _taken(args: tuple, which: list[int], axis: int, order: list[int]) -> tuple:
    """The arguments, with the entries of those `which` have the axis in another order."""

    def take(tensor: Tensor) -> Tensor:
        return tensor.index_select(axis, torch.tensor(order))

    return tuple(values.transform(arg, take) if i in which else arg for i, arg in enumerate(args))


def closed(case: Case) -> Iterator[Claim]:
    """What stands where a mask is False changes the answer's result, and not the right one."""
    masks = [(i, name) for i, name, arg in case.named() if isinstance(arg, Tensor) and arg.dtype == torch.bool]
    for (i, name, arg), (j, mask), way in product(case.named(), masks, range(3)):
        if isinstance(arg, Tensor) and arg.is_floating_point() and arg.dim():
            yield Claim(
                f"{name} where {mask} is False",
                f"What stands in `{name}` where `{mask}` is False changes your result; it must have no effect.",
                lambda case, i=i, j=j, way=way: _no_effect(case, i, [_behind(case, i, j, way)], reverse=True),
            )


def renamed(case: Case) -> Iterator[Claim]:
    """Other words in place of words, where only the special symbols tell."""
    symbols = [name for _, name, arg in case.named() if type(arg) is int]
    for i, name, arg in case.named():
        if isinstance(arg, Tensor) and arg.dtype == torch.int64 and arg.dim() > 1 and symbols:
            text = (
                f"Your result changes when other words stand in `{name}`, although only "
                f"{' and '.join(f'`{symbol}`' for symbol in symbols)} should be told from the rest."
            )
            other = lambda case, i=i: _other_words(case, i)  # noqa: E731
            yield Claim("which words", text, lambda case, i=i, other=other: _no_effect(case, i, [other(case)], True))


def _other_words(case: Case, index: int) -> Tensor:
    words = case.args[index]
    special = sum((words == symbol for symbol in case.args if type(symbol) is int), torch.zeros_like(words))
    return torch.where(special > 0, words, words.max() + 1)


def _behind(case: Case, index: int, mask: int, way: int) -> Tensor:
    """An argument with other numbers where a mask is False, the mask with an axis put in."""
    arg, kept = case.args[index], case.args[mask]
    kept = (kept, kept[:, None], kept[..., None])[way].expand(arg.shape)
    return torch.where(kept, arg, 1.5 * arg.roll(1, -1) - 0.1)


def ignored(case: Case) -> Iterator[Claim]:
    """An argument that has no effect on the answer's result, but on the right one.

    Where the answer is right it must have none, either: a softmax that is rounded to 0 and 1 on a few inputs makes
    every argument before it look as if it were ignored."""
    for i, name, arg in case.named():
        if _others(arg):
            whole = isinstance(arg, Tensor) and not _real(arg) and arg.dtype != torch.bool
            how = "put in another order" if whole else "changed"
            yield Claim(
                f"{name} has no effect",
                f"Your result stays the same when `{name}` is {how}; the right one changes with it.",
                lambda case, i=i: _no_effect(case, i, _others(case.args[i])),
                fits=lambda case, i=i: _unmoved(case, i, _others(case.args[i])),
            )


def ignored_in_part(case: Case) -> Iterator[Claim]:
    """The first entry of an argument along an axis, or the last, without effect."""
    for i, name, arg in case.named():
        for axis in range(arg.dim()) if isinstance(arg, Tensor) and arg.is_floating_point() else ():
            for at, which in ((0, "first"), (-1, "last")):
                yield Claim(
                    f"the {which} entry has no effect",
                    f"The {which} entry of `{name}` along axis {axis} has no effect on your result; the right one "
                    "changes with it.",
                    lambda case, i=i, a=axis, at=at: _no_effect(case, i, _one_other(case.args[i], a, at)),
                    fits=lambda case, i=i, a=axis, at=at: _unmoved(case, i, _one_other(case.args[i], a, at)),
                )


def _one_other(arg: Tensor, axis: int, at: int) -> list[Tensor]:
    """The argument with other numbers in one entry along an axis, smaller ones and larger ones; their signs stay."""
    found = []
    for factor in (0.1, 0.7, 4.0):
        changed = arg.clone()
        entry = changed.select(axis, at)
        entry.mul_(factor * (1 + torch.rand(entry.shape, generator=torch.Generator().manual_seed(0))))
        found.append(changed)
    return found


def _others(arg: Any) -> list:
    """Other arguments of the same shape, that a function should take as well."""
    if isinstance(arg, Tensor) and arg.dtype == torch.bool and arg.dim():
        return [arg.flip(-1), torch.ones_like(arg)]
    if isinstance(arg, Tensor) and arg.numel() > 1:
        return [arg.flatten().roll(1).view(arg.shape), *([arg / 2] if arg.is_floating_point() else [])]
    # two numbers, because one more may change nothing by chance: 2 // 2 and 3 // 2 are equal
    return [arg + 1, arg + 2] if isinstance(arg, (int, float)) and not isinstance(arg, bool) else []


def _unmoved(case: Case, index: int, others: list) -> bool:
    """Whether the answer's result stays the same."""
    found = [_put(case.args, index, other) for other in others]
    return all(values.same(case.run(case.answer, args), case.got, 1e-12) for args in found)


def _finite(result: Any) -> bool:
    return all(bool(tensor.isfinite().all()) for tensor in values.tensors(result))


def _no_effect(case: Case, index: int, others: list, reverse: bool = False) -> bool | None:
    """Whether the right result changes with an argument, and the answer's does not; in `reverse`, the opposite.

    Another argument with which the right result becomes NaN or infinite shows nothing, because 0 / 0 is no effect.
    """
    found = [_put(case.args, index, other) for other in others]
    results = [case.run(case.exercise.reference, args) for args in found]
    wild = [_finite(case.expected) and not _finite(result) for result in results]
    right = all(lost or values.same(result, case.expected, 1e-9) for lost, result in zip(wild, results, strict=True))
    if right != reverse or (reverse and any(wild)):
        return None
    return _unmoved(case, index, others) != reverse
