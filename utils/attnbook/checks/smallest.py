"""Look for a smaller input that shows the same, once an answer is known to be wrong."""

from __future__ import annotations

import time
from collections.abc import Callable

from . import values
from .exercise import Exercise
from .running import Run
from .wording import structure

SECONDS = 1.0  # an answer that takes longer is shown with the input that it failed on


def same_run(first: Run, second: Run, tolerance: float) -> bool:
    """Whether two runs ended alike: with the same values, or both with an error."""
    if first.failure is not None or second.failure is not None:
        return None not in (first.failure, second.failure)
    return values.same(first.value, second.value, tolerance)


def smallest(exercise: Exercise, answer: Callable, variant: int, found: tuple[Run, Run],
             shows: Callable[[Run, Run], bool]) -> tuple[Run, Run]:
    """`found`, a wrong run and the right one beside it, or such a pair for a smaller input that `shows` the
    same."""
    if found[0].failure is not None and found[0].failure.timed_out:
        return found
    until = time.monotonic() + SECONDS
    for args in exercise.compact_inputs(variant, values.size(found[0].args)):
        if time.monotonic() > until:
            break
        pair = exercise.run(answer, args), exercise.run(exercise.reference, args)
        if _wrong(exercise, *pair) and _end(*pair) == _end(*found) and shows(*pair):
            return pair
    return found


def _wrong(exercise: Exercise, got: Run, expected: Run) -> bool:
    return expected.failure is None and not same_run(got, expected, exercise.tolerance)


def _end(got: Run, expected: Run) -> tuple[type | None, bool]:
    """The error's type, and whether the shapes are right: equal sizes would hide that they are not."""
    if got.failure is not None:
        return type(got.failure.error), False
    return None, structure(got.value, expected.value) is None
