"""What a training is made of, in words and numbers that can be written down as JSON and compared.

Of an object counts what it was made with: its class, and the arguments of its constructor as far as it has kept them
under their names. Of a module count all public attributes but tensors. What changes while something is used (a counter,
a cache) does not count, and so the description of a model is the same before and after its training.
"""

import enum
import functools
import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

DEEPEST = 12  # levels; what lies deeper is named by its class alone


def describe(value: Any, depth: int = 0) -> Any:
    """``value`` as JSON has it: numbers and texts as they are, tensors by their digest, objects by how they were made.

    Two functions of one name that keep the same numbers and texts from around them are described alike.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)  # JSON knows no infinity, nor what is no number
    if isinstance(value, Tensor):
        return {"shape": list(value.shape), "dtype": str(value.dtype), "digest": _digest(value)}
    if depth > DEEPEST:
        return type(value).__name__
    deeper = functools.partial(describe, depth=depth + 1)
    if isinstance(value, Mapping):
        return {str(key): deeper(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [deeper(one) for one in value]
    if isinstance(value, functools.partial):
        return {"function": deeper(value.func), "arguments": deeper(value.args), "named": deeper(value.keywords)}
    if isinstance(value, nn.Module):
        return _of_module(value, deeper)
    if inspect.isroutine(value) or isinstance(value, type):
        return _of_function(value)
    if isinstance(value, torch.dtype | torch.device | enum.Enum):
        return str(value)
    return {"class": type(value).__name__, **{name: deeper(one) for name, one in _made_with(value)}}


def _digest(tensor: Tensor) -> str:
    whole = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return hashlib.sha256(whole.numpy().tobytes()).hexdigest()[:12]


def _of_module(module: nn.Module, deeper) -> dict[str, Any]:
    """A module by its class, its public attributes that are no tensors, and its parts; torch's own by what it says."""
    if type(module).__module__.startswith("torch."):
        own = {"says": module.extra_repr()}
    else:
        own = {name: value for name, value in vars(module).items() if not (name.startswith("_") or name == "training")}
    plain = {name: deeper(value) for name, value in own.items() if not isinstance(value, Tensor | nn.Module)}
    parts = {name: deeper(part) for name, part in module.named_children()}
    return {"class": type(module).__name__, **plain, **parts}


def _of_function(function: Any) -> str | dict[str, Any]:
    """A function by its name, and the plain values that it keeps from around its definition."""
    name = getattr(function, "__qualname__", type(function).__name__)
    if not inspect.isfunction(function):
        return name
    kept = inspect.getclosurevars(function).nonlocals
    plain = {key: value for key, value in kept.items() if value is None or isinstance(value, bool | int | float | str)}
    return {"function": name, **describe(plain)} if plain else name


def _made_with(thing: Any) -> Iterator[tuple[str, Any]]:
    """The arguments of an object's constructors that it has kept, by name; of a record its fields."""
    if hasattr(thing, "_asdict"):
        yield from thing._asdict().items()
        return
    if is_dataclass(thing):
        yield from ((one.name, getattr(thing, one.name)) for one in fields(thing) if one.init)
        return
    names = {
        name: None
        for one in type(thing).__mro__
        if inspect.isfunction(vars(one).get("__init__"))
        for name in inspect.signature(vars(one)["__init__"]).parameters
    }
    for name in names:
        for attribute in (name, f"_{name}"):
            if attribute in getattr(thing, "__dict__", {}):
                yield name, getattr(thing, attribute)
                break


def differences(there: Any, here: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two descriptions differ: the names that lead there, joined by points; and both values, or ``None``."""
    if isinstance(there, list) and isinstance(here, list):
        there, here = (dict(enumerate(values)) for values in (there, here))
    if not (isinstance(there, dict) and isinstance(here, dict)):
        if there != here:
            yield path, there, here
        return
    for name in dict.fromkeys([*there, *here]):
        yield from differences(there.get(name), here.get(name), f"{path}.{name}" if path else str(name))
