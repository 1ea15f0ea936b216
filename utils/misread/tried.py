"""Which general properties the check of an exercise really tries, and which general mistakes it can recognise.

A check looks for the same faults in every exercise, but not each of them can show everywhere: no gradient flows to a
mask, a plain number has no dtype, and nobody can write into an integer."""

from typing import Any

from torch import Tensor

from . import side_effects, values
from .exercise import Exercise
from .messages import GENERAL

INPUTS, DTYPE, GRADIENTS, DEVICE = "inputs left alone", "dtype", "gradients", "device"
ORDER = ("type and shape", "values", INPUTS, "same twice", DTYPE, GRADIENTS, DEVICE)
NEEDS = {  # a general mistake that only one of these properties shows
    "changes its input": INPUTS,
    "another dtype": DTYPE,
    "loses the gradient": GRADIENTS,
    "gradient does not arrive": GRADIENTS,
    "gradient is not a number": GRADIENTS,
    "wrong gradient": GRADIENTS,
    "another device": DEVICE,
}


def general_properties(exercise: Exercise) -> tuple[str, ...]:
    """The names of the general properties that the check tries on at least one input."""
    return exercise.once("general properties", lambda: tuple(name for name in ORDER if _tries(exercise, name)))


def general_mistakes(exercise: Exercise) -> tuple[str, ...]:
    """The names of the general mistakes that the check can recognise, as `messages.GENERAL` has them."""
    return tuple(name for name in GENERAL if _can_be_made(exercise, name))


def _tries(exercise: Exercise, name: str) -> bool:
    runs = exercise.expected()
    if name == INPUTS:
        return any(_writable(arg) for run in runs for arg in run.args)
    if name == DTYPE:
        return side_effects.tries_single_precision(runs) or _gives_tensors(exercise)
    if name == GRADIENTS:
        return any(side_effects.tries_gradients(exercise, run) for run in runs)
    if name == DEVICE:
        return side_effects.tries_devices(exercise, runs)
    return True


def _can_be_made(exercise: Exercise, mistake: str) -> bool:
    if mistake in NEEDS:
        return NEEDS[mistake] in general_properties(exercise)
    if mistake == "not by hand":
        return exercise.by_hand
    if mistake == "number instead of tensor":
        return _gives_tensors(exercise)
    if mistake in ("too few results", "too many results"):
        return any(isinstance(run.value, tuple) for run in exercise.expected())
    return True


def _gives_tensors(exercise: Exercise) -> bool:
    return any(isinstance(part, Tensor) for run in exercise.expected() for part in values.parts(run.value))


def _writable(value: Any) -> bool:
    """Whether a function could write into an argument so that the check sees it."""
    return isinstance(value, (Tensor, list, dict, set)) or (isinstance(value, tuple) and any(map(_writable, value)))
