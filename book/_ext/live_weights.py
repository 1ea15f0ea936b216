"""Packs trained weights into scripts for the live figures, without torch: a book is built without it.

A pack is `LIVE.weights("name", {...})` (see `book/live/engine/weights.js`): its matrices as whole numbers of eight bits
with one scale per row, its vectors in half precision, all in base64.
"""

from __future__ import annotations

import base64
import collections
import functools
import io
import json
import math
import pickle
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LETTERS = {"HalfStorage": "e", "FloatStorage": "f", "DoubleStorage": "d", "LongStorage": "q"}  # of the module struct
MOST = 127  # of a signed byte


class Matrix(NamedTuple):
    """Numbers row by row.

    Fields:
        rows, columns: a tensor of more dimensions has the last ones in a row, a vector has one column.
        numbers: all of them, row by row.
    """

    rows: int
    columns: int
    numbers: Sequence[float]


def _rebuilt(
    read: Callable[[str], bytes], path: Path, storage: Any, offset: int, size: Any, stride: Any, *_: Any
) -> Matrix:
    kind, key = storage
    rows, columns = size[0] if size else 1, math.prod(size[1:])  # a number alone is one row
    if tuple(stride) != tuple(math.prod(size[at + 1 :]) for at in range(len(size))):
        raise ValueError(f"{path} has a tensor of shape {tuple(size)} with strides {tuple(stride)}; save it contiguous")
    letter = LETTERS[kind]
    count, width = rows * columns, struct.calcsize(letter)
    return Matrix(rows, columns, struct.unpack_from(f"<{count}{letter}", read(key), offset * width))


def read_weights(path: Path) -> dict[str, Matrix]:
    """The matrices of a model whose weights torch saved: a zip file with a pickle, and a raw file for each storage.

    Raises:
        pickle.UnpicklingError: if the pickle asks for anything but tensors.
        ValueError: for a tensor that isn't contiguous.
    """
    with zipfile.ZipFile(path) as archive:
        pickled = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        folder = pickled.removesuffix("data.pkl")
        rebuild = functools.partial(_rebuilt, lambda key: archive.read(f"{folder}data/{key}"), path)

        class Reader(pickle.Unpickler):
            def persistent_load(self, saved: tuple) -> tuple[str, str]:
                return saved[1], saved[2]  # what kind of storage, and its file

            def find_class(self, module: str, name: str) -> Any:
                if name == "_rebuild_tensor_v2":
                    return rebuild
                if module == "torch" and name in LETTERS:
                    return name
                if (module, name) == ("collections", "OrderedDict"):
                    return collections.OrderedDict
                raise pickle.UnpicklingError(f"{path} asks for {module}.{name}, and weights need tensors alone")

        return Reader(io.BytesIO(archive.read(pickled))).load()["model"]


def rounded(matrix: Matrix) -> tuple[bytes, bytes]:
    """Scales in half precision, one per row, and whole numbers: their products are near the matrix's numbers."""
    scales, whole = [], bytearray()
    for start in range(0, len(matrix.numbers), matrix.columns):
        row = matrix.numbers[start : start + matrix.columns]
        scale = struct.unpack("<e", struct.pack("<e", max(map(abs, row)) / MOST))[0] or 1.0
        scales.append(scale)
        whole += bytes([min(MOST, max(-MOST, round(number / scale))) & 255 for number in row])
    return struct.pack(f"<{len(scales)}e", *scales), bytes(whole)


def packed(weights: dict[str, Matrix], left_out: Sequence[str] = (), halves: bool = False) -> tuple[list[list], bytes]:
    """Where each tensor begins and what it is, `[name, rows, columns, kind, begin]`, and the bytes of all.

    Args:
        left_out: how tensors begin that the page doesn't need (a tied output, a discriminator).
        halves: keep matrices in half precision as well.
    """
    tensors, data = [], bytearray()
    for name, matrix in weights.items():
        if name.startswith(tuple(left_out)):
            continue
        data += bytes(len(data) % 2)  # halves begin at even bytes
        kind = "half" if halves or matrix.columns == 1 else "byte"
        tensors.append([name, matrix.rows, matrix.columns, kind, len(data)])
        if kind == "half":
            data += struct.pack(f"<{len(matrix.numbers)}e", *matrix.numbers)
        else:
            data += b"".join(rounded(matrix))
    return tensors, bytes(data)


def as_script(name: str, contents: dict[str, Any], data: bytes) -> str:
    """The script that hands a pack over."""
    whole = contents | {"data": base64.b64encode(data).decode()}
    return f"LIVE.weights({json.dumps(name)}, {json.dumps(whole, ensure_ascii=False, separators=(',', ':'))});\n"


class Pack(NamedTuple):
    """What a model's pack is made of.

    Fields:
        file: of weights, in `results/weights`, without its ending; `None` for a pack of texts alone.
        known: what else the page must know. texts: files there whose JSON it must know, by name.
        left_out, halves: see :func:`packed`.
    """

    file: str | None
    known: dict[str, Any] = {}  # never changed
    texts: dict[str, str] = {}  # never changed
    left_out: tuple[str, ...] = ()
    halves: bool = False


PACKS = {
    "translator": Pack(
        "translate_transformer_de_en_0",
        {"d_model": 192, "heads": 6, "layers": 3},
        {"pieces": "translate_pieces_de_en"},
        ("output.weight",),
    ),
    "hull": Pack("pointing_hull_transformer_0", {"heads": 8, "layers": 3, "may_stop": True}),
    "tour": Pack("pointing_tsp10_transformer_0", {"heads": 8, "layers": 3, "may_stop": False}),
    "courier": Pack("trip_sizes_five_0", {"heads": 4, "layers": 2}),
    "numbers": Pack("numbers_attention_0", {"embedding": 32}),
    "plain_numbers": Pack("numbers_plain_0", {"embedding": 32}),
    "soft": Pack("captioning_soft_0", {"embedding": 32}),
    "hard": Pack("captioning_hard_4_0", {"embedding": 32}),
    "donor": Pack("digit_pairs_both_0", left_out=("discriminator.",)),
    "patches": Pack(None, texts={"seen": "dinov2_patches"}),
    "smollm2_heads": Pack(None, texts={"sentences": "smollm2_heads"}),
    "smollm2_next_words": Pack(None, texts={"beginnings": "smollm2_next_words"}),
    "smollm2_stories": Pack(None, texts={"told": "smollm2_stories"}),
    "ntm": Pack("copying_paper_paper_feedforward_0", {"width": 20, "fill": 1e-6}, halves=True),
}


def sources(name: str, folder: Path) -> list[Path]:
    """The files that a pack is made of. `folder`: `results/weights`."""
    pack = PACKS[name]
    weights = [folder / f"{pack.file}.pt"] if pack.file else []
    return [*weights, *(folder / f"{file}.json" for file in pack.texts.values())]


def script(name: str, folder: Path) -> str:
    """The whole script of a pack. `folder`: `results/weights`."""
    pack = PACKS[name]
    texts = {key: json.loads((folder / f"{file}.json").read_text(encoding="utf-8")) for key, file in pack.texts.items()}
    weights = read_weights(folder / f"{pack.file}.pt") if pack.file else {}
    tensors, data = packed(weights, pack.left_out, pack.halves)
    return as_script(name, pack.known | texts | {"tensors": tensors}, data)
