"""On which inputs an answer is wrong, where it is right on others; and what it does when an argument is left out."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from .. import values
from ..exercise import Exercise
from ..sandbox import Run

MOST = 0.85  # what nearly all inputs have in common says little
Feature = tuple[str, Callable[[Any], Any]]  # in words, and whether an argument has it

PLAIN = (
    ("is None", lambda arg: arg is None), ("is given (not None)", lambda arg: arg is not None),
    ("is empty", lambda arg: len(arg) == 0), ("is odd", lambda arg: isinstance(arg, int) and arg % 2 == 1),
    ("is not a whole number", lambda arg: isinstance(arg, float) and arg != int(arg)),
    ("is below 0", lambda arg: isinstance(arg, (int, float)) and arg < 0),
    ("is below 0 or not a whole number", lambda arg: isinstance(arg, (int, float)) and (arg < 0 or arg != int(arg))),
    ("is above 1", lambda arg: isinstance(arg, (int, float)) and arg > 1),
    ("holds a 0", lambda arg: isinstance(arg, list) and 0 in arg),
    ("has more than one entry", lambda arg: isinstance(arg, list) and len(arg) > 1),
)  # fmt: skip
MASKS = (
    ("has a row without any True", lambda x: (~x.any(-1)).any()), ("has a False anywhere", lambda x: (~x).any()),
    ("is True everywhere", lambda x: x.all()), ("has a row that is True everywhere", lambda x: x.all(-1).any()),
)  # fmt: skip
NUMBERS = (
    ("holds zeros", lambda x: (x == 0).any()), ("holds a row of zeros", lambda x: (x == 0).all(-1).any()),
    ("holds negative numbers", lambda x: (x < 0).any()), ("holds infinite numbers", lambda x: x.isinf().any()),
    ("holds numbers above 50", lambda x: (x.abs() > 50).any()),
    ("holds only numbers below 0.01 in size", lambda x: (x.abs() < 0.01).all()),
    ("holds a number twice in a row", lambda x: (x.sort(-1).values.diff() == 0).any()),
)  # fmt: skip


def only_when(exercise: Exercise, inputs: list[tuple], failing: set[int]) -> str | None:
    """What the inputs on which an answer fails have in common, and no other input has; None when nothing is found."""
    if not 1 < len(failing) <= MOST * len(inputs):
        return None
    for i, name in enumerate(exercise.parameters):
        for words, has in _features([args[i] for args in inputs if i < len(args)]):
            if {j for j, args in enumerate(inputs) if _has(has, args, i)} == failing:
                return f"`{name}` {words}"
    return None


def _has(feature: Callable[[Any], Any], args: tuple, index: int) -> bool:
    try:
        return bool(feature(args[index]))
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        return False  # an argument of another type or shape has no such feature


def _features(found: list[Any]) -> Iterator[Feature]:
    yield from PLAIN[:2]
    for value in dict.fromkeys(item for item in found if isinstance(item, (str, bool, int, float))):
        yield f"is {value!r}", lambda arg, value=value: type(arg) is type(value) and arg == value
        if isinstance(value, str) or value in (0, 1):  # what all other numbers share, they share by chance
            yield f"is not {value!r}", lambda arg, value=value: type(arg) is type(value) and arg != value
    yield from PLAIN[2:]
    ranks = sorted({item.dim() for item in found if isinstance(item, Tensor)})
    for rank in ranks:
        yield f"has {rank} axes", lambda x, rank=rank: x.dim() == rank
    for axis in range(max(ranks, default=0)):
        yield f"has size 1 along axis {axis}", lambda x, axis=axis: x.shape[axis] == 1
        yield f"is longer than 1 along axis {axis}", lambda x, axis=axis: x.shape[axis] > 1
    for table, masks in ((MASKS, True), (NUMBERS, False)):
        for words, has in table:
            yield words, lambda x, has=has, masks=masks: (x.dtype == torch.bool) == masks and has(x)


def another_default(exercise: Exercise, answer: Callable, inputs: list[tuple]) -> tuple[str, Run, Run] | None:
    """Whether a right answer does something else when optional arguments are left out: which one, and the two runs."""
    parameters = inspect.signature(exercise.reference).parameters
    for name in reversed([name for name in parameters if parameters[name].default is not inspect.Parameter.empty]):
        for args in inputs:
            shorter = args[: exercise.parameters.index(name)]
            if not _takes(answer, shorter):
                return None
            wanted, got = exercise.run(exercise.reference, shorter), exercise.run(answer, shorter)
            if wanted.failure is None and (
                got.failure is not None or not values.same(got.value, wanted.value, exercise.tolerance)
            ):
                return name, got, wanted
    return None


def _takes(answer: Callable, args: tuple) -> bool:
    try:
        inspect.signature(answer).bind(*args)
    except (TypeError, ValueError):
        return False
    return True
