"""Look for an input that shows the same and is easier to read, once an answer is known to be wrong."""

import math
import time
from collections.abc import Callable

from . import printing
from .compare import same_run, structure
from .exercise import Exercise
from .sandbox import Run

SECONDS = 1.0  # an answer that takes longer is shown with the input that it failed on

Pair = tuple[Run, Run]  # a wrong run, and the right one beside it


def shrink(
    exercise: Exercise, answer: Callable, variant: int, pairs: list[Pair], shows: Callable[[Run, Run], bool]
) -> Pair:
    """The first of `pairs`, or another, or one for a smaller input, that `shows` the same and is read more
    easily."""
    found, *others = pairs
    if found[0].timed_out:
        return found
    best = _easiest(exercise, found, [pair for pair in others if _end(*pair) == _end(*found)], shows)
    hidden, reading = _trouble(exercise, best)
    until = time.monotonic() + SECONDS
    for args in exercise.compact_inputs(variant, math.inf if hidden else reading):
        if time.monotonic() > until:
            break
        pair = exercise.run(answer, args), exercise.run(exercise.reference, args)
        if _wrong(exercise, *pair) and _end(*pair) == _end(*found) and shows(*pair):
            best = min(best, pair, key=lambda pair: _trouble(exercise, pair))
            if not _trouble(exercise, best)[0]:
                break
    return best


def _easiest(exercise: Exercise, found: Pair, others: list[Pair], shows: Callable[[Run, Run], bool]) -> Pair:
    """The one with the least trouble; what comes after it is not looked at, since `shows` and printing take time."""
    first: Pair | None = None
    for pair in sorted([found, *others], key=lambda pair: pair[1].reading):
        if pair is found or shows(*pair):
            if not _hidden(exercise, pair):
                return pair
            first = first or pair
    return first or found


def _trouble(exercise: Exercise, pair: Pair) -> tuple[bool, int]:
    """How hard a pair is to read: whether it tells nothing or the difference hides in late digits, and how much there
    is."""
    return _hidden(exercise, pair), pair[1].reading


def _hidden(exercise: Exercise, pair: Pair) -> bool:
    got, expected = pair
    if exercise.telling is not None and not exercise.telling(*got.args):
        return True
    return got.failure is None and not printing.visible(expected.result, got.result)


def _wrong(exercise: Exercise, got: Run, expected: Run) -> bool:
    return expected.failure is None and not same_run(got, expected, exercise.tolerance)


def _end(got: Run, expected: Run) -> tuple[type | None, bool]:
    """The error's type, and whether the shapes are right: equal sizes would hide that they are not."""
    if got.failure is not None:
        return type(got.failure.error), False
    return None, structure(got.value, expected.value) is None
