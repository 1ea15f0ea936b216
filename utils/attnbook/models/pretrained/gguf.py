"""GGUF, the format of llama.cpp: one file that holds what is to be known of a model, its vocabulary, and its tensors.

The file begins with ``GGUF``, a version, and two counts. Then come that many facts (a name, a type, a value) and that
many descriptions of tensors (a name, a shape, a kind, a position), and behind them the tensors themselves.

Source: the specification of GGUF, version 3, in the repository of ggml.
"""

import struct
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import torch
from torch import Tensor

from attnbook.models.pretrained.dequantise import KINDS, Kind
from attnbook.models.pretrained.errors import WeightsError

# Types of facts, by number; 8 is a string and 9 an array.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
OLDEST = 2  # version 1 counted in 32 bits


class Described(NamedTuple):
    """A tensor as the file describes it.

    Fields:
        shape: rows first, as in torch; the file has it the other way round.
        kind: how its numbers are stored. begin, end: where its bytes are in the file.
    """

    shape: tuple[int, ...]
    kind: Kind
    begin: int
    end: int


class GGUF:
    """An open file: ``facts`` by name, and ``tensor(name)``. Tensors are read when they are asked for.

    Args:
        path: a file of version 2 or 3, in the usual order of bytes (little-endian).

    Raises:
        WeightsError: if it is no such file, ends too early, or has a tensor of a kind that isn't read here.
        OSError: if it cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        size = self.path.stat().st_size
        with open(self.path, "rb") as file:
            header = _Header(file, self.path)
            self.facts = header.facts()
            self.described = header.described(self.facts.get("general.alignment", 32), size)
        # The file is mapped: what is read of it comes from the disk then, and memory may take it back.
        self._bytes = torch.from_file(str(self.path), shared=False, size=size, dtype=torch.uint8)

    def tensor(self, name: str) -> Tensor:
        """A tensor in float32, of the shape that the file says. Raises WeightsError if there is none of this name."""
        if name not in self.described:
            raise WeightsError(
                f"{self.path.name} has no tensor {name!r}; it has {', '.join(list(self.described)[:5])}, …"
            )
        shape, kind, begin, end = self.described[name]
        return kind.read(self._bytes[begin:end].clone()).view(shape)  # a clone starts where any type may start


class _Header:
    """Reads what stands before the tensors, from the front to the back."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.name = file, path.name
        if file.read(4) != b"GGUF":
            raise WeightsError(f"{self.name} is no GGUF file: it does not begin with the four letters GGUF")
        version = self.number("I")
        if not OLDEST <= version <= 3:
            raise WeightsError(f"{self.name} is GGUF of version {version}; versions {OLDEST} and 3 can be read")
        self.tensors, self.count = self.number("Q"), self.number("Q")

    def facts(self) -> dict[str, Any]:
        """What the file says of its model: ``{"llama.block_count": 30, …}``."""
        return {self.string(): self.value(self.number("I")) for _ in range(self.count)}

    def described(self, alignment: int, size: int) -> dict[str, Described]:
        """All tensors' descriptions. Each must lie within the ``size`` bytes of the file."""
        found = [self.description() for _ in range(self.tensors)]
        start = -(-self.file.tell() // alignment) * alignment  # the next multiple
        return {name: self.placed(name, shape, kind, start + at, size) for name, shape, kind, at in found}

    def description(self) -> tuple[str, tuple[int, ...], int, int]:
        """Name, shape, kind and position of the next tensor."""
        name = self.string()
        shape = tuple(self.number("Q") for _ in range(self.number("I")))[::-1]
        return name, shape, self.number("I"), self.number("Q")

    def placed(self, name: str, shape: tuple[int, ...], kind: int, begin: int, size: int) -> Described:
        """A tensor whose kind is known and whose bytes are all there."""
        if kind not in KINDS:
            known = ", ".join(one.name for one in KINDS.values())
            raise WeightsError(f"{self.name}: the tensor {name!r} has the kind {kind} of ggml; read are {known}")
        stored = KINDS[kind]
        if shape and shape[-1] % stored.numbers:
            raise WeightsError(
                f"{self.name}: rows of {name!r} have {shape[-1]} numbers, not whole blocks of {stored.numbers}"
            )
        end = begin + prod(shape) // stored.numbers * stored.bytes
        if end > size:
            raise WeightsError(f"{self.name} is cut off: {name!r} ends at byte {end:,}, and the file has {size:,}")
        return Described(shape, stored, begin, end)

    def number(self, kind: str) -> Any:
        """The next number, of one of struct's types."""
        return struct.unpack(f"<{kind}", self.take(struct.calcsize(kind)))[0]

    def string(self) -> str:
        """The next text: its length in bytes, then UTF-8."""
        return self.take(self.number("Q")).decode("utf-8", errors="replace")

    def value(self, kind: int) -> Any:
        """The next value of this type: a number, a text, or a list of either."""
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            of, count = self.number("I"), self.number("Q")
            if of in NUMBERS:  # all at once
                return list(
                    struct.unpack(f"<{count}{NUMBERS[of]}", self.take(count * struct.calcsize(f"<{NUMBERS[of]}")))
                )
            return [self.value(of) for _ in range(count)]
        if kind not in NUMBERS:
            raise WeightsError(f"{self.name} has a fact of the type {kind}, which GGUF does not define")
        return self.number(NUMBERS[kind])

    def take(self, count: int) -> bytes:
        """The next bytes."""
        taken = self.file.read(count)
        if len(taken) < count:
            raise WeightsError(f"{self.name} is cut off in its header, after {self.file.tell():,} bytes")
        return taken
