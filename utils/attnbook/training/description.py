"""What a training is made of, in words and numbers that can be written down as JSON and compared.

Of an object counts what it was made with: its class, and the arguments of its constructor as far as it has kept them
under their names. Of a module count all public attributes but tensors. What changes while something is used (a counter,
a cache) does not count, and so the description of a model is the same before and after its training.

Under :data:`INSIDE` stands what older descriptions lack: a function's code, defaults and closure, and the attributes of
an object under other names than its constructor's. An attribute that a method assigns changes while it is used, and so
may a list, a dictionary or a set; these are left out.
"""

import dis
import enum
import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from dataclasses import fields, is_dataclass
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn

DEEPEST = 12  # levels; what lies deeper is named by its class alone
INSIDE = "(inside)"  # no attribute can have this name
LONGEST = 10_000  # characters of what is inside; what is longer is named by its digest
MADE_IN = {"__init__", "__new__", "__post_init__"}


def describe(value: Any, depth: int = 0, seen: dict[int, Any] | None = None) -> Any:
    """``value`` as JSON has it: numbers and texts as they are, tensors by their digest, objects by how they were made.

    Args:
        depth: how many levels above this one are being described.
        seen: functions and objects whose inside is described already, by ``id``; it is not described again.
    """
    seen = {} if seen is None else seen
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)  # JSON knows no infinity, nor what is no number
    if isinstance(value, Tensor):
        return {"shape": list(value.shape), "dtype": str(value.dtype), "digest": _digest(value)}
    if depth > DEEPEST:
        return type(value).__name__
    deeper = functools.partial(describe, depth=depth + 1, seen=seen)
    if isinstance(value, Mapping):
        return {str(key): deeper(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [deeper(one) for one in value]
    if isinstance(value, functools.partial):
        return {"function": deeper(value.func), "arguments": deeper(value.args), "named": deeper(value.keywords)}
    if isinstance(value, nn.Module):
        return _of_module(value, deeper) | _inside(value, deeper, seen)
    if inspect.isroutine(value) or isinstance(value, type):
        plain, inside = _of_function(value), _inside(value, deeper, seen)
        return ({"function": plain} if isinstance(plain, str) else plain) | inside if inside else plain
    if isinstance(value, torch.dtype | torch.device | enum.Enum):
        return str(value)
    made_with = {name: deeper(one) for name, one in _made_with(value)}
    return {"class": type(value).__name__, **made_with} | _inside(value, deeper, seen)


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


# ---- what is inside


def _inside(thing: Any, deeper: Callable, seen: dict[int, Any]) -> dict[str, Any]:
    """What a function or an object keeps, under :data:`INSIDE`; nothing for torch's own, and what is seen already."""
    of = thing if inspect.isroutine(thing) else type(thing)
    torchs_own = (getattr(of, "__module__", None) or "").split(".")[0] == "torch"
    if id(thing) in seen or isinstance(thing, type) or inspect.ismodule(thing) or torchs_own:
        return {}
    seen[id(thing)] = thing  # kept, so that no other object gets its id
    if inspect.ismethod(thing):
        return {INSIDE: {"object": deeper(thing.__self__), "method": deeper(thing.__func__)}}
    if inspect.isfunction(thing):
        return {INSIDE: {"code": _of_code(thing.__code__), **_kept(dict(_around(thing)), deeper)}}
    if not hasattr(thing, "__dict__"):
        return {}
    call = getattr(type(thing), "__call__", None)  # noqa: B004  # its code is wanted, not whether it can be called
    called = (
        {"(call)": _of_code(call.__code__)} if inspect.isfunction(call) and not isinstance(thing, nn.Module) else {}
    )
    return {INSIDE: called | _kept(dict(_attributes(thing)), deeper)}


def _kept(values: Mapping[str, Any], deeper: Callable) -> dict[str, Any]:
    """Values by name, without those that may change while they are used or have no numbers to look at."""
    changing = MutableMapping | MutableSequence | MutableSet
    described = {}
    for name, value in values.items():
        if isinstance(value, changing) or (
            isinstance(value, Tensor) and (value.is_meta or value.layout != torch.strided)
        ):
            continue
        words = json.dumps(found := deeper(value))
        described[name] = found if len(words) <= LONGEST else hashlib.sha256(words.encode()).hexdigest()[:12]
    return described


def _around(function: Any) -> Iterator[tuple[str, Any]]:
    """A function's defaults and what it keeps from around its definition, but what it assigns there itself."""
    yield "defaults", function.__defaults__
    yield from (function.__kwdefaults__ or {}).items()
    assigned = {one.argval for one in dis.get_instructions(function) if one.opname == "STORE_DEREF"}
    plain = None | bool | int | float | str  # these are named beside the function
    for name, value in inspect.getclosurevars(function).nonlocals.items():
        if name not in assigned and not isinstance(value, plain):
            yield name, value


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """An object's attributes that are not described by the names of its constructor, and that no method assigns."""
    if isinstance(thing, nn.Module):
        others = {name for name in vars(thing) if not name.startswith("_")} | vars(nn.Module()).keys()
    else:
        others = {kept for name, _ in _made_with(thing) for kept in (name, f"_{name}")}
    remembered = thing.state_dict() if hasattr(thing, "state_dict") and not isinstance(thing, nn.Module) else {}
    others |= {kept for name in remembered for kept in (name, f"_{name}")} | _assigned_in(thing.__class__)
    yield from ((name, value) for name, value in vars(thing).items() if name not in others)


@functools.cache
def _assigned_in(kind: type) -> frozenset[str]:
    """The attributes that methods of a class assign, but its constructors; and what is computed once, when asked."""
    names = {name for base in kind.__bases__ for name in _assigned_in(base)}
    for name, method in vars(kind).items():
        if isinstance(method, functools.cached_property):
            names.add(name)
        elif inspect.isfunction(method) and name not in MADE_IN:
            names |= {line.argval for line in dis.get_instructions(method) if line.opname == "STORE_ATTR"}
    return frozenset(names)


def _of_code(code: CodeType) -> dict[str, str]:
    """A function's code by its digest, and the Python that compiled it: another one compiles it to another code."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, "digest": hashlib.sha256(_in_full(code).encode()).hexdigest()[:12]}


def _in_full(constant: Any) -> str:
    """A constant of a code, codes by what they do, without the file and the lines in which they stand."""
    if isinstance(constant, CodeType):
        return f"{constant.co_code.hex()} {constant.co_names} {_in_full(constant.co_consts)}"
    if isinstance(constant, tuple):
        return f"({', '.join(map(_in_full, constant))})"
    if isinstance(constant, frozenset):
        return f"{{{', '.join(sorted(map(_in_full, constant)))}}}"  # its own order differs between processes
    return repr(constant)


# ---- two descriptions


def differences(there: Any, here: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two descriptions differ: the names that lead there, joined by points; and both values, or ``None``."""
    if isinstance(there, list) and isinstance(here, list):
        there, here = (dict(enumerate(values)) for values in (there, here))
    there, here = _comparable(there, here)
    if not (isinstance(there, dict) and isinstance(here, dict)):
        if there != here:
            yield path, there, here
        return
    for name in dict.fromkeys([*there, *here]):
        yield from differences(there.get(name), here.get(name), f"{path}.{name}" if path else str(name))


def _comparable(there: Any, here: Any) -> tuple[Any, Any]:
    """Two descriptions without what only one of them can know: an older one has no :data:`INSIDE`.

    Nor is the inside of two different things compared, nor the code of two different versions of Python.
    """
    if isinstance(there, str) and isinstance(here, dict) and {"function", INSIDE} <= here.keys():
        there = {"function": there}
    if not (isinstance(there, dict) and isinstance(here, dict)):
        return there, here
    if there.keys() == here.keys() == {"python", "digest"} and there["python"] != here["python"]:
        return {}, {}
    same = all(there.get(name) == here.get(name) for name in ("class", "function"))
    if same and INSIDE in there and INSIDE in here:
        return there, here
    outside = [{name: one for name, one in words.items() if name != INSIDE} for words in (there, here)]
    return outside[0], outside[1]
