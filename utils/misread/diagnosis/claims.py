"""A claim about a wrong result: a sentence, and a test that says on each input whether the sentence is true."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .. import values
from ..exercise import Exercise
from ..sandbox import Run

CLOSE = 1e-6  # a result that is explained agrees with its explanation to about six digits
WORK = 80_000  # torch's calls in all runs of one explanation, about 0.4 seconds
RUN = 30  # what a run takes besides, in such calls
NUMBERS = 3  # a relation between numbers is shown by that many different ones, since two lie on many curves


class Budget:
    """The work that is left to an explanation. It is counted, not timed: a verdict is the same on every machine."""

    def __init__(self, work: float = WORK):
        self.left, self.price = work, 0
        self._done: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make()` gives, worked out the first time and kept. One that stops is not tried again."""
        if key not in self._done:
            self._done[key] = ValueError("it stopped before")
            self._done[key] = make()
        if isinstance(self._done[key], ValueError):
            raise self._done[key]
        return self._done[key]

    def pay(self, case: Case) -> None:
        """Take off one run. Raises ValueError when too little is left; then only what needs no run can be true."""
        if not self.price:
            counted = _Counted()
            case.exercise.run(counted.around(case.exercise.reference), case.args)
            self.price = RUN + counted.calls
        self.left -= self.price
        if self.left < 0:
            raise ValueError("no work is left")


class Mode(TorchFunctionMode):
    """Sees each call of torch."""

    def around(self, function: Callable) -> Callable:
        """`function`, with this mode entered for as long as it runs."""

        def run(*args):
            with self:
                return function(*args)

        return run


class _Counted(Mode):
    calls = 0

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        self.calls += 1
        return function(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Case:
    """An input on which an answer is wrong: what it gave back, or one part of that, beside what is right."""

    exercise: Exercise
    answer: Callable
    args: tuple
    got: Any
    expected: Any
    part: tuple[int, ...] = ()
    budget: Budget = field(default_factory=Budget)

    @property
    def tensors(self) -> tuple[Tensor, Tensor]:
        """Got and expected as float64 tensors. Raises TypeError where they are no numbers, or of other keys."""
        if isinstance(self.got, dict) and isinstance(self.expected, dict) and self.got.keys() != self.expected.keys():
            raise TypeError("numbers under different keys cannot be compared")
        return numbers(self.got), numbers(self.expected)

    @property
    def is_mask(self) -> bool:
        """Whether True and False are wanted, so that nothing can be said in words for numbers."""
        return isinstance(self.expected, Tensor) and self.expected.dtype == torch.bool

    def is_(self, wanted: Any) -> bool:
        """Whether `wanted` is what the answer gave back, and not simply what is right."""
        got, expected = self.tensors if isinstance(wanted, Tensor) else (self.got, self.expected)
        if not same(got, wanted, max(self.exercise.tolerance, CLOSE)):
            return False
        return not values.same(expected, wanted, self.exercise.tolerance) and nearer(wanted, expected, got)

    def named(self) -> Iterator[tuple[int, str, Any]]:
        """Number, name and value of each argument."""
        yield from ((i, self.exercise.parameters[i], arg) for i, arg in enumerate(self.args))

    def run(self, function: Callable, args: tuple) -> Any:
        """The same part of `function(*args)`, a copy of the arguments. Raises ValueError where it stops."""
        self.budget.pay(self)
        done: Run = self.exercise.run(function, args)
        if done.failure is not None:
            raise ValueError(done.failure.text)
        return at(done.value, self.part)

    def of(self, part: tuple[int, ...]) -> Case:
        """The same for one part of a result that is a tuple, perhaps of tuples."""
        return replace(self, got=at(self.got, part), expected=at(self.expected, part), part=part)

    def different(self) -> set[float]:
        """The different numbers of the right result: with few of them much is true by chance."""
        try:
            return set(numbers(self.expected).flatten().nan_to_num().mul(1e6).round().tolist())
        except TypeError:
            return {0.0, 1.0}  # several results, or words


def at(value: Any, part: tuple[int, ...]) -> Any:
    """A part of a nested tuple."""
    for index in part:
        value = value[index]
    return value


@dataclass(frozen=True)
class Claim:
    """`text` says to a student what their result is; `holds` tells whether it is, None where nothing can be told.

    It counts only where the right results hold `evidence` different numbers.
    """

    kind: str
    text: str
    holds: Callable[[Case], bool | None]
    evidence: int = 1
    fits: Callable[[Case], bool] | None = None  # must be true where the answer is right, if a cause is claimed


Look = Callable[[Case], Iterator[Claim]]  # the claims that are worth a test, judging by the first input


def equals(kind: str, text: str, wanted: Callable[[Case], Any], evidence: int = 1) -> Claim:
    """The claim that the answer gave back `wanted(case)` instead of what is right."""
    return Claim(kind, text, lambda case: case.is_(wanted(case)), evidence)


def caused(kind: str, text: str, wanted: Callable[[Case], Any]) -> Claim:
    """The claim that the answer computes `wanted(case)`, so that it gives this back on every input."""
    claim = equals(kind, text, wanted)
    return replace(claim, fits=lambda case: same(case.got, wanted(case), max(case.exercise.tolerance, CLOSE)))


def becomes(kind: str, text: str, change: Callable[[Tensor], Tensor], evidence: int = 1) -> Claim:
    """The claim that the wrong result is `change(right result)`."""
    return equals(kind, text, lambda case: change(case.tensors[1]), evidence)


def restores(kind: str, text: str, change: Callable[[Tensor], Tensor], evidence: int = 1) -> Claim:
    """The claim that the right result is `change(wrong result)`."""

    def holds(case: Case) -> bool:
        got, expected = case.tensors
        restored = change(got)
        return same(restored, expected, max(case.exercise.tolerance, CLOSE)) and nearer(restored, got, expected)

    return Claim(kind, text, holds, evidence)


def nearer(first: Any, second: Any, to: Any) -> bool:
    """Whether `first` is ten times nearer to `to` than `second` is: what changes nothing explains no error of 1e-8."""
    if not all(isinstance(value, Tensor) for value in (first, second, to)):
        return True
    if not first.shape == second.shape == to.shape:
        return True
    left, before = (_error(numbers(value), numbers(to)) for value in (first, second))
    return left <= before / 10 if before < torch.inf else left < torch.inf


def _error(value: Tensor, right: Tensor) -> float:
    """The largest difference; 0 where both are the same infinity or NaN, infinite where only one of them is finite."""
    alike = (value == right) | (value.isnan() & right.isnan())
    error = (value - right).abs().nan_to_num(torch.inf).masked_fill(alike, 0.0)
    return error.max().item() if error.numel() else 0.0


def same(first: Any, second: Any, tolerance: float) -> bool:
    """Like `values.same`; small numbers must agree in their own digits, too."""
    if not values.same(first, second, tolerance):
        return False
    if not isinstance(first, Tensor) or not isinstance(second, Tensor) or not first.numel():
        return True
    first, second = numbers(first), numbers(second)
    largest = second[second.isfinite()].abs().max().item() if second.isfinite().any() else 1.0
    return torch.allclose(first, second, rtol=1e-5, atol=1e-5 * min(largest, 1.0) + 1e-12, equal_nan=True)


def close(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors agree up to rounding, NaN with NaN."""
    return torch.allclose(first, second, rtol=1e-6, atol=1e-9, equal_nan=True)


def numbers(value: Any) -> Tensor:
    """A tensor, a number, or a list or dict of numbers, as a float64 tensor; TypeError for anything else."""
    if isinstance(value, Tensor):
        return value.to(torch.float64)
    if isinstance(value, dict):
        return numbers([value[key] for key in sorted(value, key=repr)])
    if isinstance(value, (list, tuple)) and all(values.is_number(item) for item in value):
        return torch.tensor([float(item) for item in value], dtype=torch.float64)
    if not values.is_number(value):
        raise TypeError(f"{values.kind(value)} holds no numbers")
    return torch.tensor(float(value), dtype=torch.float64)


def sizes(case: Case) -> Iterator[tuple[str, Callable[[Case], float]]]:
    """The sizes and numbers among the arguments, in words, each with a function that finds it in a case."""
    for i, name, arg in case.named():
        if isinstance(arg, (int, float)) and not isinstance(arg, bool):
            yield f"`{name}`", lambda other, i=i: other.args[i]
        elif isinstance(arg, Tensor):
            for axis in range(arg.dim()):
                words = f"the size of axis {axis} of `{name}`"
                yield words, lambda other, i=i, axis=axis: other.args[i].shape[axis]
            if arg.dtype == torch.bool:
                yield f"the number of True in `{name}`", lambda other, i=i: int(other.args[i].sum())
                yield f"the number of rows of `{name}` with a True", lambda other, i=i: int(other.args[i].any(-1).sum())
        elif isinstance(arg, list) and arg:
            yield f"the number of entries of `{name}`", lambda other, i=i: len(other.args[i])
            if isinstance(arg[0], list):
                yield f"the number of entries of `{name}[0]`", lambda other, i=i: len(other.args[i][0])
            if all(type(item) is int for item in arg):
                yield f"the sum of `{name}`", lambda other, i=i: sum(other.args[i])
                yield (
                    f"the number of entries of `{name}` that are not 0",
                    lambda other, i=i: sum(map(bool, other.args[i])),
                )
