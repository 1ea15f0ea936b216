"""What the right function gives when one step of it is another: a sum instead of a mean, another axis, nothing at all.

The reference is run again and again, each time with one of torch's operations changed at one place of its source.
"""

import dis
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from .claims import Case, Claim, Mode, caused
from .other_steps import POINTWISE, SIGNS, Change, in_place_of

Step = tuple[Callable, tuple, dict]  # an operation and what it was called with
Place = tuple[CodeType, int]  # where in which function's bytecode

MOVED = {"clamp", "pow", "__pow__", "softmax", "log_softmax", "neg", "masked_fill", "sum", "mean", "amax", "cumsum",
         "round", "floor", *POINTWISE, *SIGNS}  # fmt: skip
REACH = 3  # how many steps back one is moved
_TORCH = str(Path(torch.__file__).parent)


@cache
def _is_of_a_fake(filename: str) -> bool:
    """Whether code stands in a file of fakes: a course keeps its own in a folder of that name."""
    return "fakes" in (Path(filename).stem, Path(filename).parent.name)


class _Steps(Mode):
    """While it is entered: notes each place that calls torch, and calls something else at some of them.

    In a loop a place is come to several times: `only` is the number of the one time that counts, from 1 on.
    """

    def __init__(self, changes: Mapping[Place, Change] | None = None, only: int | None = None):
        super().__init__()
        self.changes, self.only = changes or {}, only
        self.seen: dict[Place, Step] = {}
        self.results: dict[Place, Any] = {}
        self.times: Counter[Place] = Counter()

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_TORCH):
            frame = frame.f_back
        place, kwargs = (frame.f_code, frame.f_lasti), kwargs or {}
        if not _is_of_a_fake(frame.f_code.co_filename):
            self.seen.setdefault(place, (function, args, kwargs))
        self.times[place] += 1
        change = self.changes.get(place) if self.only in (None, self.times[place]) else None
        result = function(*args, **kwargs) if change is None else change(function, args, kwargs)
        self.results.setdefault(place, result)
        return result


def _traced(case: Case) -> _Steps:
    """The steps of the reference, noted once for an input."""

    def run() -> _Steps:
        steps = _Steps()
        case.run(steps.around(case.exercise.reference), case.args)
        return steps

    return case.budget.once(("traced", id(case.args)), run)


def one_changed(case: Case) -> Iterator[Claim]:
    """The right result, but for one step of the reference."""
    masks = [(i, name) for i, name, arg in case.named() if isinstance(arg, Tensor) and arg.dtype == torch.bool]
    for place, step in _traced(case).seen.items():
        for words, change in in_place_of(*step):
            yield _changed(words, place, lambda case, change=change: change)
        for i, name in masks if step[0].__name__ == "sum" else ():
            words = f"`sum` is divided by the number of True in each row of `{name}`"
            yield _changed(words, place, lambda case, i=i: _per_row(case.args[i].sum(-1)))


def once_changed(case: Case) -> Iterator[Claim]:
    """The same for a single time of a step in a loop."""
    for place, step in _traced(case).seen.items():
        for words, change in in_place_of(*step) if _loops(place[0]) else ():
            for which in ("first", "last"):
                words_once = f"{words}, the {which} time only"
                yield _changed(words_once, place, lambda case, change=change: change, which)


def reordered(case: Case) -> Iterator[Claim]:
    """The right result, but for one step that is taken earlier."""
    steps = _traced(case)
    for later in steps.seen:
        for earlier, way in _leading_to(steps, later):
            names = [_name(steps.seen[place][0].__name__) for place in (later, earlier)]
            operands = steps.seen[earlier][1]
            for at in range(len(operands)) if names[0] != names[1] else ():
                if isinstance(operands[at], Tensor):
                    text = (
                        "The right computation gives your result when two of its steps are taken in another order: "
                        f"{names[0]} before {names[1]}."
                    )
                    wanted = partial(_taken_before, places=(later, earlier), way=way, at=at)
                    yield caused("two steps exchanged", text, wanted)


def _leading_to(steps: _Steps, later: Place) -> Iterator[tuple[Place, int]]:
    """The steps whose result a step that can be moved is made of, with the operand that comes from there."""
    function, args, _ = steps.seen[later]
    if function.__name__ not in MOVED or steps.times[later] > 1:
        return
    for way, operand in enumerate(args):
        sources = [place for place, result in steps.results.items() if result is operand]
        for _ in range(REACH):
            yield from ((place, way) for place in sources if steps.times[place] == 1)
            inputs = [arg for place in sources for arg in steps.seen[place][1] if isinstance(arg, Tensor)]
            sources = [place for place, result in steps.results.items() if any(result is arg for arg in inputs)]


def _name(name: str) -> str:
    return SIGNS.get(name, f"`{name}`")


def _taken_before(case: Case, places: tuple[Place, Place], way: int, at: int) -> Any:
    """The right result with the later one of two steps at an operand of the earlier one."""
    later, earlier = places
    function, args, kwargs = _traced(case).seen[later]

    def first(other: Callable, operands: tuple, named: dict) -> Any:
        moved = function(*(*args[:way], operands[at], *args[way + 1 :]), **kwargs)
        return other(*(*operands[:at], moved, *operands[at + 1 :]), **named)

    changes = {earlier: first, later: lambda f, a, k: a[way]}
    return case.run(_Steps(changes).around(case.exercise.reference), case.args)


def _loops(code: CodeType) -> bool:
    return any(step.opname == "FOR_ITER" for step in dis.get_instructions(code))


def _changed(words: str, place: Place, change: Callable[[Case], Change], which: str = "") -> Claim:
    text = f"The right computation gives your result when one step of it is changed: {words}."

    def run(case: Case) -> Any:
        steps = _Steps({place: change(case)}, _time(case, place, which))
        return case.run(steps.around(case.exercise.reference), case.args)

    return caused(
        "one step changed", text, lambda case: case.budget.once((words, place, id(case.args)), lambda: run(case))
    )


def _time(case: Case, place: Place, which: str) -> int | None:
    """The number of the first or the last time that a place is come to."""
    if which != "last":
        return 1 if which else None
    return _traced(case).times[place]


def _per_row(count: Tensor) -> Change:
    """What an operation gives, divided by a number for each row."""

    def divided(function: Callable, args: tuple, kwargs: dict) -> Tensor:
        result = function(*args, **kwargs)
        return result / count.view(*count.shape, *[1] * (result.dim() - count.dim()))

    return divided
