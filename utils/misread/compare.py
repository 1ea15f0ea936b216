"""Whether two results are the same, and how they differ, in words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from torch import Tensor

from . import values
from .printing import text
from .sandbox import Run


def same_run(first: Run, second: Run, tolerance: float) -> bool:
    """Whether two runs ended alike: with the same values, or both with an error."""
    if first.failure is not None or second.failure is not None:
        return None not in (first.failure, second.failure)
    return values.same(first.value, second.value, tolerance)


def telling(first: Run, second: Run) -> bool:
    """Whether two runs that ended alike show that they do the same: by a value, or by the text of an error.

    Which key a dictionary lacks depends on how the key was put together, so one KeyError is as good as another.
    """
    if first.failure is None or second.failure is None:
        return first.failure is None
    kinds = {type(run.failure.error) for run in (first, second) if run.failure is not None}
    return first.failure.text == second.failure.text or kinds == {KeyError}


NUMBERS = {int: "a whole number", float: "a number"}


class Difference(NamedTuple):
    """How the structure of a result differs: in its `kind`, "type" or "shape"; of several results in a `part`."""

    kind: str
    text: str
    part: str = ""


def structure(got: Any, expected: Any) -> Difference | None:
    """How the structure of a result differs from what is expected; None when it doesn't."""
    if isinstance(expected, Tensor):
        if not isinstance(got, Tensor) and not (values.is_number(got) and expected.dim() == 0):
            hint = " (`torch.from_numpy` makes it a tensor)" if values.kind(got) == "ndarray" else ""
            return Difference("type", f"{values.kind(got)}; the exercise wants a {values.kind(expected)}{hint}")
        shapes = [tuple(value.shape) if isinstance(value, Tensor) else () for value in (got, expected)]
        return None if shapes[0] == shapes[1] else Difference("shape", f"shape {shapes[0]}, wanted {shapes[1]}")
    if isinstance(expected, (tuple, list)) and isinstance(got, (tuple, list)):
        if len(got) != len(expected):
            length = f"another shape: its length is {len(got)}, wanted is {len(expected)}"
            return Difference("shape", length)
        return next((found for pair in zip(got, expected, strict=True) if (found := structure(*pair))), None)
    if isinstance(expected, dict) and isinstance(got, dict):
        return _first_of_another_type(got, expected)
    if values.is_number(expected) and values.is_number(got):
        return None
    if type(got) is type(expected):
        return None
    wanted = NUMBERS.get(type(expected), values.kind(expected))
    return Difference("type", f"{values.kind(got)}; the exercise wants {wanted}")


def _first_of_another_type(got: dict, expected: dict) -> Difference | None:
    """The first entry of a dictionary whose value has another type; other shapes and other keys are wrong values."""
    for key in (key for key in expected if key in got):
        found = structure(got[key], expected[key])
        if found is not None and found.kind == "type":
            return found._replace(text=f"under the key {key!r}: {found.text}")
    return None


def misbuilt(got: Any, expected: Any, names: Sequence[str] = ()) -> Difference | None:
    """How a result, or the first of several that does, differs in its structure; None when none does."""
    if names and _parts(got) == _parts(expected) == len(names):
        found = ((name, structure(*pair)) for name, *pair in zip(names, got, expected, strict=True))
        return next((problem._replace(part=name) for name, problem in found if problem), None)
    return structure(got, expected)


def _parts(value: Any) -> int:
    return len(value) if isinstance(value, (tuple, list)) else 0


class Wrong(NamedTuple):
    """What is wrong with a result, when nothing is known of why: a title and a sentence, and what they were made of.

    Of several results the `parts` are wrong. The `first` wrong entry stands there; all of them err to one `side`
    ("large" or "small"), and `along` these axes they keep to these positions.
    """

    title: str
    text: str
    parts: tuple[str, ...] = ()
    first: Any = None
    side: str = ""
    along: Mapping[int, list[int]] = {}


def in_words(got: Any, expected: Any, names: Sequence[str], tolerance: float) -> Wrong:
    """How much of a result is wrong, and where."""
    built = misbuilt(got, expected, names)
    if built is not None:
        name = f"`{built.part}`" if built.part else "result"
        return Wrong("wrong shape", f"Your {name} has {built.text}.", (built.part,) if built.part else ())
    if names and _parts(got) == len(names):
        return _of_several(got, expected, names, tolerance)
    entries = list(_entries(got, expected))
    wrong = [entry for entry in entries if not values.same(entry[1], entry[2], tolerance)]
    if not wrong:
        return Wrong("wrong result", "Your result is not the one that is wanted.")
    place, mine, right = wrong[0]
    side, along = _side(wrong), _along(wrong, expected)
    said = f"{_told(len(wrong), side, along)}{_first(place, mine, right)}"
    return Wrong(_title(wrong, len(entries)), said, (), place, side, along)


def _title(wrong: list["Entry"], count: int) -> str:
    place, _, right = wrong[0]
    if place == ():
        return f"wrong {'number' if values.is_number(right) else 'result'}"
    missing = all(mine is NOTHING for _, mine, _ in wrong)
    return f"{len(wrong)} of {count} entries {'missing' if missing else 'wrong'}"


def _first(place: Any, mine: Any, right: Any) -> str:
    """What stands at the first wrong position, and what should."""
    if mine is NOTHING:
        return f"The entry for {place!r} is missing; wanted is {text(right)}."
    if right is NOTHING:
        return f"There should be no entry for {place!r}."
    at = f"The first is at {list(place) if isinstance(place, tuple) else repr(place)}:" if place != () else "It is"
    return f"{at} {' instead of '.join(_apart(mine, right))}."


def _apart(mine: Any, right: Any) -> tuple[str, str]:
    """Both in words, with as many decimals as tell them apart."""
    said = ((text(mine, decimals), text(right, decimals)) for decimals in (4, 7, 10, 17))
    return next((pair for pair in said if pair[0] != pair[1]), (text(mine), text(right)))


def _told(count: int, side: str, along: Mapping[int, list[int]]) -> str:
    said = f"{'Each of them' if count > 1 else 'It'} is too {side}. " if side else ""
    at = [f"{', '.join(map(str, found))} of axis {axis}" for axis, found in along.items()]
    return f"{said}All that is wrong stands at position {' and '.join(at)}. " if at else said


def _of_several(got: Any, expected: Any, names: Sequence[str], tolerance: float) -> Wrong:
    """Which of several results are wrong, and what is wrong with the first of them."""
    pairs = {name: (mine, wanted) for name, mine, wanted in zip(names, got, expected, strict=True)}
    right = [f"`{name}`" for name, pair in pairs.items() if values.same(*pair, tolerance)]
    wrong = [name for name in pairs if f"`{name}`" not in right]
    verb = "are" if len(wrong) > 1 else "is"
    rest = f"; {' and '.join(right)} {'are' if len(right) > 1 else 'is'} right" if right else ""
    said = f"The shapes are right, but {' and '.join(f'`{name}`' for name in wrong)} {verb} wrong{rest}."
    first = in_words(*pairs[wrong[0]], (), tolerance)
    return first._replace(text=f"{said} In `{wrong[0]}`: {first.text}", parts=tuple(wrong))


Entry = tuple[Any, Any, Any]  # where it stands, what was returned, what is right
NOTHING = object()  # stands for an entry that a dictionary lacks


def _entries(got: Any, expected: Any) -> Iterator[Entry]:
    """What stands at each position of two results of one structure."""
    if isinstance(expected, Tensor) and isinstance(got, Tensor):
        places = product(*map(range, expected.shape))
        yield from zip(places, got.flatten().tolist(), expected.flatten().tolist(), strict=True)
    elif isinstance(expected, dict):
        yield from ((key, got.get(key, NOTHING), expected.get(key, NOTHING)) for key in expected | got)
    elif isinstance(expected, (tuple, list)):
        yield from ((i, *pair) for i, pair in enumerate(zip(got, expected, strict=True)))
    else:
        yield (), got, expected


def _side(wrong: list[Entry]) -> str:
    """The side to which all wrong numbers err, "large" or "small"; empty where there is none."""
    if not all(values.is_number(number) and not isinstance(number, bool) for _, *pair in wrong for number in pair):
        return ""
    if all(mine > right for _, mine, right in wrong):
        return "large"
    return "small" if all(mine < right for _, mine, right in wrong) else ""


def _along(wrong: list[Entry], expected: Any) -> dict[int, list[int]]:
    """The positions to which the wrong numbers of a tensor keep, by axis."""
    sizes = enumerate(expected.shape if isinstance(expected, Tensor) else ())
    found = {axis: (size, sorted({place[axis] for place, *_ in wrong})) for axis, size in sizes}
    return {axis: positions for axis, (size, positions) in found.items() if len(positions) < size}
