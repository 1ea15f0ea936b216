"""What may be done in place of one of torch's operations, in words: another one, another axis, nothing at all."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

Change = Callable[[Callable, tuple, dict], Any]  # what is done instead
Other = tuple[str, Change]  # in words, and what it does

POINTWISE = {  # each as it is written
    name: f"`{name}`" for name in ("relu", "sigmoid", "tanh", "abs", "exp", "log", "sin", "cos", "sqrt", "square")
}
REDUCTIONS = {name: f"`{name}`" for name in ("sum", "mean", "amax", "amin", "median")}
SIGNS = {"add": "`+`", "sub": "`-`", "mul": "`*`", "div": "`/`", "__rsub__": "`-`", "__rdiv__": "`/`"}
COMPARISONS = {"lt": "`<`", "le": "`<=`", "gt": "`>`", "ge": "`>=`", "eq": "`==`", "ne": "`!=`"}
LOGIC = {"__and__": "`&`", "__or__": "`|`"}
ALIKE = (POINTWISE, REDUCTIONS, SIGNS, COMPARISONS, LOGIC)  # operations that may stand for each other
COUNTED = {
    "triu": "the diagonal at which `triu` begins",
    "tril": "the diagonal at which `tril` ends",
    "topk": "the number of entries that `topk` takes",
}
DROPPED = {"masked_fill", "softmax", "log_softmax", "clamp", "cumsum", "roll", "flip", "neg", *POINTWISE}
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


def in_place_of(function: Callable, args: tuple, kwargs: dict) -> Iterator[Other]:
    """What may be done in place of one step."""
    name = function.__name__
    if name in SIGNS:
        yield from _operands(SIGNS[name], *args[:2])
    for names in (names for names in ALIKE if name in names):
        for other in names:
            if names[other] != names[name] and not other.startswith("__r"):
                words = f"{names[name]} is replaced by {names[other]}"
                yield words, lambda f, a, k, other=other: getattr(Tensor, other)(*a, **k)
    if name in DROPPED:
        yield f"`{name}` is left out", lambda f, a, k: a[0]
    yield from _axes(name, args, kwargs)
    yield from _bent(name)
    yield from _counted(name, args)
    yield from _joined(name)
    if name == "clamp":
        yield from _limits(args, kwargs)


def _operands(sign: str, first: Any, second: Any) -> Iterator[Other]:
    """One side of a sum, difference, product or quotient alone, or with a number that is one larger or smaller."""
    for number, which in enumerate(("second", "first")):
        words = f"the {which} part of a `{sign[1:-1]}`"
        if number == 0 and type(second) in (int, float) and sign[1:-1] in "+*":  # torch turns 3 + x into x + 3
            words = f"the number {second} beside a `{sign[1:-1]}`"
        yield f"{words} is left out", lambda f, a, k, n=number: a[n]
    if type(second) is int:
        for by in (1, -1):
            words = f"the number {second} beside a `{sign[1:-1]}` is {second + by}"
            yield words, lambda f, a, k, by=by: f(a[0], a[1] + by, **k)


def _axes(name: str, args: tuple, kwargs: dict) -> Iterator[Other]:
    """Another axis, where an operation is told one."""
    key = next((key for key in ("dim", "dims") if type(kwargs.get(key)) is int), None)
    given = kwargs[key] if key else args[1] if len(args) > 1 else None
    if not isinstance(args[0], Tensor) or type(given) is not int or not (key or name in DROPPED | {*REDUCTIONS}):
        return
    for axis in range(args[0].dim()):
        if axis != given % args[0].dim() and (key or name != "roll"):
            words = f"`{name}` goes along axis {axis}, not axis {given % args[0].dim()}"
            if key:
                yield words, lambda f, a, k, axis=axis: f(*a, **{**k, key: axis})
            else:
                yield words, lambda f, a, k, axis=axis: f(a[0], axis, *a[2:], **k)


def _bent(name: str) -> Iterator[Other]:
    """The other half of `relu`; a function that follows a sum, or a difference the other way round."""
    if name == "relu":
        words = "`relu` is replaced by `clamp(max=0)`, which keeps what is *below* 0"
        yield words, lambda f, a, k: a[0].clamp(max=0)
    if name in ("add", "sub", "__rsub__", "rsub"):
        sign = "+" if name == "add" else "-"
        for words, more in AFTER:
            yield f"{words} follows a `{sign}`", lambda f, a, k, more=more: more(f(*a, **k))
    if name == "add":
        yield "`+` is replaced by `-`, the second part minus the first", lambda f, a, k: a[1] - a[0]


def _counted(name: str, args: tuple) -> Iterator[Other]:
    """A whole number that is one larger or smaller: an exponent, a position, how far or how many."""
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
    if name == "roll":
        for by in (-2, -1, 1, 2):
            yield f"`roll` moves by {by}", lambda f, a, k, by=by: f(a[0], by, *a[2:], **k)


def _next(function: Callable, args: tuple, kwargs: dict, by: int) -> Tensor:
    """A position moved on along the axis on which it was found, to the ends at most."""
    axis = kwargs.get("dim", args[1] if len(args) > 1 else -1)
    return (function(*args, **kwargs) + by).clamp(0, args[0].shape[axis] - 1)


def _joined(name: str) -> Iterator[Other]:
    """Tensors joined in another order, and what may become of a matrix product."""
    if name in ("cat", "stack"):
        yield f"the parts of `{name}` stand in the reverse order", lambda f, a, k: f([*a[0]][::-1], *a[1:], **k)
    if name == "matmul":
        yield "the second factor of a matrix product is transposed", lambda f, a, k: f(a[0], a[1].mT)
        words = "in place of a sum of products (`@`), two sums are multiplied: each number meets all of the others"
        yield words, lambda f, a, k: a[0].sum(-1, keepdim=True) * a[1].sum(-2, keepdim=True)
        for words, more in ADDED:
            yield f"{words} follows a matrix product", lambda f, a, k, more=more: more(f(*a, **k))


def _limits(args: tuple, kwargs: dict) -> Iterator[Other]:
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
