"""Files of weights, written by hand for tests: safetensors and GGUF from tensors, and messages such as ONNX has."""

import json
import struct
from pathlib import Path

import torch
from torch import Tensor

DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}


def write_safetensors(path: Path, tensors: dict[str, Tensor], **changed) -> Path:
    """A safetensors file; ``changed`` replaces entries of the header by name."""
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()
        offsets = [len(body), len(body) + len(raw)]
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": offsets}
        body += raw
    for name, entry in changed.items():
        header[name] = header[name] | entry
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def gguf_bytes(facts: dict, tensors: list[tuple[str, tuple[int, ...], int, bytes]], version: int = 3) -> bytes:
    """A GGUF file: facts, and tensors with their shape (rows first), the number of their kind, and their bytes."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(facts))
    for name, value in facts.items():
        head += _text(name) + _value(value)
    body = b""
    for name, shape, kind, raw in tensors:
        body += bytes(-len(body) % 32)
        head += (
            _text(name)
            + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
            + struct.pack("<IQ", kind, len(body))
        )
        body += raw
    return head + bytes(-len(head) % 32) + body


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):
        one = _value(value[0])
        return struct.pack("<I", 9) + one[:4] + struct.pack("<Q", len(value)) + b"".join(_value(v)[4:] for v in value)
    kind, form = (7, "?") if isinstance(value, bool) else (4, "I") if isinstance(value, int) else (6, "f")
    return struct.pack("<I", kind) + struct.pack(f"<{form}", value)


def message(*fields: tuple[int, int | bytes | str]) -> bytes:
    """A message of protocol buffers: numbers of fields, and whole numbers, texts or further messages."""
    parts = []
    for field, value in fields:
        if isinstance(value, int):
            parts.append(_whole(field << 3) + _whole(value))
        else:
            text = value.encode() if isinstance(value, str) else value
            parts.append(_whole(field << 3 | 2) + _whole(len(text)) + text)
    return b"".join(parts)


def _whole(number: int) -> bytes:
    low = bytes([number & 127 | (128 if number > 127 else 0)])
    return low + _whole(number >> 7) if number > 127 else low
