"""What passes between the grader and the process that runs an answer.

To that process go pickles: the grader made them. Back come messages of JSON, where a tensor is its bytes: reading
one can run no code, whatever was written into it.
"""

from __future__ import annotations

import base64
import builtins
import dis
import io
import json
import marshal
import pickle
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from misread import values

LARGEST = 64 * 2**20  # bytes of one message
_HEAD = struct.Struct("<Q")
_HALF = re.compile(r"\\u[dD]")  # how JSON writes a half of a character, of which a lone one is in no encoding
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
)}  # fmt: skip


class WireError(Exception):
    """What came back is no message, or the other side is gone."""


def send(connection: socket.socket, message: bytes) -> None:
    """One message. Raises WireError if nobody reads it any more."""
    try:
        connection.sendall(_HEAD.pack(len(message)) + message)
    except OSError as error:
        raise WireError(str(error)) from None


def receive(connection: socket.socket, largest: int = LARGEST, seconds: float | None = None) -> bytes:
    """One message. Raises WireError if the other side ended, if the message is larger than `largest` bytes, or if it
    isn't there, whole, after `seconds`; None waits as long as the socket does."""
    end = None if seconds is None else time.monotonic() + seconds
    (length,) = _HEAD.unpack(_exactly(connection, _HEAD.size, end))
    if length > largest:
        raise WireError(f"a message of {length} bytes; {largest} are allowed")
    return _exactly(connection, length, end)


def _exactly(connection: socket.socket, count: int, end: float | None) -> bytes:
    content = bytearray()  # and no list: of a message that comes byte by byte it would take fifty times the memory
    while missing := count - len(content):
        try:
            if end is not None:
                connection.settimeout(max(end - time.monotonic(), 1e-3))  # 0 would not wait at all
            part = connection.recv(min(missing, 2**20))
        except OSError as error:
            raise WireError(str(error)) from None
        if not part:
            raise WireError("the process ended")
        if end is not None and time.monotonic() > end:
            raise WireError("timed out")
        content += part
    return bytes(content)


def to_answer(message: dict[str, Any]) -> bytes:
    """A message of the grader's."""
    file = io.BytesIO()
    _Pickler(file).dump(message)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    """Writes a plain tensor as its bytes: torch's own way takes thirty times as long, and each call sends several.

    A function of the checks goes as its code, with what that uses: the module that it stands in is not there."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, FunctionType) and value.__module__.startswith(("attnlabs.lab", "attnlabs.families")):
            made = marshal.dumps(value.__code__), value.__defaults__, value.__kwdefaults__
            return _function, made, _used(value), None, None, _give  # given later, when a function may use itself
        if isinstance(value, ModuleType):
            return import_module, (value.__name__,)
        if type(value) is not Tensor or not _is_plain(value):
            return NotImplemented
        return _tensor, (value.numpy().tobytes(), value.dtype, value.shape)


def _is_plain(value: Tensor) -> bool:
    """Whether shape, type and numbers are all there is to it."""
    on_cpu = value.layout is torch.strided and value.device.type == "cpu" and value.is_contiguous()
    alone = not value.requires_grad and not value.__dict__ and value.numel() > 0
    return on_cpu and alone and value.dtype in _DTYPES.values() and value.dtype is not torch.bfloat16


def _tensor(content: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    with_a_buffers_memory = torch.frombuffer(bytearray(content), dtype=dtype).reshape(shape)
    return with_a_buffers_memory.clone()  # whose size an answer may change, as that of any tensor


def _used(function: Callable) -> dict[str, Any]:
    """What a function's code looks up in its module."""
    module = function.__globals__
    names = {step.argval for code in _codes(function.__code__) for step in dis.get_instructions(code)
             if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}  # fmt: skip
    return {name: module[name] for name in sorted(names) if name in module}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _function(code: bytes, defaults: tuple | None, by_name: dict[str, Any] | None) -> Callable:
    module = {"__name__": "attnbook", "__builtins__": builtins}  # of which torch asks for the second where it imports
    made = FunctionType(_in_the_package(marshal.loads(code)), module, argdefs=defaults)
    made.__kwdefaults__ = by_name
    return made


def _in_the_package(code: CodeType) -> CodeType:
    """The same code as one of the package's: an error in it is told of the line of the student's that called it."""
    inner = (_in_the_package(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=values.__file__, co_consts=tuple(inner))


def _give(function: Any, used: dict[str, Any]) -> None:
    function.__globals__.update(used)


def from_grader(message: bytes) -> dict[str, Any]:
    """The same, where the answer runs."""
    return pickle.loads(message)


def to_grader(message: dict[str, Any]) -> bytes:
    """A message of the answer's process; its values were encoded before, see `encode`."""
    return json.dumps(message).encode()


def from_answer(message: bytes) -> dict[str, Any]:
    """The same, at the grader; each text in it can be written to a file. Raises WireError for what is no message."""
    try:
        text = message.decode(errors="replace")
        found = json.loads(text)
        if _HALF.search(text):
            found = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        raise WireError("not JSON") from None
    if not isinstance(found, dict):
        raise WireError("no dictionary")
    return found


def shown(text: object) -> str:
    """A text of an answer's that a person reads, without what would steer a terminal."""
    return _CONTROLS.sub("", str(text))


def encode(value: Any, tensors: list[Tensor]) -> Any:
    """A value as JSON; its tensors are listed, too, in order. What no exercise returns becomes its type's name."""
    if value is None or type(value) in (bool, float, str) or (type(value) is int and abs(value) < 2**63):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in values.EXACT:
        return float(value)
    if isinstance(value, Tensor):
        return _encode_tensor(value, tensors)
    if isinstance(value, torch.Generator):
        return {"generator": encode(value.get_state(), [])}
    kind = next((kind for kind in (tuple, list, dict, set, frozenset) if isinstance(value, kind)), None)
    if kind is dict:
        return {"dict": [[encode(key, tensors), encode(item, tensors)] for key, item in dict.items(value)]}
    if kind is not None:
        return {kind.__name__: [encode(item, tensors) for item in kind.__iter__(value)]}
    return {"strange": type(value).__name__, "yields": hasattr(type(value), "gi_frame")}


def _encode_tensor(value: Tensor, tensors: list[Tensor]) -> dict[str, Any]:
    with torch._C.DisableTorchFunctionSubclass():  # a subclass may answer for itself, but not here
        dtype = str(value.dtype).removeprefix("torch.")
        if value.layout is not torch.strided or dtype not in _DTYPES:
            return {"strange": type(value).__name__}
        tensors.append(value)
        about = {"tensor": dtype, "shape": list(value.shape), "flows": value.requires_grad}
        if value.is_meta:
            return about | {"meta": True}
        # `contiguous` leaves a single number its stride, which may be that of a matrix; `view` wants 1.
        plain = value.detach().cpu().flatten().clone(memory_format=torch.contiguous_format)
        content = plain.view(torch.uint8).numpy().tobytes() if len(plain) else b""
        return about | {"bytes": base64.b64encode(content).decode()}


def decode(message: Any, tensors: list[Tensor]) -> Any:
    """A value from JSON; its tensors are also listed. Raises WireError for what `encode` did not make."""
    try:
        return _decode(message, tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, RecursionError, AttributeError) as error:
        raise WireError(f"{type(error).__name__}: {error}") from None


def _decode(message: Any, tensors: list[Tensor]) -> Any:
    if not isinstance(message, dict):
        return message
    if "tensor" in message:
        tensors.append(_decode_tensor(message))
        return tensors[-1]
    if "strange" in message:
        return _stranger(str(message["strange"])[:120], bool(message.get("yields")))
    ((kind, content),) = message.items()
    if kind == "generator":
        generator = torch.Generator()
        generator.set_state(_decode(content, []))
        return generator
    if kind == "dict":
        return {_decode(key, tensors): _decode(item, tensors) for key, item in content}
    made = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}[kind]
    return made(_decode(item, tensors) for item in content)


def _decode_tensor(message: dict[str, Any]) -> Tensor:
    dtype, shape = _DTYPES[message["tensor"]], [int(size) for size in message["shape"]]
    if message.get("meta"):
        return torch.empty(shape, dtype=dtype, device="meta")
    content = bytearray(base64.b64decode(message["bytes"], validate=True))
    flat = torch.frombuffer(content, dtype=dtype) if content else torch.empty(0, dtype=dtype)
    return flat.reshape(shape)


def _stranger(name: str, yields: bool) -> Any:
    """A value of a type of this name, which says no more about itself."""
    members = {"gi_frame": None} if yields else {}
    return type(name, (), members)()
