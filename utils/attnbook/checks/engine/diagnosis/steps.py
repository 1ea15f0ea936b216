"""What the right function gives when one step of it is another: a sum instead of a mean, another axis, nothing at all.

The reference is run again and again, each time with one of torch's operations changed at one place of its source.
"""

import dis
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from .claims import Case, Claim, Mode, caused

Step = tuple[Callable, tuple, dict]  # an operation and what it was called with
Change = Callable[[Callable, tuple, dict], Any]  # what is done instead
Place = tuple[CodeType, int]  # where in which function's bytecode

ALIKE = (  # operations that stand for each other, as they are written; the first arguments are the same
    {name: f"`{name}`" for name in ("relu", "sigmoid", "tanh", "abs", "exp", "log", "sin", "cos", "sqrt", "square")},
    {name: f"`{name}`" for name in ("sum", "mean", "amax", "amin", "median")},
    {"add": "`+`", "sub": "`-`", "mul": "`*`", "div": "`/`", "__rsub__": "`-`", "__rdiv__": "`/`"},
    {"lt": "`<`", "le": "`<=`", "gt": "`>`", "ge": "`>=`", "eq": "`==`", "ne": "`!=`"},
    {"__and__": "`&`", "__or__": "`|`"},
)
COUNTED = {
    "triu": "the diagonal at which `triu` begins",
    "tril": "the diagonal at which `tril` ends",
    "topk": "the number of entries that `topk` takes",
}
MOVED = {"clamp", "pow", "__pow__", "softmax", "log_softmax", "neg", "masked_fill", "sum", "mean", "amax", "cumsum",
         "round", "floor", *ALIKE[0], *ALIKE[2]}  # fmt: skip
REACH = 3  # how many steps back one is moved
DROPPED = {"masked_fill", "softmax", "log_softmax", "clamp", "cumsum", "roll", "flip", "neg", *ALIKE[0]}
ADDED = (
    *((f"`{name}`", getattr(torch, name)) for name in ("relu", "sigmoid", "tanh", "square")),
    ("a softmax over the last axis", lambda x: x.softmax(-1)),
)
AFTER = (
    ("`tanh`", torch.tanh), ("a division by 2", lambda x: x / 2),
    ("`relu`, which keeps only what is above 0,", torch.relu), ("a square", torch.square),
    ("`clamp(max=0)`, which keeps only what is below 0,", lambda x: x.clamp(max=0)),
    ("`abs`", torch.abs), ("`sign`", torch.sign),
    ("a softmax over the last axis", lambda x: x.softmax(-1)),
    ("a division by the standard deviation over the last axis", lambda x: x / x.std(-1, keepdim=True)),
    ("a division by the standard deviation of all numbers", lambda x: x / x.std()),
)  # fmt: skip
_TORCH, _FAKES = str(Path(torch.__file__).parent), str(Path(__file__).parents[2] / "fakes")


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
        if not frame.f_code.co_filename.startswith(_FAKES):
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
        for words, change in _changes(*step):
            yield _changed(words, place, lambda case, change=change: change)
        for i, name in masks if step[0].__name__ == "sum" else ():
            words = f"`sum` is divided by the number of True in each row of `{name}`"
            yield _changed(words, place, lambda case, i=i: _per_row(case.args[i].sum(-1)))


def once_changed(case: Case) -> Iterator[Claim]:
    """The same for a single time of a step in a loop."""
    for place, step in _traced(case).seen.items():
        for words, change in _changes(*step) if _loops(place[0]) else ():
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
    return ALIKE[2].get(name, f"`{name}`")


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


def _next(function: Callable, args: tuple, kwargs: dict, by: int) -> Tensor:
    """A position moved on along the axis on which it was found, to the ends at most."""
    axis = kwargs.get("dim", args[1] if len(args) > 1 else -1)
    return (function(*args, **kwargs) + by).clamp(0, args[0].shape[axis] - 1)


def _per_row(count: Tensor) -> Change:
    """What an operation gives, divided by a number for each row."""

    def divided(function: Callable, args: tuple, kwargs: dict) -> Tensor:
        result = function(*args, **kwargs)
        return result / count.view(*count.shape, *[1] * (result.dim() - count.dim()))

    return divided


def _changes(function: Callable, args: tuple, kwargs: dict) -> Iterator[tuple[str, Change]]:
    """What may be done in place of one step, in words."""
    name = function.__name__
    if name in ALIKE[2]:
        yield from _operands(ALIKE[2][name], *args[:2])
    for names in (names for names in ALIKE if name in names):
        for other in names:
            if names[other] != names[name] and not other.startswith("__r"):
                words = f"{names[name]} is replaced by {names[other]}"
                yield words, lambda f, a, k, other=other: getattr(Tensor, other)(*a, **k)
    if name in DROPPED:
        yield f"`{name}` is left out", lambda f, a, k: a[0]
    yield from _axes(name, args, kwargs)
    if name == "relu":
        words = "`relu` is replaced by `clamp(max=0)`, which keeps what is *below* 0"
        yield words, lambda f, a, k: a[0].clamp(max=0)
    if name in ("add", "sub", "__rsub__", "rsub"):
        sign = "+" if name == "add" else "-"
        for words, more in AFTER:
            yield f"{words} follows a `{sign}`", lambda f, a, k, more=more: more(f(*a, **k))
    if name == "add":
        yield "`+` is replaced by `-`, the second part minus the first", lambda f, a, k: a[1] - a[0]
    if name in ("pow", "__pow__"):
        yield "the exponent is larger by 1", lambda f, a, k: f(a[0], a[1] + 1)
        yield "the exponent is smaller by 1", lambda f, a, k: f(a[0], a[1] - 1)
    if name in ("argmax", "argmin"):
        yield f"the position that `{name}` finds is one too large", lambda f, a, k: _next(f, a, k, 1)
        yield f"the position that `{name}` finds is one too small", lambda f, a, k: _next(f, a, k, -1)
    for number, arg in enumerate(args[1:], 1) if name in COUNTED else ():
        for by, size in ((1, "larger"), (-1, "smaller")) if type(arg) is int else ():
            words = f"{COUNTED[name]} is {size} by 1"
            yield words, lambda f, a, k, n=number, by=by: f(*a[:n], a[n] + by, *a[n + 1 :], **k)
    if name == "clamp":
        yield from _limits(args, kwargs)
    if name == "roll":
        for by in (-2, -1, 1, 2):
            yield f"`roll` moves by {by}", lambda f, a, k, by=by: f(a[0], by, *a[2:], **k)
    if name in ("cat", "stack"):
        yield f"the parts of `{name}` stand in the reverse order", lambda f, a, k: f([*a[0]][::-1], *a[1:], **k)
    if name == "matmul":
        yield "the second factor of a matrix product is transposed", lambda f, a, k: f(a[0], a[1].mT)
        words = "in place of a sum of products (`@`), two sums are multiplied: each number meets all of the others"
        yield words, lambda f, a, k: a[0].sum(-1, keepdim=True) * a[1].sum(-2, keepdim=True)
        for words, more in ADDED:
            yield f"{words} follows a matrix product", lambda f, a, k, more=more: more(f(*a, **k))


def _limits(args: tuple, kwargs: dict) -> Iterator[tuple[str, Change]]:
    """One limit of `clamp` alone, or the lower one added."""
    both = _limit(args, kwargs, "min") is not None and _limit(args, kwargs, "max") is not None
    if both:
        yield "the lower limit of `clamp` is left out", lambda f, a, k: a[0].clamp(max=_limit(a, k, "max"))
        yield "the upper limit of `clamp` is left out", lambda f, a, k: a[0].clamp(min=_limit(a, k, "min"))
        yield (
            "the lower limit of `clamp` is added instead",
            lambda f, a, k: (a[0] + _limit(a, k, "min")).clamp(max=_limit(a, k, "max")),
        )
        yield (
            "the lower limit of `clamp` is added afterwards instead",
            lambda f, a, k: a[0].clamp(max=_limit(a, k, "max")) + _limit(a, k, "min"),
        )
    elif _limit(args, kwargs, "min") is not None:
        yield "the limit of `clamp` is added instead", lambda f, a, k: a[0] + _limit(a, k, "min")


def _limit(args: tuple, kwargs: dict, name: str) -> Any:
    place = ("min", "max").index(name) + 1
    return kwargs.get(name, args[place] if len(args) > place else None)


def _operands(sign: str, first: Any, second: Any) -> Iterator[tuple[str, Change]]:
    """One side of a sum, difference, product or quotient alone, or with a number that is one larger or smaller."""
    for number, which in enumerate(("second", "first")):
        yield f"the {which} part of a `{sign[1:-1]}` is left out", lambda f, a, k, n=number: a[n]
    if type(second) is int:
        for by in (1, -1):
            words = f"the number {second} beside a `{sign[1:-1]}` is {second + by}"
            yield words, lambda f, a, k, by=by: f(a[0], a[1] + by, **k)


def _axes(name: str, args: tuple, kwargs: dict) -> Iterator[tuple[str, Change]]:
    """Another axis, where an operation is told one."""
    key = next((key for key in ("dim", "dims") if type(kwargs.get(key)) is int), None)
    given = kwargs[key] if key else args[1] if len(args) > 1 else None
    if not isinstance(args[0], Tensor) or type(given) is not int or not (key or name in DROPPED | {*ALIKE[1]}):
        return
    for axis in range(args[0].dim()):
        if axis != given % args[0].dim() and (key or name != "roll"):
            words = f"`{name}` goes along axis {axis}, not axis {given % args[0].dim()}"
            if key:
                yield words, lambda f, a, k, axis=axis: f(*a, **{**k, key: axis})
            else:
                yield words, lambda f, a, k, axis=axis: f(a[0], axis, *a[2:], **k)
