"""Whether two results are the same, and how they differ, in words."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from torch import Tensor

from . import values
from .printing import text
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
            return f"another shape: its length is {len(got)}, wanted is {len(expected)}"
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
    """A title and a sentence for a result that is wrong, when nothing is known of why: how much of it, and where."""
    built = misbuilt(got, expected, names)
    if built is not None:
        return "wrong shape", f"Your {built[0]} has {built[1]}."
    if names and _parts(got) == len(names):
        which, part = _which(got, expected, names, tolerance)
        title, more = in_words(*part, (), tolerance)
        return title, f"{which} {more}"
    entries = list(_entries(got, expected))
    wrong = [entry for entry in entries if not values.same(entry[1], entry[2], tolerance)]
    if not wrong:
        return "wrong result", "Your result is not the one that is wanted."
    place, mine, right = wrong[0]
    if place == ():
        title, first = f"wrong {'number' if values.is_number(right) else 'result'}", "It is"
    else:
        title = f"{len(wrong)} of {len(entries)} entries wrong"
        first = f"The first is at {list(place) if isinstance(place, tuple) else repr(place)}:"
    return title, f"{_direction(wrong)}{_along(wrong, expected)}{first} {text(mine)} instead of {text(right)}."


def _which(got: Any, expected: Any, names: Sequence[str], tolerance: float) -> tuple[str, tuple[Any, Any]]:
    """Which of several results are wrong, and the first of them."""
    pairs = {f"`{name}`": (mine, wanted) for name, mine, wanted in zip(names, got, expected, strict=True)}
    right = [name for name, pair in pairs.items() if values.same(*pair, tolerance)]
    wrong = [name for name in pairs if name not in right]
    verb = "are" if len(wrong) > 1 else "is"
    rest = f"; {' and '.join(right)} {'are' if len(right) > 1 else 'is'} right" if right else ""
    return f"The shapes are right, but {' and '.join(wrong)} {verb} wrong{rest}. In {wrong[0]}:", pairs[wrong[0]]


Entry = tuple[Any, Any, Any]  # where it stands, what was returned, what is right


def _entries(got: Any, expected: Any) -> Iterator[Entry]:
    """What stands at each position of two results of one structure."""
    if isinstance(expected, Tensor) and isinstance(got, Tensor):
        places = product(*map(range, expected.shape))
        yield from zip(places, got.flatten().tolist(), expected.flatten().tolist(), strict=True)
    elif isinstance(expected, dict):
        yield from ((key, got.get(key, "nothing"), expected.get(key, "nothing")) for key in expected | got)
    elif isinstance(expected, (tuple, list)):
        yield from ((i, *pair) for i, pair in enumerate(zip(got, expected, strict=True)))
    else:
        yield (), got, expected


def _direction(wrong: list[Entry]) -> str:
    """Whether all wrong numbers err to one side."""
    if not all(values.is_number(number) and not isinstance(number, bool) for _, *pair in wrong for number in pair):
        return ""
    which = "Each of them" if len(wrong) > 1 else "It"
    if all(mine > right for _, mine, right in wrong):
        return f"{which} is too large. "
    return f"{which} is too small. " if all(mine < right for _, mine, right in wrong) else ""


def _along(wrong: list[Entry], expected: Any) -> str:
    """Along which axes of a tensor the wrong numbers keep to some positions."""
    said = []
    for axis, size in enumerate(expected.shape if isinstance(expected, Tensor) else ()):
        found = sorted({place[axis] for place, *_ in wrong})
        if len(found) < size:
            said.append(f"{', '.join(map(str, found))} of axis {axis}")
    return f"All that is wrong stands at position {' and '.join(said)}. " if said else ""
