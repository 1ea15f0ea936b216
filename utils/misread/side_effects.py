"""What can be wrong although every value is right: inputs changed, gradients lost, another type, dtype or
device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from . import elsewhere, values
from .details import NO_WAY_BACK, NOT_FINITE_SINGLE, SLOW_AGAIN, SLOW_GRADIENTS, SLOW_SINGLE, STOPS, STOPS_SINGLE
from .exercise import Exercise
from .printing import float_names
from .sandbox import Failure, Run, guarded

# Alone it only adds a remark to a right answer, unless an exercise lists it as a mistake.
DEVICE = "another device"
TIME = "runs without end"
GRADIENTS, SINGLE = "gradients", "single precision"  # what is kept of the reference's runs
SENT = 12  # inputs, about, that are tried on another device: one is often too small to show anything, all take long
GRADIENT_TOLERANCE = 1e-6  # gradients lose more digits than values do


@dataclass(frozen=True)
class Complaint:
    """One side effect: its general name (see `messages.GENERAL`), what it concerns, and where it was seen."""

    kind: str
    detail: str
    got: Run
    expected: Run
    note: str = ""


def pattern(complaints: list[Complaint]) -> frozenset:
    """What two answers with the same side effects have in common; the device counts only when it is all."""
    faults = [complaint for complaint in complaints if complaint.kind != DEVICE]
    return frozenset((complaint.kind, complaint.detail) for complaint in faults or complaints)


Runs = list[Run]


def complaints(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> list[Complaint]:
    """All complaints about an answer whose values are right, the most basic first; each kind and detail
    once."""
    found: dict[tuple[str, str], Complaint] = {}
    for search in (by_autograd, _changed, _types, _stale, _gradients, _dtypes, _devices):
        for complaint in search(exercise, answer, got, expected):
            found.setdefault((complaint.kind, complaint.detail), complaint)
    cut = any(kind == "loses the gradient" for kind, _ in found)  # a plain number is the same trouble
    kept = [one for one in found.values() if not cut or one.kind != "number instead of tensor"]
    return sorted(kept, key=lambda one: cut and one.kind == "another dtype")  # a plain number has lost its dtype, too


def by_autograd(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    """The first way only: what torch calls on its own side is not the student's."""
    pairs = [(mine, right) for mine, right in zip(got, expected, strict=False) if mine.autograd]
    for run_got, run_expected in pairs[:1]:
        yield Complaint("not by hand", run_got.autograd, run_got, run_expected)


def _changed(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    for run_got, run_expected in zip(got, expected, strict=True):
        for index in run_got.changed:
            yield Complaint("changes its input", exercise.parameters[index], run_got, run_expected)


def _types(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    for run_got, run_expected in zip(got, expected, strict=True):
        entries = _in_order(run_got, run_expected), run_expected.value
        for ours, wanted in zip(*map(_entries, entries), strict=False):
            if isinstance(wanted, Tensor) and not isinstance(ours, Tensor):
                yield Complaint("number instead of tensor", values.kind(ours), run_got, run_expected)
            elif isinstance(wanted, Tensor) and ours.dtype != wanted.dtype:
                yield _dtype(ours, wanted, run_got, run_expected)


def _in_order(got: Run, expected: Run) -> Any:
    """A value that was got; the entries of a dictionary in the order in which they are wanted, since any is right."""
    if isinstance(got.value, dict) and isinstance(expected.value, dict):
        return {key: got.value[key] for key in expected.value if key in got.value}
    return got.value


def _entries(value: Any) -> list:
    return values.parts(list(value.values()) if isinstance(value, dict) else value)


def _dtype(ours: Tensor, wanted: Tensor, got: Run, expected: Run) -> Complaint:
    ours_name, wanted_name = (str(tensor.dtype).removeprefix("torch.") for tensor in (ours, wanted))
    if wanted.dtype == torch.bool:
        ours_name = "numbers"  # which ones makes no difference
    return Complaint("another dtype", f"{ours_name} instead of {wanted_name}", got, expected)


def _stale(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    again = exercise.run(answer, got[0].args)
    if again.timed_out:
        yield Complaint(TIME, SLOW_AGAIN, got[0], expected[0])
        return
    unlike = again.failure is not None or not values.same(again.result, got[0].result, exercise.tolerance)
    present = getattr(answer, "present", list)([run.raw for run in got])  # one in another process has to be asked
    for now, run_got, run_expected in zip(present, got, expected, strict=True):
        if unlike or not values.same(values.plain(now), run_got.result):
            yield Complaint("keeps something between calls", "", run_got, run_expected)


def _dtypes(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    """The same in single precision; what shows in double precision too was seen before."""
    if not tries_single_precision(expected):
        return
    for run_expected in expected:
        wanted = _in_single_precision(exercise, run_expected)
        ours = exercise.run(answer, wanted.args)
        if ours.timed_out:
            yield Complaint(TIME, SLOW_SINGLE, ours, wanted)
            return
        if ours.failure is not None and wanted.failure is None:
            yield Complaint("another dtype", STOPS_SINGLE, ours, wanted, ours.failure.text)
        elif values.finite(wanted.value) and not values.finite(ours.value):
            yield Complaint("another dtype", NOT_FINITE_SINGLE, ours, wanted)
        for left, right in zip(values.tensors(_in_order(ours, wanted)), values.tensors(wanted.value), strict=False):
            if left.dtype != right.dtype:
                yield _dtype(left, right, ours, wanted)


def _in_single_precision(exercise: Exercise, expected: Run) -> Run:
    """The reference's run on the same input with half of its digits, worked out once."""
    if SINGLE not in expected.kept:
        narrow = values.transform(expected.args, lambda t: t.float() if t.is_floating_point() else t)
        expected.kept[SINGLE] = exercise.run(exercise.reference, narrow)
    return expected.kept[SINGLE]


def tries_single_precision(expected: Runs) -> bool:
    """Whether there is a float among the arguments, which could have half of its digits."""
    return any(tensor.is_floating_point() for tensor in values.tensors(expected[0].args))


def _devices(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    """On a second device, see `elsewhere`: the first input that shows something. Other failures say nothing."""
    for run_got, run_expected in zip(_some(got), _some(expected), strict=True):
        if complaint := _on_another_device(exercise, answer, run_got, run_expected):
            yield complaint
            return


def _on_another_device(exercise: Exercise, answer: Callable, got: Run, expected: Run) -> Complaint | None:
    if not _leads_elsewhere(exercise, expected):
        return None
    place = elsewhere.second_device(answer)
    result, failure = guarded(place.call, (answer, *place.send(got.args)))
    if failure is not None and any(words in failure.text for words in elsewhere.MIXED):
        return Complaint(DEVICE, "tensors of two devices meet", got, expected, _line(failure))
    if failure is None and not all(map(place.holds, values.tensors(result))):
        return Complaint(DEVICE, "the result stays on the CPU", got, expected)
    return None


def tries_devices(exercise: Exercise, expected: Runs) -> bool:
    """Whether an input can show that an answer makes something on the CPU which belongs on the input's device."""
    return any(_leads_elsewhere(exercise, run) for run in _some(expected))


def _some(runs: Runs) -> Runs:
    """Some of the runs, from the smallest input to the largest."""
    return [*runs[:: max(1, len(runs) // SENT)][:-1], runs[-1]]


def _leads_elsewhere(exercise: Exercise, expected: Run) -> bool:
    """Whether the reference leads from arguments on a second device to a result that is there; looked for once."""
    if not exercise.device:
        return False
    if DEVICE not in expected.kept:
        place = elsewhere.second_device(exercise.reference)
        wanted, _ = guarded(place.call, (exercise.reference, *place.send(expected.args)))
        expected.kept[DEVICE] = any(map(place.holds, values.tensors(wanted)))
    return expected.kept[DEVICE]


def load_meta() -> None:
    """Import what the meta device needs, seconds of modules: never inside the time limit of an answer."""
    torch.arange(1, device="meta")


def _line(failure: Failure) -> str:
    return f"line {failure.line}: {failure.code}" if failure.code else ""


def _gradients(exercise: Exercise, answer: Callable, got: Runs, expected: Runs) -> Iterator[Complaint]:
    for run_got, run_expected in zip(got, expected, strict=True):
        if tries_gradients(exercise, run_expected):
            ours = gradients(answer, run_got.args)
            if ours.failure is not None and ours.failure.timed_out:
                yield Complaint(TIME, SLOW_GRADIENTS, run_got, run_expected)
                return  # the other inputs would only take as long
            yield from _compare(exercise, ours, _wanted(exercise, run_expected), run_got, run_expected)


def tries_gradients(exercise: Exercise, expected: Run) -> bool:
    """Whether gradients count in this exercise, and flow from a result of the reference's run."""
    return exercise.gradients and any(_wanted(exercise, expected).flows)


def _wanted(exercise: Exercise, expected: Run) -> Gradients:
    """The reference's gradients, worked out once for each of its runs."""
    if GRADIENTS not in expected.kept:
        expected.kept[GRADIENTS] = gradients(exercise.reference, expected.args)
    return expected.kept[GRADIENTS]


@dataclass(frozen=True)
class Gradients:
    """Which result tensors carry a gradient, and what arrives at each argument (a tuple of tensors)."""

    flows: list[bool]
    arrives: list[tuple[Tensor, ...]]
    failure: Failure | None = None
    fails: str = ""  # what failed: the function itself (STOPS), or the way back from its results (NO_WAY_BACK)


def gradients(function: Callable, args: tuple) -> Gradients:
    """Send fixed random gradients back through `function(*args)`."""
    leaves: list[list[Tensor]] = [[] for _ in args]
    with torch.enable_grad():
        given = [values.transform(arg, _leaf(leaves[i])) for i, arg in enumerate(args)]
        raw, failure = guarded(function, given)
        if failure is not None:
            return Gradients([], [], failure, STOPS)
        results = [tensor for tensor in values.tensors(raw) if tensor.is_floating_point()]
        arrives, failure = guarded(_send_back, (results, leaves))
    return Gradients([tensor.requires_grad for tensor in results], arrives or [], failure, NO_WAY_BACK)


def _leaf(leaves: list[Tensor]) -> Callable[[Tensor], Tensor]:
    def change(tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            return tensor.clone()
        leaves.append(tensor.detach().clone().requires_grad_())
        return leaves[-1].clone()  # no leaf itself: torch would refuse a write that was complained of already

    return change


def _send_back(results: list[Tensor], leaves: list[list[Tensor]]) -> list[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    total = torch.zeros(())
    for tensor in results:
        sent = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
        sent = sent.masked_fill(~tensor.detach().isfinite().cpu(), 0.0)  # no way leads back through an infinity
        total = total + (tensor * sent.to(tensor.dtype)).sum()
    flat = [leaf for group in leaves for leaf in group]
    if not total.requires_grad or not flat:
        return [tuple(torch.zeros_like(leaf) for leaf in group) for group in leaves]
    found = iter(torch.autograd.grad(total, flat, allow_unused=True))
    return [tuple(_or_zeros(next(found), leaf) for leaf in group) for group in leaves]


def _or_zeros(gradient: Tensor | None, leaf: Tensor) -> Tensor:
    return torch.zeros_like(leaf) if gradient is None else gradient


def _compare(exercise: Exercise, ours: Gradients, wanted: Gradients, got: Run, expected: Run) -> Iterator[Complaint]:
    if ours.failure is not None:
        yield Complaint("loses the gradient", ours.fails, got, expected, ours.failure.text)
        return
    lost = [i for i, flows in enumerate(wanted.flows) if flows and not any(ours.flows[i : i + 1])]
    if lost and any(slope.any() for group in wanted.arrives for slope in group):  # of nothing, nothing is lost
        names = float_names(exercise, expected.value)
        yield Complaint("loses the gradient", ", ".join(dict.fromkeys(names[i] for i in lost)), got, expected)
        return
    compared = _one_form(exercise, ours, got.args), _one_form(exercise, wanted, got.args)
    for name, raw, left, right in zip(exercise.parameters, ours.arrives, *compared, strict=True):
        kind = _difference(raw, left, right, max(exercise.tolerance, GRADIENT_TOLERANCE))
        if kind is not None:
            yield Complaint(kind, name, got, expected)


def _one_form(exercise: Exercise, found: Gradients, args: tuple) -> list[tuple[Tensor, ...]]:
    if exercise.canonical_gradients is None:
        return found.arrives
    single = [group[0] if group else None for group in found.arrives]
    return [() if slope is None else (slope,) for slope in exercise.canonical_gradients(single, *args)]


Group = tuple[Tensor, ...]


def _difference(raw: Group, left: Group, right: Group, tolerance: float) -> str | None:
    if not values.finite(raw) and values.finite(right):
        return "gradient is not a number"
    if values.same(left, right, tolerance):
        return None
    return "gradient does not arrive" if not any(tensor.any() for tensor in raw) else "wrong gradient"
