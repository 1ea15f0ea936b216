"""A lab as notebooks see it: `from attnlabs.lab01 import check`, then
`check.shift_right(shift_right)`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from . import run_order
from .exercise import Exercise
from .judge import judge


class CheckFailed(AssertionError):  # noqa: N818 (what a student reads on top of the message)
    """A wrong answer. Jupyter shows the message alone, without the engine's traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class NotWrittenYet(CheckFailed):
    """An exercise that is still to be done."""


class UnknownCheck(AttributeError, KeyError):  # noqa: N818 (named like UnknownWord)
    """No lab or exercise of that name."""

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self}"]

    def __init__(self, what: str, name: str, known: list[str]):
        super().__init__(what, name, known)  # what it was made from, so that it can be pickled

    def __str__(self) -> str:
        what, name, known = self.args
        near = difflib.get_close_matches(name, known, n=2)
        guess = f"Did you mean {' or '.join(near)}? " if near else ""
        return f"there is no {what} {name!r}. {guess}There are: {', '.join(known)}"


class Lab:
    """The checks of one lab: `check = Lab("lab01", EXERCISES)`. In a notebook it explains names that are missing.

    `chapter` is where the sections stand that its exercises name (`Exercise.read_again`)."""

    def __init__(self, name: str, exercises: Iterable[Exercise], chapter: str = ""):
        self._name, self.chapter = name, chapter
        self._exercises = {exercise.name: exercise for exercise in exercises}
        run_order.watch(self._exercises)

    def exercises(self) -> dict[str, Exercise]:
        """The lab's exercises by name, in the lab's order."""
        return self._exercises

    def exercise(self, name: str) -> Exercise:
        """One exercise; UnknownCheck with near names when there is none."""
        if name not in self.exercises():
            raise UnknownCheck(f"check in {self._name} called", name, list(self.exercises()))
        return self.exercises()[name]

    def __getattr__(self, name: str) -> Check:
        if name.startswith("_"):
            raise AttributeError(name)
        return Check(self._name, self.exercise(name))

    def __dir__(self) -> list[str]:
        return list(self.exercises())

    def __repr__(self) -> str:
        return f"<checks of {self._name}: {', '.join(self.exercises())}>"


class Check:
    """One exercise's check: call it with your function."""

    def __init__(self, lab: str, exercise: Exercise):
        self._lab, self._exercise = lab, exercise

    def __call__(self, answer: Callable[..., Any], variant: int = 0) -> None:
        """Print what was verified, or raise CheckFailed; another `variant` means other inputs."""
        verdict = judge(self._exercise, answer, variant)
        if verdict.passed:
            print(verdict.message)
            return
        failed = NotWrittenYet if verdict.kind == "unwritten" else CheckFailed
        raise failed(verdict.message) from None

    def __repr__(self) -> str:
        exercise = self._exercise
        return f"<check of {exercise.name}({', '.join(exercise.parameters)}) in {self._lab}>"
