"""Whether two results are the same, and how they differ, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from . import values
from .sandbox import Run


def same_run(first: Run, second: Run, tolerance: float) -> bool:
    """Whether two runs ended alike: with the same values, or both with an error."""
    if first.failure is not None or second.failure is not None:
        return None not in (first.failure, second.failure)
    return values.same(first.value, second.value, tolerance)


def structure(got: Any, expected: Any) -> str | None:
    """How the structure of a result differs from what is expected, in words; None when it doesn't."""
    if isinstance(expected, Tensor):
        if not isinstance(got, Tensor) and not (values.is_number(got) and expected.dim() == 0):
            hint = " (`torch.from_numpy` makes it a tensor)" if values.kind(got) == "ndarray" else ""
            return f"{values.kind(got)}; the exercise wants a {values.kind(expected)}{hint}"
        shapes = [tuple(value.shape) if isinstance(value, Tensor) else () for value in (got, expected)]
        return None if shapes[0] == shapes[1] else f"shape {shapes[0]}, wanted {shapes[1]}"
    if isinstance(expected, (tuple, list)) and isinstance(got, (tuple, list)):
        if len(got) != len(expected):
            return f"shape: {len(got)} entries, wanted {len(expected)}"
        return next((found for pair in zip(got, expected, strict=True) if (found := structure(*pair))), None)
    if values.is_number(expected) and values.is_number(got):
        return None
    if type(got) is type(expected):
        return None
    return f"{values.kind(got)}; the exercise wants {values.kind(expected)}"


def misbuilt(got: Any, expected: Any, names: Sequence[str] = ()) -> tuple[str, str] | None:
    """Which part of a result has another structure, `result` or its name, and how; None when none has."""
    if names and _parts(got) == _parts(expected) == len(names):
        found = ((f"`{name}`", structure(*pair)) for name, *pair in zip(names, got, expected, strict=True))
        return next(((name, problem) for name, problem in found if problem), None)
    problem = structure(got, expected)
    return None if problem is None else ("result", problem)


def _parts(value: Any) -> int:
    return len(value) if isinstance(value, (tuple, list)) else 0


def in_words(got: Any, expected: Any, names: Sequence[str], tolerance: float) -> tuple[str, str]:
    """A title and a sentence for a result that is wrong, when nothing is known of why."""
    built = misbuilt(got, expected, names)
    if built is not None:
        return "wrong shape", f"Your {built[0]} has {built[1]}."
    if names and _parts(got) == len(names):
        return "wrong values", _which(got, expected, names, tolerance)
    if values.is_number(expected):
        return "wrong number", "Your number is not the one that is wanted."
    if isinstance(expected, Tensor):
        return "wrong values", "The shape is right, the values are not."
    if isinstance(expected, dict):
        keys = got.keys() == expected.keys()
        return "wrong values", "The keys are right, the values are not." if keys else "The keys are not right."
    if isinstance(expected, (tuple, list)):
        return "wrong entries", "The number of entries is right, the entries are not."
    return "wrong result", "Your result is not the one that is wanted."


def _which(got: Any, expected: Any, names: Sequence[str], tolerance: float) -> str:
    """Which of several results are wrong."""
    pairs = list(zip(names, got, expected, strict=True))
    right = [f"`{name}`" for name, *pair in pairs if values.same(*pair, tolerance)]
    wrong = [f"`{name}`" for name, *_ in pairs if f"`{name}`" not in right]
    verb = "are" if len(wrong) > 1 else "is"
    rest = f"; {' and '.join(right)} {'are' if len(right) > 1 else 'is'} right" if right else ""
    return f"The shapes are right, but {' and '.join(wrong)} {verb} wrong{rest}."
