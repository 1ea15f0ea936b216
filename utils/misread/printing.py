"""Small values printed so that a student can compare them by eye."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import values

LARGEST = 64  # tensors with more numbers are only described
WIDTH = 96
LINE = 70
INPUT_LINES = 6  # an input that takes more lines, and that comes in parts, is described
RESULT_LINES = 3  # the same for the parts of a result that differ
_HUGE = 1e15


def text(value: Any, decimals: int = 4) -> str:
    """A value as it would be written down; long tensors by type and shape."""
    if isinstance(value, Tensor):
        return _tensor(value, decimals)
    if isinstance(value, float):
        return f"{value + 0.0:.{decimals}g}"  # −0 is 0 to a reader
    if isinstance(value, dict):
        entries = [f"{key!r}: {text(item, decimals)}" for key, item in value.items()]
        return "{" + _between(entries).join(entries) + "}"
    if isinstance(value, (set, frozenset)):
        return "set()" if not value else "{" + ", ".join(repr(item) for item in sorted(value, key=repr)) + "}"
    if hasattr(value, "_fields"):  # a named tuple of tensors says itself what it is
        return repr(value)
    if isinstance(value, (tuple, list)) and not any(isinstance(item, Tensor) for item in value):
        left, right = "[]" if isinstance(value, list) else "()"
        entries = [text(item, decimals) for item in value]
        return left + _between(entries).join(entries) + right
    if callable(value) and not hasattr(value, "transformed"):
        return "a function"
    return values.kind(value) if isinstance(value, values.Strange) else repr(value)


def _between(entries: list[str]) -> str:
    """Entries that are long stand below each other, and so does each that takes several lines."""
    return ",\n " if sum(map(len, entries)) >= LINE or any("\n" in entry for entry in entries) else ", "


def _tensor(value: Tensor, decimals: int) -> str:
    if value.numel() > LARGEST or value.numel() == 0:
        return values.kind(value)
    value = value.detach().cpu()
    # numpy has no bfloat16, and float16 no number as large as _HUGE
    narrow = value.is_floating_point() and value.dtype not in (torch.float32, torch.float64)
    array = (value.float() if narrow else value).numpy()
    look: dict[str, Any] = {"precision": decimals, "suppress_small": True, "separator": ", ", "max_line_width": LINE}
    if array.dtype.kind == "f" and _tiny(array, decimals):
        look["formatter"] = {"float_kind": partial(_scientific, decimals)}
    elif array.dtype.kind == "f":
        rounded = np.where(np.abs(array) < _HUGE, array, 0.0).round(decimals)  # what is huge has no decimals to round
        array = np.where(np.abs(array) < _HUGE, rounded, array) + 0.0  # no −0.
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


def opened(names: Sequence[str], items: Sequence[Any], parts: Mapping[str, Sequence[str]]) -> Iterator[tuple]:
    """Names and values; a tuple or list that holds tensors, perhaps in lists of its own, gives its entries, under the
    names in `parts` or as `name[i]`.

    A named tuple that `parts` doesn't open stays whole: it says itself what it is.
    """
    for name, item in zip(names, items, strict=False):
        whole = hasattr(item, "_fields") and name not in parts
        if not whole and isinstance(item, (tuple, list)) and any(map(_holds_tensors, item)):
            inner = parts.get(name, ())
            inner = inner if len(inner) == len(item) else [f"{name}[{i}]" for i in range(len(item))]
            yield from opened(inner, item, parts)
        else:
            yield name, item


def _holds_tensors(item: Any) -> bool:
    inner = isinstance(item, (tuple, list)) and not hasattr(item, "_fields")
    return isinstance(item, Tensor) or (inner and any(map(_holds_tensors, item)))


def float_names(exercise: Any, value: Any) -> list[str]:
    """A name for each tensor of floating-point numbers in a result, in their order: gradients flow from these."""
    entries = values.parts(value)
    pairs = opened(exercise.returns, entries, exercise.parts) if exercise.returns else [("the result", value)]
    return [name for name, item in pairs for tensor in values.tensors(item) if tensor.is_floating_point()]


def inputs(names: Sequence[str], items: Sequence[Any], parts: Mapping[str, Sequence[str]]) -> str:
    """The arguments of a call, in full or, where that is long and some come in parts, by their shapes."""
    pairs = list(opened(names, items, parts))
    full = "\n".join(listing([name], [item]) for name, item in pairs)
    return full if len(pairs) == len(items) or full.count("\n") < INPUT_LINES else shapes(pairs)


def shapes(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and shapes, one after the other; what is no tensor in its own words."""
    said = [f"{name} {tuple(item.shape)}" if isinstance(item, Tensor) else text(item) for name, item in pairs]
    return textwrap.fill(", ".join(said), WIDTH, initial_indent="    ", subsequent_indent="    ")


def differing(pairs: Sequence[tuple[str, Any, Any]], rest: Sequence[str]) -> str:
    """Parts of a result, `(name, expected, got)`, beside each other; of too many the last, of which the first are made.

    The names of the others follow, and those of the parts that are right, `rest`.
    """
    shown = list(pairs)
    while len(shown) > 1 and sum(len(lines_of(wanted)) for _, wanted, _ in shown) > RESULT_LINES:
        del shown[0]
    names, wanted, got = zip(*shown, strict=True)
    others = [name for name, *_ in pairs[: len(pairs) - len(shown)]]
    more = [f"  {title}: {', '.join(found)}" for title, found in (("also wrong", others), ("right", rest)) if found]
    return "\n".join([beside(wanted, got, names), *more])


def listing(names: Sequence[str], items: Sequence[Any]) -> str:
    """The arguments of a call, one under the other."""
    return "\n".join(f"    {line}" for line in named(names, items))


def lines_of(value: Any, names: Sequence[str] = (), decimals: int = 4) -> list[str]:
    """A result's lines; the parts of a tuple under their names, those of a tuple in it as `name[i]`."""
    if isinstance(value, (tuple, list)) and any(isinstance(item, Tensor) for item in value):
        names = names if len(names) == len(value) else [f"[{i}]" for i in range(len(value))]
        parts_of, items = zip(*opened(names, value, {}), strict=True)
        return named(parts_of, items, decimals)
    return text(value, decimals).splitlines()


def block(title: str, value: Any, names: Sequence[str] = ()) -> str:
    return "\n".join([f"  {title}", *(f"    {line}" for line in lines_of(value, names))])


def beside(expected: Any, got: Any, names: Sequence[str] = ()) -> str:
    """Expected on the left, got on the right; one under the other when too wide."""
    left, right = lines_of(expected, names), lines_of(got, names)
    if left == right and (values.kind(expected) == values.kind(got) or values.is_number(expected)):
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
