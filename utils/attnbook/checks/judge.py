"""Judge an answer: run it beside the reference, name its mistake, or say which property fails first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from . import diagnosis, sides, values, wording
from .diagnosis_inputs import another_default
from .difference import structure
from .exercise import Exercise, Property
from .running import Run, guarded
from .smallest import same_run, smallest


@dataclass(frozen=True)
class Verdict:
    """What a check found. True when passed.

    `mistake` is a known mistake's short name, or None. Then `kind` tells what was seen instead: a diagnosis (see
    `diagnosis`), "error", "property", "values", "shape" or "unwritten".
    """

    passed: bool
    mistake: str | None
    message: str
    kind: str = ""

    def __bool__(self) -> bool:
        return self.passed


@dataclass(frozen=True)
class Trial:
    """An answer's runs beside the reference's, input by input."""

    exercise: Exercise
    answer: Callable
    variant: int
    got: list[Run]
    expected: list[Run]

    @cached_property
    def failing(self) -> list[int]:
        """Inputs, smallest first, on which the values are not the reference's."""
        pairs = enumerate(zip(self.got, self.expected, strict=False))
        return [i for i, (got, expected) in pairs if not same_run(got, expected, self.exercise.tolerance)]

    def smallest(self, index: int, shows: Callable[[Run, Run], bool]) -> tuple[Run, Run]:
        """The runs on a failing input, or on one that is read more easily and `shows` the same."""
        order = [index, *(other for other in self.failing if other != index)]
        pairs = [(self.got[i], self.expected[i]) for i in order]
        return smallest(self.exercise, self.answer, self.variant, pairs, shows)


def judge(exercise: Exercise, answer: Any, variant: int = 0) -> Verdict:
    """The verdict on an answer. Never raises for a wrong answer."""
    refusal = _not_a_function(exercise, answer)
    if refusal is not None:
        return refusal
    inputs = exercise.inputs(variant)
    expected = [exercise.run(exercise.reference, args) for args in inputs]
    trial = Trial(exercise, answer, variant, _observe(exercise, answer, inputs), expected)
    if any(run.autograd for run in trial.got):
        return _not_by_hand(trial)
    complaints = [] if trial.failing else sides.complaints(exercise, answer, trial.got, expected)
    if trial.failing or [complaint for complaint in complaints if complaint.kind != sides.DEVICE]:
        return _rejected(trial, complaints)
    known = _known(trial, complaints) if complaints else _another_default(trial, inputs)
    return Verdict(True, None, wording.passed(exercise, inputs, complaints)) if known is None else known


def _another_default(trial: Trial, inputs: list[tuple]) -> Verdict | None:
    found = another_default(trial.exercise, trial.answer, inputs)
    if found is None:
        return None
    return Verdict(False, None, wording.another_default(trial.exercise, *found), "another default")


def _not_a_function(exercise: Exercise, answer: Any) -> Verdict | None:
    if not callable(answer):
        return Verdict(False, "not a function", wording.not_callable(exercise, answer))
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # a builtin without a signature: its first call will tell
        return None
    try:
        signature.bind(*exercise.parameters)
    except TypeError:
        return Verdict(False, "other parameters", wording.other_parameters(exercise, signature))
    return None


def _observe(exercise: Exercise, answer: Callable, inputs: list[tuple]) -> list[Run]:
    runs = []
    for args in inputs:
        runs.append(exercise.run(answer, args))
        if runs[-1].failure is not None and (runs[-1].failure.timed_out or runs[-1].failure.unwritten):
            break  # a loop without end would take its time limit again for each input
    return runs


def _not_by_hand(trial: Trial) -> Verdict:
    """Before any number is judged: who lets autograd do the work would mend the numbers in vain."""
    exercise = trial.exercise
    first = next(sides.by_autograd(exercise, trial.answer, trial.got, trial.expected))
    for mistake in exercise.mistakes:
        if exercise.run(exercise.function(mistake), first.got.args).autograd == first.detail:
            return Verdict(False, mistake.name, wording.side_mistake(exercise, mistake, first))
    return Verdict(False, first.kind, wording.complaint(exercise, first))


def _rejected(trial: Trial, complaints: list[sides.Complaint]) -> Verdict:
    exercise, last = trial.exercise, trial.got[-1]
    if last.failure is not None and last.failure.unwritten:
        return Verdict(False, None, wording.unwritten(exercise, last.failure), "unwritten")
    if wording.empty_body(trial.answer):
        return Verdict(False, None, wording.unwritten(exercise, None), "unwritten")
    known = _known(trial, complaints)
    if known is not None:
        return known
    if complaints:
        first = complaints[0]
        return Verdict(False, first.kind, wording.complaint(exercise, first))
    return _in_plain_words(trial)


def _known(trial: Trial, complaints: list[sides.Complaint]) -> Verdict | None:
    exercise, seen = trial.exercise, sides.pattern(complaints)
    if trial.got[-1].failure is not None and trial.got[-1].failure.timed_out:
        return None
    for mistake in exercise.mistakes:
        wrong = exercise.function(mistake)
        runs = _alike(trial, wrong)
        if runs is None:
            continue
        if trial.failing:
            shown = trial.smallest(trial.failing[0], partial(_shares, exercise, wrong))
            return Verdict(False, mistake.name, wording.mistake(exercise, mistake, *shown))
        if seen == sides.pattern(sides.complaints(exercise, wrong, runs, trial.expected)):
            return Verdict(False, mistake.name, wording.side_mistake(exercise, mistake, complaints[0]))
    return None


def _alike(trial: Trial, wrong: Callable) -> list[Run] | None:
    """The runs of a wrong implementation when they end as the answer's do on every input, else None.

    Errors may differ from style to style, but then at least one wrong value must be the same.
    """
    runs, evidence = [], not trial.failing
    for index, got in enumerate(trial.got):
        runs.append(trial.exercise.run(wrong, got.args))
        if not same_run(got, runs[-1], trial.exercise.tolerance):
            return None
        evidence = evidence or (index in trial.failing and _telling(got, runs[-1]))
    return runs if evidence else None


def _shares(exercise: Exercise, wrong: Callable, got: Run, expected: Run) -> bool:
    return same_run(got, exercise.run(wrong, got.args), exercise.tolerance)


def _telling(got: Run, other: Run) -> bool:
    return got.failure is None or got.failure.text == other.failure.text


def _in_plain_words(trial: Trial) -> Verdict:
    """Wrong in a way nobody listed: an explanation of the whole, or the first thing that is not as it should be."""
    exercise, first = trial.exercise, trial.failing[0]
    general = wording.general(exercise, trial.got[first], trial.expected[first])
    if general is not None:
        return _wrong_at_once(trial, general[0])
    found = diagnosis.explain(exercise, trial.answer, trial.got, trial.expected, trial.failing)
    if found is not None:
        index = next((i for i in trial.failing if found.shows(trial.got[i], trial.expected[i])), first)
        shown = trial.smallest(index, found.shows)
        return Verdict(False, None, wording.diagnosis(exercise, found, _broken(trial, *shown), *shown), found.kind)
    for prop in exercise.properties:
        for index in trial.failing:
            if _breaks(prop, trial.got[index], trial.expected[index]):
                shown = trial.smallest(index, partial(_breaks, prop))
                return Verdict(False, None, wording.property_fails(exercise, prop, *shown), "property")
    shown = trial.smallest(first, lambda got, expected: True)
    kind = "values" if structure(shown[0].value, shown[1].value) is None else "shape"
    return Verdict(False, None, wording.wrong_values(exercise, *shown), kind)


def _wrong_at_once(trial: Trial, name: str | None) -> Verdict:
    """An error, another type, NaN: nothing else is looked at, but where it happens may be said."""
    exercise, first = trial.exercise, trial.failing[0]
    shown = trial.smallest(first, partial(_said, exercise, name))
    more = diagnosis.stops_when(exercise, trial.got) if shown[0].failure is not None else ""
    if name == "not a number":
        more = diagnosis.where_not_finite(exercise, trial.answer, trial.got, trial.expected, trial.failing)
    name, message = wording.general(exercise, *shown)
    return Verdict(False, name, f"{message}\n\n{wording.wrap(more)}" if more else message, "" if name else "error")


def _broken(trial: Trial, got: Run, expected: Run) -> str:
    """What the exercise itself has to say of a result that was explained: the property that it lacks."""
    return next((prop.message for prop in trial.exercise.properties if _breaks(prop, got, expected)), "")


def _said(exercise: Exercise, name: str | None, got: Run, expected: Run) -> bool:
    """Of an error only the shapes are shown, and these tell more when all sizes differ."""
    said = wording.general(exercise, got, expected)
    return got.failure is None and said is not None and said[0] == name


def _breaks(prop: Property, got: Run, expected: Run) -> bool:
    return _comparable(got, expected) and not _holds(prop, got)


def _holds(prop: Property, got: Run) -> bool:
    """A property that cannot be looked at says nothing: another one, or the values, will."""
    held, failure = guarded(prop.holds, (got.value, *values.clone(got.args)))
    return failure is not None or bool(held)


def _comparable(got: Run, expected: Run) -> bool:
    """Whether properties can be looked at: NaN has none of them, and would get the wrong words."""
    return got.failure is None and structure(got.value, expected.value) is None and (
        values.finite(got.value) or not values.finite(expected.value))
