"""Other numbers in the right positions: scaled, shifted, through a function, normalised otherwise, with few digits."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations

import torch
from torch import Tensor

from .. import values
from . import claims
from .changes import FUNCTIONS
from .claims import Case, Claim, becomes, equals, numbers, restores, sizes

ROUNDINGS: tuple[tuple[str, Callable[..., Tensor]], ...] = (
    ("rounded down", torch.floor), ("rounded up", torch.ceil), ("rounded", torch.round),
    ("without the digits behind the decimal point", torch.trunc),
)  # fmt: skip


# Where nothing but ones comes out, much else may be the cause.
LEVELLED: tuple[tuple[str, Callable[..., Tensor]], ...] = (
    ("cut off at 0 and 1", lambda x: x.clamp(0, 1)),
    ("turned into 0 and 1 (zero or not)", lambda x: (x != 0).double()),
)


SHARES: tuple[tuple[str, Callable[..., Tensor]], ...] = (
    ("the sum of all its numbers", lambda x: x / x.sum()),
    ("its largest number", lambda x: x / x.max()),
    ("the sum over its last axis", lambda x: x / x.sum(-1, keepdim=True)),
)


def rounded(case: Case) -> Iterator[Claim]:
    """The right result rounded, or divided by its length, its sum, its largest number."""
    for what, change in ROUNDINGS:
        text = f"Your result is the right one, but {what}. Do the numbers become integers or truth values on the way?"
        yield becomes("rounded", text, change, claims.NUMBERS)
    for what, change in LEVELLED:
        claim = becomes("rounded", f"Your result is the right one, but {what}.", change, claims.NUMBERS)
        yield replace(claim, holds=lambda case, holds=claim.holds: holds(case) if _varied(case.tensors[0]) else None)
    for axis in range(case.tensors[1].dim()):
        text = f"Your result is the right one with each vector along axis {axis} divided by its length."
        yield becomes("divided by the length", text, lambda x, a=axis: x / x.norm(dim=a, keepdim=True), claims.NUMBERS)
    for words, change in SHARES:
        text = f"Your result is the right one divided by {words}."
        yield becomes("normalised once more", text, change, claims.NUMBERS)


def _varied(numbers: Tensor) -> bool:
    return bool((numbers != numbers.flatten()[:1]).any())


def functions(case: Case) -> Iterator[Claim]:
    """The right result went through a function that it should not, or the other way round."""
    over_axes = [
        (f"{name} over axis {axis}", lambda x, axis=axis, change=change: change(x, axis))
        for axis in range(case.tensors[1].dim())
        for name, change in (("softmax", torch.softmax), ("log-softmax", torch.log_softmax))
    ]
    for several in (FUNCTIONS, over_axes):
        for name, change in several:
            text = f"Your result is the {name} of the right one."
            yield from _probabilities(case) if name == "exponential" else ()
            yield becomes("one function too many", text, change, claims.NUMBERS)
        for name, change in several:
            text = f"The right result is the {name} of yours."
            yield restores("one function too few", text, change, claims.NUMBERS)


def _probabilities(case: Case) -> Iterator[Claim]:
    """The exponential, where nothing is above 0 and each row of exponentials sums to 1."""
    if _sums_to_one(case.tensors[1].exp(), -1):
        text = (
            "Your result is the exponential of the right one: probabilities, where their logarithms are wanted "
            "(`log_softmax` in place of `softmax`)."
        )
        yield becomes("one function too many", text, torch.exp, claims.NUMBERS)


KNOWN = {
    2.0: "2", 0.5: "½", math.log(2): "log 2", 100.0: "100", 180 / math.pi: "180 / π",
    1 / math.log(2): "1 / log 2: logarithms to base 2 instead of natural ones",
    1 / math.log(10): "1 / log 10: logarithms to base 10 instead of natural ones",
    math.sqrt(2): "√2", 1 / math.sqrt(2): "1 / √2", 2 * math.pi: "2π",
}  # fmt: skip
POWERS = (
    ("n", lambda n: n), ("1 / n", lambda n: 1 / n), ("√n", math.sqrt), ("1 / √n", lambda n: 1 / math.sqrt(n)),
    ("n / (n − 1)", lambda n: n / (n - 1)), ("(n − 1) / n", lambda n: (n - 1) / n), ("n²", lambda n: n * n),
    ("√(n / (n − 1))", lambda n: math.sqrt(n / (n - 1))), ("√((n − 1) / n)", lambda n: math.sqrt((n - 1) / n)),
    ("1 / n²", lambda n: n**-2), ("log n", lambda n: math.log(n)), ("1 / log n", lambda n: 1 / math.log(n)),
    ("n + 1", lambda n: n + 1), ("n − 1", lambda n: n - 1), ("1 − n", lambda n: 1 - n),
    ("1 / (1 − n)", lambda n: 1 / (1 - n)),
)  # fmt: skip
OWN = "by a number that is different for each input"


def factor(case: Case) -> Iterator[Claim]:
    """The sign, one factor, or one that is a size of the input."""
    text = "Your result has the right size and the wrong sign."
    yield becomes("wrong sign", text, torch.neg, claims.NUMBERS)
    ratio = _ratio(case)
    if ratio is None or abs(ratio - 1) < 1e-4:
        return
    value = next((known for known in KNOWN if math.isclose(known, ratio, rel_tol=1e-6)), ratio)
    if value in KNOWN:
        yield _times(KNOWN[value], lambda case: value)
    for words, size in sizes(case):
        for power, function in POWERS:
            yield _times(f"{power}, where n is {words}", lambda case, s=size, f=function: f(s(case)))
    for (first, n), (second, m) in permutations(sizes(case), 2):
        words = f"n / m, where n is {first} and m is {second}"
        yield _times(words, lambda case, n=n, m=m: n(case) / m(case))
    yield _times(f"{value:.5g} wherever it is wrong", lambda case: value)


def power(case: Case) -> Iterator[Claim]:
    """The right result, raised to a power: logarithms of another base, or multiplied before the exponential."""
    got, expected = (tensor.flatten()[:1] for tensor in case.tensors)
    if got > 0 and expected > 0 and 1 not in (got, expected):  # whatever has the power 0 is 1
        ratio = (got.log() / expected.log()).item()
        value = next((known for known in KNOWN if math.isclose(known, ratio, rel_tol=1e-6)), ratio)
        text = f"Your result is the right one to the power {KNOWN.get(value, f'{value:.5g}')} wherever it is wrong."
        yield becomes("raised to a power", text, lambda right: right**value, claims.NUMBERS)


def _times(words: str, number: Callable[[Case], float]) -> Claim:
    text = f"Your result is the right one times {words}."
    return equals("off by a factor", text, lambda case: number(case) * case.tensors[1], claims.NUMBERS)


def _ratio(case: Case) -> float | None:
    """The one factor between expected and got, or None."""
    got, expected = case.tensors
    use = expected.isfinite() & got.isfinite() & (expected != 0)
    if got.shape != expected.shape or not use.any():
        return None
    ratios = got[use] / expected[use]
    whole = torch.allclose(got[~use], expected[~use], atol=1e-9, equal_nan=True)
    return ratios[0].item() if whole and torch.allclose(ratios, ratios[0], rtol=1e-5, atol=0) and ratios[0] else None


def offset(case: Case) -> Iterator[Claim]:
    """One number added everywhere."""
    got, expected = case.tensors
    use = expected.isfinite() & got.isfinite()
    if got.shape == expected.shape and use.any():
        added = (got[use] - expected[use])[0].item()
        text = f"Your result is the right one plus {added:.5g} wherever it is wrong."
        yield becomes("a constant added", text, lambda right: right + added, claims.NUMBERS)


def _offset_of_all(case: Case) -> bool:
    return not case.tensors[0].isnan().any() and _alone(_difference(case), case.tensors[1].dim())


def _difference(case: Case) -> Tensor:
    """Got minus expected, NaN where both are the same infinity, which tells nothing."""
    got, expected = case.tensors
    return torch.where(expected.isfinite(), got - expected, torch.where(got == expected, float("nan"), torch.inf))


def _quotient(case: Case) -> Tensor:
    """Got divided by expected, NaN where both are 0."""
    got, expected = case.tensors
    return torch.where((expected == 0) & got.abs().le(1e-9), float("nan"), got / expected)


def _alone(tensor: Tensor, axes: int) -> bool:
    """Whether all numbers along the last `axes` axes are the same, where there are any."""
    flat = tensor.flatten(tensor.dim() - axes) if axes else tensor[..., None]
    low, high = flat.nan_to_num(float("inf")).amin(-1), flat.nan_to_num(float("-inf")).amax(-1)
    return flat.shape[-1] > 1 and bool((high - low <= 1e-6 * (1 + high.abs())).all())


def own_number(case: Case) -> Iterator[Claim]:
    """Each matrix, row or column off by a number of its own. A mask has no numbers."""
    for axes, row in ((2, "matrix"), (1, "row"), (-1, "column")) if not case.is_mask else ():
        text = (
            f"Each {row} of your result is the right one times a number of its own, "
            "as if it had not been normalised, or over another axis."
        )
        yield Claim(f"a factor for each {row}", text, lambda case, axes=axes: _by_rows(case, axes, _quotient))
        if row != "column":
            text = f"Each {row} of your result is the right one plus a number of its own."
            yield Claim(
                f"a number added to each {row}", text, lambda case, axes=axes: _by_rows(case, axes, _difference)
            )


def _by_rows(case: Case, axes: int, compared: Callable[[Case], Tensor]) -> bool | None:
    """Whether one number alone tells got from expected in each row of so many axes, or in each column (-1)."""
    got, expected = case.tensors
    if axes < 0:
        return _by_rows(replace(case, got=got.mT, expected=expected.mT), -axes, compared)
    if expected.dim() <= axes or got.shape != expected.shape or expected.shape[-1] < 2:
        return None
    if not torch.equal(got.isfinite(), expected.isfinite()):  # NaN has nothing to do with any number
        return False
    found = compared(case)
    if compared is _quotient and bool((found == 0).any()):  # a row of zeros isn't the right one scaled
        return False
    return False if _alone(found, expected.dim()) else _alone(found, axes)


def normalised(case: Case) -> Iterator[Claim]:
    """What should sum to one along an axis does so along another one, or not at all."""
    if case.is_mask:
        return
    rank = case.tensors[1].dim()
    for axis in (axis for axis in reversed(range(rank)) if _sums_to_one(case.tensors[1], axis)):
        for other in (other for other in range(rank) if other != axis):
            text = f"Your result sums to 1 along axis {other}; it should do so along axis {axis}."
            yield Claim(
                "normalised along another axis",
                text,
                lambda case, a=axis, o=other: _lost(case, a) and _sums_to_one(case.tensors[0], o),
            )
        text = f"Your result should sum to 1 along axis {axis} and does not."
        yield Claim("not normalised", text, lambda case, a=axis: _lost(case, a))


def _lost(case: Case, axis: int) -> bool:
    got, expected = case.tensors
    return _sums_to_one(expected, axis) and not _sums_to_one(got, axis)


def _sums_to_one(tensor: Tensor, axis: int) -> bool:
    """Where nothing may be attended to the sum is 0."""
    sums = tensor.sum(axis)
    return bool(((sums - 1).abs() < 1e-6).logical_or(sums == 0).all() and (sums != 0).any() and (tensor >= 0).all())


def precision(case: Case) -> Iterator[Claim]:
    """Right to a few digits."""
    for limit, words in ((3e-8, "about eight digits"), (3e-6, "about six digits"), (2e-2, "two or three digits")):
        text = (
            f"Your result agrees with the right one in {words} only. Is a part of it computed with fewer digits than "
            "the input has, or rounded? Or is a small number such as 1e-6 added where none is wanted, or a large one "
            "such as −1e9, which cancels later?"
        )
        yield Claim("few digits", text, lambda case, limit=limit: _near(case, limit))


def _near(case: Case, limit: float) -> bool | None:
    """Whether only the last digits are wrong; None where whole numbers are right, which have none."""
    got, expected = case.tensors
    if got.shape != expected.shape or torch.equal(got, expected):
        return False
    if not torch.allclose(got, expected, rtol=limit, atol=limit * _scale(expected, limit), equal_nan=True):
        return False
    return None if torch.equal(expected, expected.round()) else True


def _scale(expected: Tensor, limit: float) -> float:
    """What an error is measured by: a tenth of the largest number, because one that is nearly 0 beside it is rounded as
    it is. An error in the third digit is no rounding."""
    return 1e-2 if limit > 1e-3 else max(1e-2, 0.1 * float(expected.nan_to_num(0.0, 0.0, 0.0).abs().max()))


def digits_lost(case: Case) -> Iterator[Claim]:
    """Wrong only where large numbers nearly cancel each other, by about what they are rounded."""
    text = (
        "Your result is wrong only where the numbers of the input are far larger than the right result, by about what "
        "such numbers are rounded. Is something computed in single precision, for example after `.float()`? Otherwise "
        "subtract first, and then square or sum: in a² + b² − 2ab, as `torch.cdist` computes it for many points, the "
        "digits that count are lost."
    )
    yield Claim("digits lost", text, _cancels)


def _cancels(case: Case) -> bool:
    got, expected = case.tensors
    real = [tensor for tensor in values.carried(case.args) if tensor.is_floating_point() and tensor.numel()]
    if got.shape != expected.shape or not real or not (got.isfinite() & expected.isfinite()).all():
        return False
    error, right = (got - expected).abs().max(), expected.abs().max()
    largest = max(tensor.abs().max().double() for tensor in real)
    return bool(error <= 1e-7 * largest and error <= 0.2 * right and right <= 1e-2 * largest)


def linear(case: Case) -> Iterator[Claim]:
    """One factor and one constant."""
    line = _line(case)
    if line is not None and abs(line[0]) > 1e-6:
        slope, start = line
        text = f"Your result is the right one times {slope:.5g}, plus {start:.5g}, wherever it is wrong."
        yield becomes("a factor and a constant", text, lambda right: slope * right + start, claims.NUMBERS)


def unsteady(case: Case) -> Iterator[Claim]:
    """A factor, a constant, or both, that are others on each input: what the result shows, and not the cause."""
    text = f"Your result is the right one multiplied {OWN}."
    yield Claim("off by a factor", text, lambda case: None if len(case.different()) < 2 else _ratio(case) is not None)
    text = f"Your result is the right one, raised or lowered everywhere {OWN}."
    yield Claim("a constant added", text, lambda case: len(case.different()) > 1 and _offset_of_all(case))
    text = (
        "Your result is the right one times one number, plus another, and these numbers are different for each input."
    )
    yield Claim("a factor and a constant", text, lambda case: _line(case) is not None)


def _line(case: Case) -> tuple[float, float] | None:
    """Slope and start of the line that all numbers lie on, right against got; None where there is none."""
    got, expected = case.tensors
    if got.shape != expected.shape or len(case.different()) < 4 or not (got.isfinite() & expected.isfinite()).all():
        return None
    ends = torch.stack([expected.flatten().argmin(), expected.flatten().argmax()])
    (x0, x1), (y0, y1) = expected.flatten()[ends].tolist(), got.flatten()[ends].tolist()
    slope = (y1 - y0) / (x1 - x0)
    wanted = slope * (expected - x0) + y0
    return (slope, y0 - slope * x0) if torch.allclose(got, wanted, rtol=1e-6, atol=1e-8) else None


JOINED = (
    ("plus `{}`", lambda x, y: x + y), ("minus `{}`", lambda x, y: x - y), ("times `{}`", lambda x, y: x * y),
    ("divided by `{}`", lambda x, y: x / y), ("subtracted from `{}`", lambda x, y: y - x),
)  # fmt: skip


def with_arguments(case: Case) -> Iterator[Claim]:
    """An argument added, taken off, multiplied with or divided by."""
    for i, name, arg in case.named():
        for words, change in JOINED if isinstance(arg, (Tensor, float)) else ():

            def holds(case: Case, i: int = i, change: Callable = change) -> bool | None:
                if not numbers(case.args[i]).any():
                    return None  # anything times 0 is 0, so a result of zeros would tell nothing
                return case.is_(change(case.tensors[1], case.args[i]))

            text = f"Your result is the right one {words.format(name)}."
            yield Claim("an argument too many", text, holds, claims.NUMBERS)
