"""Checks that name the misunderstanding.

In a notebook `from attnlabs import lab01 as check`, then `check.shift_right(shift_right)`. In code
`evaluate("lab01", "shift_right", answer)`. `catalogue()` lists what the checks know. Labs are read when
first used."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from misread import run_order, tried
from misread.draw import Draw
from misread.exercise import Exercise, Mistake, Property
from misread.judge import Verdict, judge
from misread.lab import CheckFailed, Lab, NotWrittenYet, UnknownCheck, lab_names

__all__ = [
    "CheckFailed",
    "Draw",
    "Exercise",
    "Known",
    "Listed",
    "Mistake",
    "NotWrittenYet",
    "Property",
    "UnknownCheck",
    "Verdict",
    "catalogue",
    "evaluate",
    "lab_names",
]

_labs: dict[str, Lab] = {}


@dataclass(frozen=True)
class Known:
    """A known mistake as listed: its short name, its message, its source, and the function itself."""

    name: str
    message: str
    code: str
    function: Callable


@dataclass(frozen=True)
class Listed:
    """An exercise as listed. What its check tries is found out when it is first asked for."""

    lab: str
    name: str
    parameters: tuple[str, ...]
    mistakes: tuple[Known, ...]
    exercise: Exercise = field(repr=False)

    @cached_property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties that its check tries: the general ones that apply to it, then its own."""
        return tried.general_properties(self.exercise) + tuple(prop.name for prop in self.exercise.properties)

    @cached_property
    def general(self) -> tuple[str, ...]:
        """The names of the mistakes that the checks of all exercises look for, where they can be made in it."""
        return tried.general_mistakes(self.exercise)


def evaluate(lab: str, exercise: str, answer: Any, variant: int = 0, explains: bool = True) -> Verdict:
    """The verdict on an answer; never raises for a wrong one. Raises UnknownCheck for an unknown lab or
    exercise. Without `explains` it is sooner done: `passed` and `mistake` are the same, the message is poorer."""
    return judge(_lab(lab).exercise(exercise), answer, variant, explains)


def catalogue() -> dict[str, dict[str, Listed]]:
    """Every lab, its exercises, their properties, and their known mistakes with messages and code."""
    return {
        name: {exercise.name: _listed(name, exercise) for exercise in _lab(name).exercises().values()}
        for name in lab_names()
    }


def _listed(lab: str, exercise: Exercise) -> Listed:
    mistakes = tuple(
        Known(known.name, known.message, exercise.source(known), exercise.function(known))
        for known in exercise.mistakes
    )
    return Listed(lab, exercise.name, tuple(exercise.parameters), mistakes, exercise)


def _lab(name: str) -> Lab:
    if name not in _labs:
        if name not in lab_names():
            raise UnknownCheck("lab", name, lab_names())
        _labs[name] = Lab(name)
        run_order.watch(_labs[name].exercises())
    return _labs[name]


def __getattr__(name: str) -> Lab:
    if name.startswith("_"):
        raise AttributeError(name)
    return _lab(name)


def __dir__() -> list[str]:
    return [*__all__, *lab_names()]


class _Checks(ModuleType):
    """Keeps `checks.lab08` the lab's checks: who imports `checks.lab08.heads` would put the package in their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _lab(name) if name in lab_names() else value)


sys.modules[__name__].__class__ = _Checks
