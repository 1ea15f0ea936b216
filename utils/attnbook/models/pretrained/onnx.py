"""ONNX: a network as a graph. Each node names what it reads and what it makes; weights are named like what is made.

A file is one message of protocol buffers: pairs of a key and a value, one after the other. The key says the number of a
field and how its value is stored: a whole number in groups of seven bits, four or eight bytes, or a length and as many
bytes, which may be a message again. Read are the few fields that weights need.

Source: ``onnx.proto`` of ONNX, whose numbers of fields these are, and *Encoding* in the documentation of protocol
buffers.
"""

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.models.pretrained.errors import WeightsError

Value = int | memoryview
DTYPES = {
    1: torch.float32, 2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64, 9: torch.bool, 10: torch.float16,
    11: torch.float64, 16: torch.bfloat16,
}  # fmt: skip
NUMBER, EIGHT, BYTES, FOUR = 0, 1, 2, 5  # how a value is stored
GRAPH = 7  # of a model
NODE, INITIALISER, INPUT = 1, 5, 11  # of a graph
READ, MADE, KIND, ATTRIBUTE = 1, 2, 4, 5  # of a node
VALUE = 5  # of an attribute, where it is a tensor
SIZES, DTYPE, CALLED, RAW = 1, 2, 8, 9  # of a tensor
SHAPE, SIZE = (2, 1, 2, 1), 1  # of an input: its type, as a tensor, its shape, the dimensions; and a dimension's size


class Node(NamedTuple):
    """A step of the network.

    Fields:
        kind: such as ``"MatMul"``. reads, makes: names of tensors.
        value: of a constant; ``None`` for others.
    """

    kind: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    value: Tensor | None


class Graph(NamedTuple):
    """A network.

    Fields:
        weights: by name. nodes: in the order in which they are computed.
        shape: of the first input; 0 for a size that the file leaves open.
    """

    weights: dict[str, Tensor]
    nodes: tuple[Node, ...]
    shape: tuple[int, ...]


def read_onnx(path: str | Path) -> Graph:
    """The graph of a file that holds its weights itself.

    Raises:
        WeightsError: if it is no such file, ends too early, or has a tensor that isn't stored as raw bytes.
        OSError: if it cannot be opened.
    """
    path = Path(path)
    try:
        graphs = _inside(memoryview(path.read_bytes()), GRAPH)
        if not graphs:
            raise WeightsError("there is no graph in it")
        weights = dict(_tensor(one) for one in _inside(graphs[0], INITIALISER))
        nodes = tuple(_node(one) for one in _inside(graphs[0], NODE))
        inputs = [_inside(one, *SHAPE) for one in _inside(graphs[0], INPUT)]
        shape = tuple(_whole_number(size, SIZE) for size in inputs[0]) if inputs else ()
    except WeightsError as error:
        raise WeightsError(f"{path.name} is no ONNX file that can be read here, or cut off: {error}") from error
    return Graph(weights, nodes, shape)


def _fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """The pairs of a message: the number of a field, and its value."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        kind = key & 7
        if kind == NUMBER:
            value, at = _number(message, at)
            yield key >> 3, value
            continue
        if kind not in (EIGHT, BYTES, FOUR):
            raise WeightsError(f"a value is stored in way {kind}, which protocol buffers do not have")
        length, at = _number(message, at) if kind == BYTES else ({EIGHT: 8, FOUR: 4}[kind], at)
        if at + length > len(message):
            raise WeightsError(f"a field of {length:,} bytes begins {len(message) - at:,} bytes before the end")
        yield key >> 3, message[at : at + length]
        at += length


def _number(message: memoryview, at: int) -> tuple[int, int]:
    """A whole number, its lowest seven bits first, and where it ends; a byte over 127 says that another follows."""
    number = shift = 0
    while at < len(message) and shift < 64:
        number |= (message[at] & 127) << shift
        if message[at] < 128:
            return number, at + 1
        at, shift = at + 1, shift + 7
    raise WeightsError("a whole number does not end")


def _inside(message: memoryview, *path: int) -> list[memoryview]:
    """What is stored as bytes in this field; with several numbers, in the field of these fields, and so on."""
    found = [message]
    for wanted in path:
        pairs = (pair for one in found for pair in _fields(one))
        found = [value for field, value in pairs if field == wanted and isinstance(value, memoryview)]
    return found


def _whole_number(message: memoryview, wanted: int) -> int:
    """The whole number in this field; 0 where it is left out, as the format has it."""
    return next((value for field, value in _fields(message) if field == wanted and isinstance(value, int)), 0)


def _texts(message: memoryview, wanted: int) -> tuple[str, ...]:
    try:
        return tuple(str(text, "utf-8") for text in _inside(message, wanted))
    except UnicodeDecodeError as error:
        raise WeightsError(f"a name is not written in UTF-8 ({error})") from error


def _node(message: memoryview) -> Node:
    kind = "".join(_texts(message, KIND))
    values = _inside(message, ATTRIBUTE, VALUE) if kind == "Constant" else []
    return Node(kind, _texts(message, READ), _texts(message, MADE), _tensor(values[0])[1] if values else None)


def _tensor(message: memoryview) -> tuple[str, Tensor]:
    """Its name, and its numbers."""
    name, kind = "".join(_texts(message, CALLED)), _whole_number(message, DTYPE)
    shape = [size for field, value in _fields(message) if field == SIZES for size in _numbers(value)]
    if kind not in DTYPES:
        raise WeightsError(f"{name!r} has numbers of type {kind}; read are {', '.join(map(str, DTYPES))}")
    raw, wanted = _inside(message, RAW), prod(shape) * DTYPES[kind].itemsize
    if not wanted:
        return name, torch.empty(shape, dtype=DTYPES[kind])
    if not raw:
        raise WeightsError(f"the numbers of {name!r} are not stored as raw bytes in this file")
    if len(raw[0]) != wanted:
        raise WeightsError(f"{name!r} of the shape {tuple(shape)} needs {wanted:,} bytes, and has {len(raw[0]):,}")
    return name, torch.frombuffer(bytearray(raw[0]), dtype=DTYPES[kind]).view(shape)  # a copy may start where it likes


def _numbers(value: Value) -> Iterator[int]:
    """One whole number, or many that are packed into bytes."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _number(value, at)
        yield number
