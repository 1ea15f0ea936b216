"""safetensors: a file of named tensors. Eight bytes say how long its header is, the header is JSON, the rest numbers.

Source: the format's description in the repository of safetensors (``README.md``, *Format*).
"""

import json
from math import prod
from pathlib import Path

import torch
from torch import Tensor

from attnbook.models.pretrained.errors import WeightsError

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip


def read_safetensors(path: str | Path) -> dict[str, Tensor]:
    """All tensors of a file by name. They are views of the mapped file, and writing to them does not change it.

    Raises:
        WeightsError: if it is no such file, ends too early, or has a dtype that isn't read here.
        OSError: if it cannot be opened.
    """
    path = Path(path)
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise WeightsError(
                f"{path.name} is no safetensors file, or cut off: its header does not fit into {size:,} bytes"
            )
        header = _header(file.read(length), path)
    numbers = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)[8 + length :]  # behind the header
    return {name: _tensor(numbers, name, one, path) for name, one in header.items()}


def _header(text: bytes, path: Path) -> dict[str, dict]:
    try:
        header = json.loads(text)
    except ValueError as error:
        raise WeightsError(f"{path.name} is no safetensors file: its header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise WeightsError(f"{path.name} is no safetensors file: its header is no JSON object")
    header.pop("__metadata__", None)
    return header


def _tensor(numbers: Tensor, name: str, one: dict, path: Path) -> Tensor:
    try:
        kind, shape, (begin, end) = one["dtype"], one["shape"], one["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path.name}: the header says no dtype, shape and data_offsets of {name!r}") from error
    if kind not in DTYPES:
        raise WeightsError(f"{path.name}: {name!r} has the dtype {kind}; read are {', '.join(DTYPES)}")
    wanted = prod(shape) * DTYPES[kind].itemsize
    if end - begin != wanted:
        raise WeightsError(
            f"{path.name}: {name!r} of the shape {tuple(shape)} needs {wanted:,} bytes, and has {end - begin:,}"
        )
    if begin < 0 or end > len(numbers):
        raise WeightsError(f"{path.name} is cut off: {name!r} ends at byte {end:,} of {len(numbers):,}")
    raw = numbers[begin:end]
    aligned = (
        raw
        if raw.data_ptr() % DTYPES[kind].itemsize == 0 and raw.storage_offset() % DTYPES[kind].itemsize == 0
        else raw.clone()
    )
    return aligned.view(DTYPES[kind]).view(shape)
