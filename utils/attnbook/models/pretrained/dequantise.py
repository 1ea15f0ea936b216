"""Numbers in few bits: how a GGUF file stores 32 of them in a block, and how they are read again.

Each function takes the raw bytes of a tensor, ``(bytes,)`` uint8, and returns its numbers in order, ``(numbers,)``
float32. A block has a scale in half precision; its 32 numbers are small integers, which the scale multiplies.

Source: the block formats of ggml (``ggml-common.h`` and ``ggml-quants.c``).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 32  # numbers in a block


def float32(raw: Tensor) -> Tensor:
    """Four bytes per number, as they are."""
    return raw.view(torch.float32)


def float16(raw: Tensor) -> Tensor:
    """Two bytes per number."""
    return raw.view(torch.float16).float()


def q8_0(raw: Tensor) -> Tensor:
    """Blocks of 34 bytes: a scale d, then 32 signed integers q of eight bits. The numbers are d · q."""
    block = raw.view(-1, 2 + BLOCK)
    scale = block[:, :2].contiguous().view(torch.float16).float()  # (blocks, 1)
    return (scale * block[:, 2:].view(torch.int8)).flatten()  # (blocks, 32) -> (numbers,)


def q4_1(raw: Tensor) -> Tensor:
    """Blocks of 20 bytes: a scale d, an offset m, then 32 integers q from 0 to 15. The numbers are d · q + m.

    Byte i holds two integers: number i in its lower four bits, and number i + 16 in its upper four.
    """
    block = raw.view(-1, 4 + BLOCK // 2)
    scale, offset = block[:, :4].contiguous().view(torch.float16).float().split(1, dim=1)  # (blocks, 1) each
    packed = block[:, 4:]  # (blocks, 16)
    integers = torch.cat([packed & 15, packed >> 4], dim=1)  # (blocks, 32)
    return (scale * integers + offset).flatten()


class Kind(NamedTuple):
    """How numbers are stored: how many share how many bytes, and what reads them."""

    name: str
    numbers: int
    bytes: int
    read: Callable[[Tensor], Tensor]


KINDS = {  # by the number that a GGUF file gives them
    0: Kind("F32", 1, 4, float32),
    1: Kind("F16", 1, 2, float16),
    3: Kind("Q4_1", BLOCK, 20, q4_1),
    8: Kind("Q8_0", BLOCK, 34, q8_0),
}
