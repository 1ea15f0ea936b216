"""Explain a wrong result that is no known mistake: compare it with the right one, over all inputs on which it is wrong.

`WHOLE`, `PARTS`, … list small explanations, the more precise first. Each makes claims (`claims.Claim`); the
first claim that is true of every wrong result is told. A claim counts only where it could be false: it must hold for
several different numbers, and on two inputs at least when there are two.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from .. import values
from ..exercise import Exercise
from ..sandbox import Run
from . import axes, calls, entries, extents, masks, mixtures, numbers, positions, steps
from .claims import Budget, Case, Claim, Look
from .inputs import only_when

WHOLE = (
    entries.arguments, axes.folded, axes.permuted, axes.cut_otherwise, axes.poured, entries.moved, axes.halves,
    masks.truths, entries.cut, extents.counted,
    numbers.precision, numbers.digits_lost, numbers.factor, numbers.rounded, numbers.functions, numbers.power,
    numbers.offset, numbers.linear, numbers.with_arguments,
)  # fmt: skip
PARTS = (
    positions.only_there, entries.one_number, masks.by_one, entries.slid, entries.zeros, numbers.own_number,
    numbers.normalised, entries.repeated, masks.amounts, extents.lengths, entries.mislaid, entries.reordered,
)  # fmt: skip
CALLS = (calls.swapped_arguments, calls.as_if)
LATE_CALLS = (mixtures.weighted, calls.ignored, calls.closed, calls.renamed)
STEPS = (steps.one_changed, steps.reordered, steps.once_changed)
SYMPTOMS = (positions.only_in_part, numbers.unsteady)
LARGE = 400  # numbers of a result; on a larger one a claim is tested last, because each run takes long
LEAKS = (numbers.unsteady, calls.ignored_in_part, calls.mixed)


@dataclass(frozen=True)
class Found:
    """What is the matter: a short name, a sentence, what it speaks of, and whether a pair of runs shows it."""

    kind: str
    text: str
    about: tuple[str, ...]
    shows: Callable[[Run, Run], bool] = lambda got, expected: True


def _named(text: str) -> tuple[str, ...]:
    """What a text speaks of, in order: the code in its backticks (arguments, operations of torch), and numbers."""
    return tuple(code or number for code, number in re.findall(r"`([^`]+)`|(-?\d+(?:\.\d+)?)", text))


def explain(
    exercise: Exercise, answer: Callable, got: list[Run], expected: list[Run], failing: list[int]
) -> Found | None:
    """The first explanation that is true wherever the answer's values are wrong; None when there is none."""
    budget = Budget()
    everywhere = [_case(exercise, answer, *pair, budget) for pair in zip(got, expected, strict=False)]
    cases = [case for i in failing if (case := everywhere[i]) is not None and not _right(case)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tensors that are compared in unusual ways
        for looks, part, said in _stages(cases, [case for case in everywhere if case is not None]):
            claim = _first_true(looks, part, [case for case in everywhere if case is not None and _right(case)])
            if claim is not None:
                text = _spoken(claim.text, said[0])
                rest = said[1] + _but(len(cases), len(got), len(failing))
                return Found(claim.kind, text + rest, _named(text), _shower(exercise, answer, claim, part[0].part))
    return _some_inputs(exercise, got, failing)


def _but(explained: int, runs: int, failing: int) -> str:
    """An explanation holds where the result is wrong; elsewhere there is nothing to explain."""
    if explained < failing or failing == runs:
        return ""
    return f" This is so on {failing} of {runs} inputs; on the others your result is right."


def _case(exercise: Exercise, answer: Callable, got: Run, expected: Run, budget: Budget) -> Case | None:
    if got.failure is not None or expected.failure is not None:
        return None
    return Case(exercise, answer, got.args, got.value, expected.value, budget=budget)


Stage = tuple[Sequence[Look], list[Case], tuple[str, str]]


def _stages(cases: list[Case], everywhere: list[Case]) -> Iterator[Stage]:
    """The looks, the cases to explain, and what to call the result: first as a whole, then part by part."""
    yield (calls.random,), cases, ("", "")
    yield (entries.constants,), everywhere if cases else [], ("", "")
    yield (swapped_parts, *WHOLE, *CALLS), cases, ("", "")
    sizes = {len(_paths(case.expected)) for case in everywhere}  # a list may be longer on another input
    for part in _wrong_parts(cases) if len(sizes) == 1 else []:
        here = [case.of(part) for case in cases if not _right(case.of(part))]
        yield (entries.constants,), [case.of(part) for case in everywhere], _said(cases, part)
        yield (*WHOLE, *PARTS), here, _said(cases, part)
    if len(sizes) > 1:
        yield (*WHOLE, *PARTS), _entries(cases), ("", " That holds for each wrong entry of your list.")
    yield (*PARTS, *LATE_CALLS, *STEPS), cases, ("", "")
    yield LEAKS, cases, ("", "")
    for part in _wrong_parts(cases) if len(sizes) == 1 else []:
        yield SYMPTOMS, [case.of(part) for case in cases if not _right(case.of(part))], _said(cases, part)
    yield SYMPTOMS, cases, ("", "")


def _entries(cases: list[Case]) -> list[Case]:
    """The wrong entries of lists that have as many as they should."""
    if any(len(_paths(case.got)) != len(_paths(case.expected)) for case in cases):
        return []
    return [entry for case in cases for path in _paths(case.expected) if not _right(entry := case.of(path))]


def _right(case: Case) -> bool:
    return values.same(case.got, case.expected, case.exercise.tolerance)


def _wrong_parts(cases: list[Case]) -> list[tuple[int, ...]]:
    """Where in a tuple of results something is wrong; nothing for a result that is no tuple."""
    if not cases or any(len(_paths(case.got)) != len(_paths(case.expected)) for case in cases):
        return []
    parts = _paths(cases[0].expected)
    return [part for part in parts if part and not all(_right(case.of(part)) for case in cases)]


def _paths(value: Any, so_far: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if not isinstance(value, tuple) and not (isinstance(value, list) and any(isinstance(x, Tensor) for x in value)):
        return [so_far]
    return [path for i, item in enumerate(value) for path in _paths(item, (*so_far, i))]


def _said(cases: list[Case], part: tuple[int, ...]) -> tuple[str, str]:
    """What to call a part, and which other parts are right."""
    name = _name(cases[0].exercise, part)
    wrong = _wrong_parts(cases)
    right = [_name(cases[0].exercise, path) for path in _paths(cases[0].expected) if path not in wrong]
    rest = f" {' and '.join(right)} {'is' if len(right) == 1 else 'are'} right." if right else ""
    return name, rest


def _spoken(text: str, name: str) -> str:
    """A claim's sentence about a part, which has a name."""
    return text.replace("our result", f"our {name}") if name else text


def _name(exercise: Exercise, part: tuple[int, ...]) -> str:
    first = exercise.returns[part[0]] if part[0] < len(exercise.returns) else f"result {part[0]}"
    return f"`{first}{''.join(f'[{i}]' for i in part[1:])}`"


def swapped_parts(case: Case) -> Iterator[Claim]:
    """Two results of a tuple in each other's position."""
    count = len(case.expected) if isinstance(case.expected, tuple) else 0
    for i in range(count):
        for j in range(i):
            names = _name(case.exercise, (j,)), _name(case.exercise, (i,))
            yield Claim(
                "results swapped",
                f"{names[0]} and {names[1]} are exchanged: each is right, but they are returned in the wrong order.",
                lambda case, i=i, j=j: all(
                    values.same(case.got[a], case.expected[b], 1e-6) for a, b in ((i, j), (j, i))
                ),
            )


def _first_true(looks: Sequence[Look], cases: list[Case], fine: Sequence[Case] = ()) -> Claim | None:
    """The first claim that is true of all `cases` and, where it names a cause, fits those on which all is right."""
    if not cases:
        return None
    first, *others = sorted(cases, key=lambda case: (values.size(case.expected) > LARGE, -values.size(case.expected)))
    claims = (claim for look in looks for claim in _claims(look, first))
    return next((claim for claim in claims if _true(claim, [first, *others]) and _fits(claim, fine)), None)


def _fits(claim: Claim, fine: Sequence[Case]) -> bool:
    return claim.fits is None or all(_holds(replace(claim, holds=claim.fits), case) for case in fine)


def _claims(look: Look, first: Case) -> Iterator[Claim]:
    """What a look claims. One that expects another type or shape of result claims nothing, whatever it raises."""
    try:
        yield from look(first)
    except Exception:
        return


def _true(claim: Claim, cases: list[Case]) -> bool:
    shown = []
    for case in cases:
        held = _holds(claim, case)
        if held is False:
            return False
        shown += [case] if held else []
    found = [case.different() for case in shown]
    enough = sum(min(len(numbers), 4) for numbers in found) >= 4 and len(set().union(*found)) >= claim.evidence
    return enough and len(shown) >= min(2, len(cases))


def _holds(claim: Claim, case: Case) -> bool | None:
    """A claim that cannot be tested on an input (another shape, an error) isn't true there."""
    try:
        held = claim.holds(case)
    except Exception:
        return False
    return None if held is None else bool(held)


def _shower(exercise: Exercise, answer: Callable, claim: Claim, part: tuple[int, ...]) -> Callable[[Run, Run], bool]:
    def shows(got: Run, expected: Run) -> bool:
        case = _case(exercise, answer, got, expected, Budget())
        return case is not None and _holds(claim, case.of(part)) is True

    return shows


def _some_inputs(exercise: Exercise, got: list[Run], failing: list[int]) -> Found | None:
    words = only_when(exercise, [run.args for run in got], set(failing))
    if words is None:
        return None
    right = f"Your result is right on {len(got) - len(failing)} of {len(got)} inputs."
    text = f"{right} It is wrong on exactly those in which {words}."
    return Found("wrong for some inputs only", text, _named(words))


def stops_when(exercise: Exercise, got: list[Run]) -> Found | None:
    """Which inputs stop an answer with an error; None where nothing is to be said."""
    words = only_when(exercise, [run.args for run in got], {i for i, run in enumerate(got) if run.failure is not None})
    text = f"It stops on exactly those inputs in which {words}."
    return Found("stops for some inputs only", text, _named(words)) if words else None


def where_not_finite(
    exercise: Exercise, answer: Callable, got: list[Run], expected: list[Run], failing: list[int]
) -> Found | None:
    """Where NaN or infinity stands; None where nothing is to be said."""
    found = (_case(exercise, answer, got[i], expected[i], Budget()) for i in failing)
    cases = [case for case in found if case is not None and not values.finite(case.got)]
    for part in _paths(cases[0].expected) if cases else ():
        here = [case.of(part) for case in cases if not values.finite(case.of(part).got)]
        claim = _first_true((positions.where_not_finite,), here)
        if claim is not None:
            return Found(claim.kind, claim.text, _named(claim.text))
    return None
