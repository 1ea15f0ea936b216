"""What answers return, made plain and comparable: tensors, numbers, and lists, tuples, sets, dicts of them.

A student's value may be of any class, with any `__eq__`. `plain` rebuilds it from exact built-in types, and
everything that is compared has gone through it."""

import copy
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, allclose, equal  # bound here: an answer that puts others into torch changes no verdict

EXACT = (Fraction, Decimal)  # numbers, too


class Strange:
    """Stands for a value of a type that no exercise returns."""

    def __init__(self, value: Any, type_name: str = ""):
        hint = " (is there a yield?)" if hasattr(value, "gi_frame") else ""
        self.type_name = type_name or type(value).__name__ + hint


def plain(value: Any) -> Any:
    """`value` rebuilt from exact types; tensors are detached copies, what is not known becomes `Strange`."""
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if value is None or type(value) in (bool, float, str) or (type(value) is int and abs(value) < 2**63):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in EXACT:
        return float(value)
    return _plain_collection(value)


def _plain_tensor(value: Tensor) -> Tensor | Strange:
    with torch._C.DisableTorchFunctionSubclass():  # a subclass may answer for itself, but not here
        if value.is_complex():
            return Strange(value, "tensor of complex numbers")
        if value.is_meta or value.layout is not torch.strided:
            return Strange(value, "tensor without numbers" if value.is_meta else "sparse tensor")
        return value.detach().cpu().clone().as_subclass(Tensor)


def _plain_collection(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(plain(item) for item in tuple.__iter__(value))
    if isinstance(value, list):
        return [plain(item) for item in list.__iter__(value)]
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in dict.items(value)}
    if type(value) in (set, frozenset):
        return frozenset(plain(item) for item in value)
    return Strange(value)


def transform(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A deep copy of arguments in which `change` was applied to each tensor; functions are passed through."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, torch.Generator):
        return torch.Generator(value.device).set_state(value.get_state())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(transform(item, change) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(transform(item, change) for item in value)
    if isinstance(value, dict):
        return {key: transform(item, change) for key, item in value.items()}
    if hasattr(value, "transformed"):  # a stand-in that carries tensors
        return value.transformed(change)
    return value if callable(value) else copy.deepcopy(value)


def clone(value: Any) -> Any:
    """A deep copy that shares no memory with `value`."""
    return transform(value, lambda tensor: tensor.detach().clone())


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in a value, depth first."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def parts(value: Any) -> list:
    """The entries of a tuple or a list, or the value alone."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def is_number(value: Any) -> bool:
    """A Python number or a tensor without axes."""
    return isinstance(value, (int, float)) or (isinstance(value, Tensor) and value.dim() == 0)


def size(value: Any) -> int:
    """How many numbers and words a value holds: the smaller, the easier to read."""
    if isinstance(value, Tensor):
        return max(value.numel(), 1)
    if isinstance(value, dict):
        return 1 + sum(size(item) for item in value.values())
    if isinstance(value, (tuple, list, set, frozenset)):
        return 1 + sum(size(item) for item in value)
    return value.size() if hasattr(value, "transformed") else 1


def reading(value: Any) -> int:
    """How hard a value is to read: its size, where numbers of three digits and more count threefold."""
    return size(value) + 2 * sum(tensor.numel() for tensor in carried(value) if _long(tensor))


def carried(value: Any) -> list[Tensor]:
    """The tensors in a value, with those that a stand-in carries."""
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    transform(value, note)
    return found


def _long(tensor: Tensor) -> bool:
    return tensor.is_floating_point() and bool((tensor.abs() >= 100).any())


def same(first: Any, second: Any, tolerance: float = 0.0) -> bool:
    """Whether two plain values say the same, NaN equal to NaN, whatever their dtype. Shapes must agree."""
    if is_number(first) and is_number(second):
        dtype = torch.float64 if float in (type(first), type(second)) else None  # not float32: a float has all digits
        first, second = torch.as_tensor(first, dtype=dtype), torch.as_tensor(second, dtype=dtype)
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return _same_tensor(first, second, tolerance)
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(same(a, b, tolerance) for a, b in pairs)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k], tolerance) for k in first)
    if isinstance(first, Strange) and isinstance(second, Strange):
        return first.type_name == second.type_name
    return type(first) is type(second) and bool(first == second)


def _same_tensor(first: Tensor, second: Tensor, tolerance: float) -> bool:
    if first.shape != second.shape:
        return False
    if first.dtype == second.dtype and equal(first, second):
        return True  # most are, and this is soon seen
    if torch.float32 in (first.dtype, second.dtype) and tolerance:  # rounded once or twice is as good
        tolerance = max(tolerance, 1e-6 if first.dtype == second.dtype else 1e-4)  # the dtype is told apart
    first, second = first.to(torch.float64), second.to(torch.float64)
    return allclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True)


def finite(value: Any) -> bool:
    """Whether no number in the value is NaN or infinite."""
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, dict):
        return finite(list(value.values()))
    if isinstance(value, (tuple, list)):
        return all(finite(item) for item in value)
    return not isinstance(value, Tensor) or bool(value.double().isfinite().all())  # isfinite knows no eight bits


def kind(value: Any) -> str:
    """A value's type and shape in words: `tensor (2, 3) float64`, `tuple of 2`."""
    if isinstance(value, Tensor):
        return f"tensor {tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, Strange):
        return value.type_name
    if isinstance(value, (tuple, list, dict)):
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, (set, frozenset)):
        return f"set of {len(value)}"
    return "None" if value is None else type(value).__name__
