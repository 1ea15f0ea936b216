"""Judge an answer: run it beside the reference, name its mistake, or say which property fails first."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

from . import diagnosis, messages, side_effects, values
from .compare import in_words, same_run, structure, telling
from .diagnosis.inputs import another_default
from .exercise import Exercise, Mistake, Property
from .sandbox import Run, guarded
from .shrink import shrink

SPARE, SHOWN_BY = 4, 3  # a mistake is known in part by three wrong results at least, and is another for one in four


@dataclass(frozen=True)
class Verdict:
    """What a check found. True when passed.

    `mistake` is a known mistake's short name, or None. Then `kind` tells what was seen instead: a diagnosis (see
    `diagnosis`), "known in part" (a known mistake on most inputs, and something else), "error", "property", "values",
    "shape" or "unwritten". `about` is what the message speaks of, as far as it was found out: arguments, axes, numbers.
    """

    passed: bool
    mistake: str | None
    message: str
    kind: str = ""
    about: tuple[str, ...] = ()

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
    explains: bool = True

    @cached_property
    def failing(self) -> list[int]:
        """Inputs, smallest first, on which the values are not the reference's."""
        pairs = enumerate(zip(self.got, self.expected, strict=False))
        return [i for i, (got, expected) in pairs if not same_run(got, expected, self.exercise.tolerance)]

    def shrink(self, index: int, shows: Callable[[Run, Run], bool]) -> tuple[Run, Run]:
        """The runs on a failing input, or on one that is read more easily and `shows` the same."""
        order = [index, *(other for other in self.failing if other != index)]
        pairs = [(self.got[i], self.expected[i]) for i in order]
        return shrink(self.exercise, self.answer, self.variant, pairs, shows) if self.explains else pairs[0]


def judge(exercise: Exercise, answer: Any, variant: int = 0, explains: bool = True) -> Verdict:
    """The verdict on an answer. Never raises for a wrong answer. Where only `passed` and `mistake` are wanted, it
    need not look for an explanation, nor for an input that is easy to read (`explains`)."""
    refusal = _not_a_function(exercise, answer)
    if refusal is not None:
        return refusal
    expected = exercise.expected(variant)
    inputs = [run.args for run in expected]
    trial = Trial(exercise, answer, variant, _observe(exercise, answer, inputs), expected, explains)
    if any(run.autograd for run in trial.got):
        return _not_by_hand(trial)
    complaints = [] if trial.failing else side_effects.complaints(exercise, answer, trial.got, expected)
    if trial.failing or any(complaint.kind != side_effects.DEVICE for complaint in complaints):
        return _rejected(trial, complaints)
    known = _known(trial, complaints) if complaints else _another_default(trial, inputs)
    return Verdict(True, None, messages.passed(exercise, inputs, complaints)) if known is None else known


def _another_default(trial: Trial, inputs: list[tuple]) -> Verdict | None:
    found = another_default(trial.exercise, trial.answer, inputs)
    if found is None:
        return None
    return Verdict(False, None, messages.another_default(trial.exercise, *found), "another default", (found[0],))


def _not_a_function(exercise: Exercise, answer: Any) -> Verdict | None:
    if not callable(answer):
        return Verdict(False, "not a function", messages.not_callable(exercise, answer))
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # a builtin without a signature: its first call will tell
        return None
    try:
        signature.bind(*exercise.parameters)
    except TypeError:
        return Verdict(False, "other parameters", messages.other_parameters(exercise, signature))
    return None


def _observe(exercise: Exercise, answer: Callable, inputs: list[tuple]) -> list[Run]:
    runs = []
    for args in inputs:
        runs.append(exercise.run(answer, args))
        if runs[-1].timed_out or (runs[-1].failure is not None and runs[-1].failure.unwritten):
            break  # a loop without end would take its time limit again for each input
    return runs


def _not_by_hand(trial: Trial) -> Verdict:
    """Before any number is judged: who lets autograd do the work would mend the numbers in vain."""
    exercise = trial.exercise
    first = next(side_effects.by_autograd(exercise, trial.answer, trial.got, trial.expected))
    return Verdict(False, first.kind, messages.side_effect(exercise, first), about=(first.detail,))


def _rejected(trial: Trial, complaints: list[side_effects.Complaint]) -> Verdict:
    exercise, last = trial.exercise, trial.got[-1]
    if last.failure is not None and last.failure.unwritten:
        return Verdict(False, None, messages.unwritten(exercise, last.failure), "unwritten")
    if messages.empty_body(trial.answer):
        return Verdict(False, None, messages.unwritten(exercise, None), "unwritten")
    known = _known(trial, complaints)
    if known is not None:
        return known
    if complaints:
        first = complaints[0]
        return Verdict(False, first.kind, messages.side_effect(exercise, first), about=(first.detail,))
    return _in_plain_words(trial)


def _known(trial: Trial, complaints: list[side_effects.Complaint]) -> Verdict | None:
    exercise, seen = trial.exercise, side_effects.pattern(complaints)
    if trial.got[-1].timed_out:
        return None
    for strict, mistake in product((True, False) if trial.failing else (True,), exercise.mistakes):
        if not _alike(trial, mistake, strict):
            continue
        if trial.failing:
            shares = partial(_shares, exercise, exercise.function(mistake))
            index = next(i for i in trial.failing if strict or shares(trial.got[i], trial.expected[i]))
            shown = trial.shrink(index, shares)
            return Verdict(False, mistake.name, messages.shown(exercise, mistake.name, mistake.message, *shown))
        if seen == mistake_pattern(exercise, mistake, trial.variant):
            return Verdict(False, mistake.name, messages.side_effect(exercise, complaints[0], mistake))
    return None


def mistake_pattern(exercise: Exercise, mistake: Mistake, variant: int) -> frozenset:
    """The side effects of a known mistake whose values are right, looked for once."""
    expected = exercise.expected(variant)
    runs = [exercise.wrong_run(mistake, variant, index) for index in range(len(expected))]
    found = partial(side_effects.complaints, exercise, exercise.function(mistake), runs, expected)
    return exercise.once(("pattern", mistake.name, variant), lambda: side_effects.pattern(found()))


def _alike(trial: Trial, mistake: Mistake, strict: bool) -> bool:
    """Whether a known mistake's runs end as the answer's do on every input.

    Errors may differ from style to style, but then at least one wrong value must be the same. Where nothing is so in
    a `strict` sense, a wrong value may stand for an error of the known mistake: what stops one style of it (no entry
    to stack, a division by 0) gives a value in another. More wrong values must be the same than stand for errors.
    """
    evidence, stopped, alike = not trial.failing, 0, 0
    for index, got in enumerate(trial.got):
        wrong = trial.exercise.wrong_run(mistake, trial.variant, index)
        if not strict and wrong.failure is not None and got.failure is None and index in trial.failing:
            stopped += 1
            continue
        if not same_run(got, wrong, trial.exercise.tolerance):
            return False
        evidence = evidence or (index in trial.failing and telling(got, wrong))
        alike += index in trial.failing
    return evidence and (strict or alike > stopped)


def _shares(exercise: Exercise, wrong: Callable, got: Run, expected: Run) -> bool:
    return same_run(got, exercise.run(wrong, got.args), exercise.tolerance)


def _known_in_part(trial: Trial) -> Verdict | None:
    """The known mistake that gives most of the wrong results, where none gives all of them.

    Its words are followed by how often this is so, because something else may be wrong as well.
    """
    exercise, failing = trial.exercise, trial.failing
    agreeing = {known.name: (known, _agreeing(trial, known)) for known in exercise.mistakes}
    known, alike = max(agreeing.values(), key=lambda pair: len(pair[1]), default=(None, []))
    if known is None or not alike:
        return None
    often = f"{len(alike)} of the" if len(alike) < len(failing) else "all"
    text = f"{known.message}\nOn {often} {len(failing)} inputs on which your result is wrong, this is what happens."
    text += " On the others something else is wrong." if len(alike) < len(failing) else ""
    shown = trial.shrink(alike[0], partial(_shares, exercise, exercise.function(known)))
    about = known.name, str(len(alike)), str(len(failing))
    return Verdict(False, None, messages.shown(exercise, known.name, text, *shown), "known in part", about)


def _agreeing(trial: Trial, mistake: Mistake) -> list[int]:
    """Inputs on which a known mistake gives the same wrong result; none if it differs from the answer too often.

    Many mistakes read where only zeros stand, as above the diagonal of causal weights, so zeros tell nothing.
    """
    found: list[int] = []
    spare = len(trial.failing) // SPARE
    for index, got in enumerate(trial.got):
        if not same_run(got, trial.exercise.wrong_run(mistake, trial.variant, index), trial.exercise.tolerance):
            spare -= 1
        elif index in trial.failing and got.failure is None and not _only_zeros(got.value):
            found.append(index)
        if spare < 0:
            return []
    return found if len(found) >= SHOWN_BY else []


def _only_zeros(value: Any) -> bool:
    found = list(values.tensors(value))
    return bool(found) and not any(tensor.any() for tensor in found)


def _in_plain_words(trial: Trial) -> Verdict:
    """Wrong in a way nobody listed: an explanation of the whole, or the first thing that is not as it should be."""
    exercise, first = trial.exercise, trial.failing[0]
    general = messages.general(exercise, trial.got[first], trial.expected[first])
    if general is not None:
        return _wrong_at_once(trial, general[0])
    for explain in (_known_in_part, _diagnosed) if trial.explains else ():
        verdict = explain(trial)
        if verdict is not None:  # a verdict is False when it is a rejection
            return verdict
    for prop, index in product(exercise.properties, trial.failing):
        if _breaks(prop, trial.got[index], trial.expected[index]):
            shown, title = trial.shrink(index, partial(_breaks, prop)), f'"{prop.name}" does not hold'
            text = messages.shown(exercise, title, prop.message, *shown)
            return Verdict(False, None, text, "property", (prop.name,))
    shown = trial.shrink(first, lambda got, expected: True)
    kind = "values" if structure(shown[0].value, shown[1].value) is None else "shape"
    wrong = in_words(shown[0].value, shown[1].value, exercise.returns, exercise.tolerance)
    return Verdict(False, None, messages.shown(exercise, wrong.title, wrong.text, *shown), kind)


def _diagnosed(trial: Trial) -> Verdict | None:
    """What the result has to do with the right one, and what the exercise itself says of such a result."""
    found = diagnosis.explain(trial.exercise, trial.answer, trial.got, trial.expected, trial.failing)
    if found is None:
        return None
    shows = _with_a_property(trial, found.shows)
    index = next((i for i in trial.failing if shows(trial.got[i], trial.expected[i])), trial.failing[0])
    shown = trial.shrink(index, shows)
    lacks = "" if found.kind == "random" else _broken(trial, *shown)  # another call lacks another one
    text = f"{found.text}\n{lacks}".strip()
    return Verdict(False, None, messages.shown(trial.exercise, found.kind, text, *shown), found.kind, found.about)


def _wrong_at_once(trial: Trial, name: str | None) -> Verdict:
    """An error, another type, NaN: no number is compared, but where it happens may be said."""
    exercise, first = trial.exercise, trial.failing[0]
    shown = trial.shrink(first, partial(_said, exercise, name))
    more = diagnosis.stops_when(exercise, trial.got) if shown[0].failure is not None else None
    if name == "not a number":
        more = diagnosis.where_not_finite(exercise, trial.answer, trial.got, trial.expected, trial.failing)
    name, message = messages.general(exercise, *shown) or (None, "")  # there is one: `_said` saw to it
    message += f"\n\n{messages.wrap(more.text)}" if more else ""
    return Verdict(False, name, message, "" if name else "error", more.about if more else ())


def _with_a_property(trial: Trial, shows: Callable[[Run, Run], bool]) -> Callable[[Run, Run], bool]:
    """`shows`, on inputs on which a property breaks as well, the first one that does; `shows` where none does."""
    for prop in trial.exercise.properties:
        both = partial(_shows_both, prop, shows)
        if any(both(trial.got[i], trial.expected[i]) for i in trial.failing):
            return both
    return shows


def _shows_both(prop: Property, shows: Callable[[Run, Run], bool], got: Run, expected: Run) -> bool:
    return _breaks(prop, got, expected) and shows(got, expected)


def _broken(trial: Trial, got: Run, expected: Run) -> str:
    """What the exercise itself has to say of a result that was explained: the property that it lacks."""
    return next((prop.message for prop in trial.exercise.properties if _breaks(prop, got, expected)), "")


def _said(exercise: Exercise, name: str | None, got: Run, expected: Run) -> bool:
    """Of an error only the shapes are shown, and these tell more when all sizes differ."""
    said = messages.general(exercise, got, expected)
    return got.failure is None and said is not None and said[0] == name


def _breaks(prop: Property, got: Run, expected: Run) -> bool:
    """Whether a result lacks a property. NaN lacks all of them, and one that stops tells nothing: both say no."""
    if got.failure is not None or structure(got.value, expected.value) is not None:
        return False
    if values.finite(expected.value) and not values.finite(got.value):
        return False
    held, failure = guarded(prop.holds, (got.value, *values.clone(got.args)))
    return failure is None and not held
