"""Checks that name the misunderstanding.

In a notebook `from attnlabs.lab01 import check`, then `check.shift_right(shift_right)`. In code
`evaluate("lab01", "shift_right", answer)`. `catalogue()` lists what the checks know."""

import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from attnbook.device import best_device
from misread import elsewhere, tried
from misread.draw import Draw
from misread.exercise import Exercise, Mistake, Property
from misread.judge import Verdict, judge
from misread.lab import CheckFailed, Lab, NotWrittenYet, UnknownCheck

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
    "checks_of",
    "evaluate",
    "lab_names",
]

elsewhere.best_device = best_device  # answers are tried on the graphics card where there is one


def lab_names() -> list[str]:
    """The labs there are: lab01, lab02, …; each a package of that name."""
    packages = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    return sorted(name for name in packages if re.fullmatch(r"lab\d\d", name))


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
    return judge(checks_of(lab).exercise(exercise), answer, variant, explains)


def catalogue() -> dict[str, dict[str, Listed]]:
    """Every lab, its exercises, their properties, and their known mistakes with messages and code."""
    return {
        name: {exercise.name: _listed(name, exercise) for exercise in checks_of(name).exercises().values()}
        for name in lab_names()
    }


def _listed(lab: str, exercise: Exercise) -> Listed:
    mistakes = tuple(
        Known(known.name, known.message, exercise.source(known), exercise.function(known))
        for known in exercise.mistakes
    )
    return Listed(lab, exercise.name, tuple(exercise.parameters), mistakes, exercise)


def checks_of(lab: str) -> Lab:
    """The checks of a lab, by its name. Raises UnknownCheck for one that is not there."""
    if lab not in lab_names():
        raise UnknownCheck("lab", lab, lab_names())
    return import_module(f"{__name__}.{lab}").check
