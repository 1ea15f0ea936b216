"""Small values printed so that a student can compare them by eye."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from torch import Tensor

from . import values

LARGEST = 64  # tensors with more numbers are only described
WIDTH = 96
LINE = 70


def text(value: Any, decimals: int = 4) -> str:
    """A value as it would be written down; long tensors by type and shape."""
    if isinstance(value, Tensor):
        return _tensor(value, decimals)
    if isinstance(value, float):
        return f"{value + 0.0:.{decimals}g}"  # −0 is 0 to a reader
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {text(item, decimals)}" for key, item in value.items()) + "}"
    if isinstance(value, (set, frozenset)):
        return "set()" if not value else "{" + ", ".join(repr(item) for item in sorted(value, key=repr)) + "}"
    if hasattr(value, "_fields"):  # a named tuple of tensors says itself what it is
        return repr(value)
    if isinstance(value, (tuple, list)) and not any(isinstance(item, Tensor) for item in value):
        left, right = "[]" if isinstance(value, list) else "()"
        entries = [text(item, decimals) for item in value]
        between = ", " if sum(map(len, entries)) < LINE else ",\n "
        return left + between.join(entries) + right
    if callable(value) and not hasattr(value, "transformed"):
        return "a function"
    return values.kind(value) if isinstance(value, values.Strange) else repr(value)


def _tensor(value: Tensor, decimals: int) -> str:
    if value.numel() > LARGEST or value.numel() == 0:
        return values.kind(value)
    array = value.detach().cpu().numpy()
    look: dict[str, Any] = {"precision": decimals, "suppress_small": True, "separator": ", ", "max_line_width": LINE}
    if array.dtype.kind == "f" and _tiny(array, decimals):
        look["formatter"] = {"float_kind": partial(_scientific, decimals)}
    elif array.dtype.kind == "f":
        array = np.round(array, decimals) + 0.0  # no −0.
    shown = np.array2string(array, **look)
    return "\n".join(line for line in shown.splitlines() if line.strip())


def _tiny(array: np.ndarray, decimals: int) -> bool:
    """Whether nothing but zeros would be left of the numbers."""
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    return sizes.size > 0 and sizes.max() < 10.0 ** (1 - decimals)


def _scientific(decimals: int, number: float) -> str:
    shown = f"{number:.{decimals - 2}e}" if number else "0"
    return shown.rjust(decimals + 5)


def visible(expected: Any, got: Any) -> bool:
    """Whether two results differ in the digits that are shown at first."""
    return values.kind(expected) != values.kind(got) or lines_of(expected) != lines_of(got)


def named(names: Sequence[str], items: Sequence[Any], decimals: int = 4) -> list[str]:
    """Lines `name = value`, the further lines of a value under its first."""
    lines = []
    for name, item in zip(names, items, strict=False):
        first, *rest = text(item, decimals).splitlines()
        lines += [f"{name} = {first}", *(" " * (len(name) + 3) + line for line in rest)]
    return lines


def listing(names: Sequence[str], items: Sequence[Any]) -> str:
    """The arguments of a call, one under the other."""
    return "\n".join(f"    {line}" for line in named(names, items))


def lines_of(value: Any, names: Sequence[str] = (), decimals: int = 4) -> list[str]:
    """A result's lines; the parts of a tuple under their names."""
    if isinstance(value, (tuple, list)) and any(isinstance(item, Tensor) for item in value):
        names = names if len(names) == len(value) else [f"[{i}]" for i in range(len(value))]
        return named(names, value, decimals)
    return text(value, decimals).splitlines()


def block(title: str, value: Any, names: Sequence[str] = ()) -> str:
    return "\n".join([f"  {title}", *(f"    {line}" for line in lines_of(value, names))])


def beside(expected: Any, got: Any, names: Sequence[str] = ()) -> str:
    """Expected on the left, got on the right; one under the other when too wide."""
    left, right = lines_of(expected, names), lines_of(got, names)
    if left == right and values.kind(expected) == values.kind(got):
        left, right = lines_of(expected, names, 9), lines_of(got, names, 9)
    left, right = [_titled("expected", expected), *left], [_titled("got", got), *right]
    width = max(map(len, left)) + 4
    if width + max(map(len, right)) > WIDTH:
        rows = [*left, *right]
        return "\n".join(_indented(line, i in (0, len(left))) for i, line in enumerate(rows))
    pairs = zip_longest(left, right, fillvalue="")
    lines = [f"{a:<{width + 2 * (i == 0)}}{b}".rstrip() for i, (a, b) in enumerate(pairs)]
    return "\n".join(_indented(line, i == 0) for i, line in enumerate(lines))


def _indented(line: str, head: bool) -> str:
    return f"  {line}" if head else f"    {line}"


def _titled(title: str, value: Any) -> str:
    return f"{title}, {values.kind(value)}" if isinstance(value, Tensor) else title
