"""Checks that name the misunderstanding.

In a notebook `from attnbook.checks import lab01 as check`, then `check.shift_right(shift_right)`. In code
`evaluate("lab01", "shift_right", answer)`. `catalogue()` lists what the checks know. Labs are read when
first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .engine import run_order
from .engine.exercise import Draw, Exercise, Mistake, Property
from .engine.judge import Verdict, judge
from .engine.lab import CheckFailed, Lab, NotWrittenYet, UnknownCheck, lab_names
from .engine.messages import GENERAL

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
    """An exercise as listed. `general` are the names of the mistakes recognised in every exercise."""

    lab: str
    name: str
    parameters: tuple[str, ...]
    properties: tuple[str, ...]
    mistakes: tuple[Known, ...]
    general: tuple[str, ...] = tuple(GENERAL)


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
    always = ("type and shape", "values", "inputs left alone", "same twice", "dtype", "gradients", "device")
    mistakes = tuple(
        Known(known.name, known.message, exercise.source(known), exercise.function(known))
        for known in exercise.mistakes
    )
    properties = always + tuple(prop.name for prop in exercise.properties)
    return Listed(lab, exercise.name, tuple(exercise.parameters), properties, mistakes)


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
