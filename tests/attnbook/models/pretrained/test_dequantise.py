"""Blocks of few bits, by hand."""

import struct

import torch

from attnbook.models.pretrained.dequantise import float16, float32, q4_1, q8_0


def raw(content: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def test_whole_numbers_are_read_as_they_are():
    assert float32(raw(struct.pack("<2f", 0.1, -3.0))).tolist() == [torch.tensor(0.1).item(), -3.0]
    assert float16(raw(struct.pack("<2e", 0.5, -3.0))).tolist() == [0.5, -3.0]


def test_eight_bits_are_signed_and_multiplied_by_the_scale():
    integers = [-128, 127, *range(30)]
    assert q8_0(raw(struct.pack("<e32b", 0.25, *integers))).tolist() == [0.25 * q for q in integers]


def test_four_bits_count_from_the_offset_and_a_byte_holds_numbers_16_apart():
    """The byte 0xF1: 1 is number 0 of the block, and 15 is number 16."""
    numbers = q4_1(raw(struct.pack("<2e16B", 0.5, -2.0, 0xF1, *[0x32] * 15)))
    assert numbers[0] == 0.5 * 1 - 2
    assert numbers[16] == 0.5 * 15 - 2
    assert numbers[1:16].tolist() == [0.5 * 2 - 2] * 15
    assert numbers[17:].tolist() == [0.5 * 3 - 2] * 15


def test_each_block_has_a_scale_of_its_own():
    first, second = (struct.pack("<e32b", scale, *[1] * 32) for scale in (1.0, 2.0))
    assert q8_0(raw(first + second)).tolist() == [1.0] * 32 + [2.0] * 32
    first, second = (struct.pack("<2e16B", scale, scale, *[0x11] * 16) for scale in (1.0, 2.0))
    assert q4_1(raw(first + second)).tolist() == [2.0] * 32 + [4.0] * 32
