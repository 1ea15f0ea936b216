"""Lab 19: weights of four bits: how a GGUF file stores 32 numbers in 20 bytes."""

import torch

from misread.exercise import About, Exercise


def dequantise_q4_1(raw):
    """Read blocks of 20 bytes, 32 numbers each: (20 · N,) uint8 -> (32 · N,) float32."""
    block = raw.reshape(-1, 20)  # (N, 20)
    halves = block[:, :4].contiguous().view(torch.float16).float()  # (N, 2)
    scale, offset = halves[:, :1], halves[:, 1:]  # (N, 1) each
    packed = block[:, 4:]  # (N, 16)
    integers = torch.cat([packed & 15, packed >> 4], dim=1)  # (N, 32)
    return (scale * integers + offset).flatten()


def _packed(scale, offset, integers):
    """Bytes (20 · N,) of blocks: scale and offset (N,), integers (N, 32) from 0 to 15."""
    halves = torch.stack([scale, offset], dim=1).half().view(torch.uint8)  # (N, 4)
    low, high = integers.to(torch.uint8).chunk(2, dim=1)  # (N, 16) each
    return torch.cat([halves, low | high << 4], dim=1).flatten()


def _tensors(draw):
    (blocks,) = draw.sizes(1)
    for count in (1, blocks, blocks + 3):
        scale, offset = draw.normal(count) / 5, draw.normal(count)
        yield (_packed(scale, offset, draw.integers(0, 16, count, 32)),)
    yield (_packed(draw.uniform(2, low=0.01, high=0.3), draw.normal(2), torch.arange(32).expand(2, 32) // 2),)
    yield (_packed(torch.tensor([4e-5]), torch.tensor([-3e-4]), draw.integers(0, 16, 1, 32)),)  # d without a leading 1
    zeros = torch.zeros(1)
    yield (_packed(zeros, draw.normal(1), draw.integers(0, 16, 1, 32)),)  # all numbers are equal to the offset
    yield (_packed(draw.normal(1) / 5, zeros, torch.full((1, 32), 15)),)
    yield (_packed(torch.tensor([3.0]), torch.tensor([-20.0]), draw.integers(0, 16, 1, 32)),)


DEQUANTISE_Q4_1 = Exercise(
    dequantise_q4_1,
    cases=_tensors,
    gradients=False,
    tolerance=1e-5,
    about=About(points=3, minutes=20, difficulty=3, read_again="What is in the file"),
)

_SCALE = "scale, offset = halves[:, :1], halves[:, 1:]"
_BOTH = "torch.cat([packed & 15, packed >> 4], dim=1)"
_VALUE = "scale * integers + offset"


def _steps(result, raw):
    """By how many d each number exceeds m (N, 32), and how far d times the nearest integer is from it (N, 32)."""
    halves = raw.reshape(-1, 20)[:, :4].contiguous().view(torch.float16).double()  # (N, 2)
    scale, offset = halves[:, :1], halves[:, 1:]  # (N, 1) each
    numbers = result.double().reshape(-1, 32)  # (N, 32)
    steps = torch.where(scale == 0, 0, (numbers - offset) / scale).round()
    return steps, (scale * steps + offset - numbers).abs()


def _reordered(result, raw):
    """Whether these are the right numbers in another order: then nothing is wrong with how they were computed."""
    found, right = result.double().sort().values, dequantise_q4_1(raw).double().sort().values
    return torch.allclose(found, right, rtol=1e-5, atol=1e-5)


def _exact(result, raw):
    _, miss = _steps(result, raw)
    return _reordered(result, raw) or (miss <= 1e-5 * (1 + result.double().reshape(-1, 32).abs())).all()


def _four_bits(result, raw):
    steps, _ = _steps(result, raw)
    return _reordered(result, raw) or not _exact(result, raw) or ((steps >= 0) & (steps <= 15)).all()


def _sixteen(result, raw):
    return _reordered(result, raw) or all(len(block.unique()) <= 16 for block in result.reshape(-1, 32))


must = DEQUANTISE_Q4_1.properties
must("m plus a whole number of d", _exact).says("""
    Each number of a block must be d · q + m with a whole number q. Yours are not, so scale or offset are read
    from other bytes or as another type, are used in another way, or a result was rounded.""")
must("whole numbers of four bits", _four_bits).says("""
    Each number of your blocks is d · q + m with a whole number q, so scale and offset are used as they should be.
    But some of your q are not between 0 and 15, so they are not four bits of a byte.""")
must("at most 16 different numbers in a block", _sixteen).says("""
    Four bits hold 16 different integers, so a block can have at most 16 different numbers. Yours has more.""")

wrong = DEQUANTISE_Q4_1.mistakes
wrong("scale and offset exchanged", {_SCALE: "offset, scale = halves[:, :1], halves[:, 1:]"}).says("""
    You used the first half-precision number as the offset and the second one as the scale. In a Q4_1 block the
    scale d comes first, and then the offset m.""")
wrong("upper bits first", {_BOTH: "torch.cat([packed >> 4, packed & 15], dim=1)"}).says("""
    You put the upper four bits of the bytes before the lower ones. The lower bits of the 16 bytes are the numbers
    0 to 15 of the block, and the upper bits are the numbers 16 to 31.""")
wrong("neighbours from one byte", {_BOTH: "torch.stack([packed & 15, packed >> 4], dim=2).flatten(1)"}).says("""
    You took the two halves of byte i as the numbers 2i and 2i + 1. In this format they are the numbers i and i +
    16: all lower halves come first, and then all upper halves.""")
wrong("neighbours, upper bits first", {_BOTH: "torch.stack([packed >> 4, packed & 15], dim=2).flatten(1)"}).says("""
    You took the upper half of byte i as number 2i and the lower half as number 2i + 1. The lower halves of the 16
    bytes are the numbers 0 to 15, and the upper halves are the numbers 16 to 31.""")
wrong("upper bits left where they are", {"packed >> 4": "packed & 240"}).says("""
    You kept the upper four bits and did not shift them, so these integers are 16 times too large. Shift them to
    the right by four bits: packed >> 4.""")
wrong("upper bits as a fraction", {"packed >> 4": "packed / 16"}).says("""
    You divided the byte by 16 with `/`, so the lower four bits are still there, as a fraction: 58 / 16 is 3.625,
    and the upper integer is 3. Shift the bits away with packed >> 4, or divide with `//`, which gives integers.""")
wrong("upper bits rounded", {"packed >> 4": "(packed / 16).round()"}).says("""
    You divided the byte by 16 and rounded to the nearest integer, so the upper integer is one too large wherever
    the lower one is more than 8. Shift the bits away with packed >> 4, or divide with `//`, which rounds down.""")
wrong("lower bits not cut off", {"packed & 15, ": "packed, "}).says("""
    You took the whole byte where only its lower four bits are wanted, so the upper number is mixed into the lower
    one. Keep four bits with packed & 15.""")
wrong("offset subtracted", {_VALUE: "scale * integers - offset"}).says("""
    You subtracted the offset. It is added: each number is d · q + m.""")
wrong("no offset", {_VALUE: "scale * integers"}).says("""
    You left the offset out. The integers are never negative, and the offset m moves the block to where its
    numbers are: d · q + m.""")
wrong("8 subtracted from the integers", {_VALUE: "scale * (integers.float() - 8) + offset"}).says("""
    You subtracted 8 from the integers. This belongs to another format, Q4_0, which has no offset. In Q4_1 the
    integers from 0 to 15 are used as they are, and m is added.""")
wrong("8 subtracted, no offset", {_VALUE: "scale * (integers.float() - 8)"}).says("""
    You computed d · (q − 8), which is another format, Q4_0. A Q4_1 block has an offset of its own: d · q + m.""")
wrong("offset multiplied as well", {_VALUE: "scale * (integers + offset)"}).says("""
    You added the offset to the integers and multiplied the sum by the scale. Only the integer is multiplied: d ·
    q + m.""")
wrong(
    "signed integers", {_VALUE: "scale * torch.where(integers > 7, integers.float() - 16, integers) + offset"}
).says("""
    You read the four bits as a signed integer from −8 to 7. In Q4_1 they are unsigned, from 0 to 15, because the
    offset already allows negative numbers.""")
wrong("computed in half precision", {".view(torch.float16).float()": ".view(torch.float16)"}).says("""
    You multiplied and added in half precision, which keeps about three digits, so the results are rounded a
    second time. Convert scale and offset with `.float()` before you multiply.""")
wrong("multiplied in half precision", {
    ".view(torch.float16).float()": ".view(torch.float16)", _VALUE: "(scale * integers).float() + offset"
}).says("""
    You multiplied in half precision, which rounds the product to about three digits, and added in single
    precision. Convert scale and offset with `.float()` before you multiply.""")  # fmt: skip
wrong("the result in half precision", {".flatten()": ".flatten().half()"}).says("""
    You computed the numbers in single precision and then turned the result into half precision, which rounds it
    to about three digits. The result is wanted as torch.float32.""")
wrong("the result in double precision", {".flatten()": ".flatten().double()"}).says("""
    The numbers are right, but the result is in double precision. It is wanted as torch.float32, in which a model
    computes: scale and offset become float32 by `.float()`, and the integers then follow.""")
wrong("bytes of the scale exchanged", {"block[:, :4].contiguous()": "block[:, [1, 0, 3, 2]]"}).says("""
    You read the two bytes of scale and offset in the opposite order. GGUF stores the lower byte first, as `view`
    on almost every computer expects, so the bytes can stay where they are.""")
wrong("first block's scale for all", {_SCALE: "scale, offset = halves[:1, :1], halves[:1, 1:]"}).says("""
    You used scale and offset of the first block for all blocks. Each block of 20 bytes begins with its own.""")
wrong("a block in each column", {"block = raw.reshape(-1, 20)": "block = raw.reshape(20, -1).T"}).says("""
    You gave the bytes the shape (20, N), so that a block would be a column. The 20 bytes of a block follow one another
    in `raw`, so each block is a *row*: raw.reshape(-1, 20).""")
wrong("all scales in front", {
    "block = raw.reshape(-1, 20)": "count = len(raw) // 20",
    "block[:, :4].contiguous()": "raw[: 4 * count].reshape(-1, 4)",
    "block[:, 4:]": "raw[4 * count :].reshape(-1, 16)",
}).says("""
    You read the scales and offsets of all blocks from the beginning of the tensor. They are not collected there:
    every 20 bytes hold one block, and each block begins with its own scale and offset.""")  # fmt: skip
wrong("bfloat16", {"torch.float16": "torch.bfloat16"}).says("""
    You read scale and offset as bfloat16. They are numbers in half precision, torch.float16, which has the same
    two bytes, but another meaning of the bits.""")
wrong("number by number instead of block by block", {".flatten()": ".T.flatten()"}).says("""
    You put number 0 of every block first, then number 1 of every block, and so on, because you transposed the
    table before you flattened it. The order is block by block: its rows are blocks, so flatten() it as it is.""")
wrong(
    "all lower halves first", {_VALUE: "scale * torch.cat([packed & 15, packed >> 4]).unflatten(0, (2, -1)) + offset"}
).says("""
    You put the lower halves of all blocks before the upper halves of all blocks. The order is block by block: 16
    numbers from the lower halves of a block, 16 from its upper halves, and then the next block.""")
_CONVERTED = ".contiguous().view(torch.float16).float()"
for how, byte in (("not read together", 1), ("the first of each two used", 2)):
    wrong(f"bytes converted, {how}", {
        _CONVERTED: ".float()", _SCALE: f"scale, offset = halves[:, :1], halves[:, {byte}:{byte + 1}]"
    }).says(f"""
        You converted each byte to a number of its own, as .half(), .float() or .to(torch.float16) do, so that the
        scale is the value of byte 0 and the offset that of byte {byte}. Two bytes *together* are the bits of one
        number: `view(torch.float16)` reads them so, and makes two columns of the four.""")  # fmt: skip
wrong("bits of the scale as an integer with a sign", {"view(torch.float16)": "view(torch.int16)"}).says("""
    You read the two bytes of scale and offset as integers. They are floating-point numbers in half precision, so
    their bits must be read as torch.float16: view(torch.float16).""")
wrong("bytes of the scale as an integer", {
    ".contiguous().view(torch.float16).float()": ".float()",
    _SCALE: "scale, offset = halves[:, :1] + 256 * halves[:, 1:2], halves[:, 2:3] + 256 * halves[:, 3:]",
}).says("""
    You read scale and offset as integers of two bytes. They are floating-point numbers in half precision, so
    their bits must be read as torch.float16 with `view`.""")  # fmt: skip
wrong(
    "scale and offset behind the integers", {"block[:, :4]": "block[:, 16:]", "block[:, 4:]": "block[:, :16]"}
).says("""
    You looked for scale and offset in the last four bytes of a block. They are the first four, and the integers
    follow.""")
wrong("bytes with a sign", {"packed = block[:, 4:]": "packed = block[:, 4:].view(torch.int8)"}).says("""
    You turned the bytes into int8, where those from 128 on become negative, and `>>` keeps the sign. Leave them
    as uint8: then packed >> 4 lies between 0 and 15.""")
wrong("three bits kept", {"packed & 15,": "packed & 7,"}).says("""
    You kept three bits of the lower integer. Four bits are all ones in 15, so the mask is packed & 15.""")
wrong("remainder and quotient of 15", {_BOTH: "torch.cat([packed % 15, packed // 15], dim=1)"}).says("""
    You divided the bytes by 15. Four bits have 16 values, so the lower integer is the remainder of a division by
    16, packed % 16 or packed & 15, and the upper one its quotient, packed // 16 or packed >> 4.""")
wrong("five bits kept", {"packed & 15,": "packed & 31,"}).says("""
    You kept five bits of the lower integer. Four bits are all ones in 15, so the mask is packed & 15.""")
wrong("bits in the opposite order", {
    _VALUE: "scale * sum((integers >> bit & 1) << 3 - bit for bit in range(4)) + offset"
}).says("""
    You read the four bits of each integer from the other end, so that 1 becomes 8. The order of the bits within a
    byte is the usual one: packed & 15 and packed >> 4 are the integers.""")  # fmt: skip
wrong("the upper integer subtracted once", {"packed & 15,": "packed - (packed >> 4),"}).says("""
    You subtracted the upper integer from the byte. The byte is 16 times the upper integer plus the lower one, so
    16 times as much would have to be subtracted; packed & 15 is shorter.""")
wrong("the sign of the scale lost", {_VALUE: "scale.abs() * integers + offset"}).says("""
    You used the absolute value of the scale. A scale may be negative, and the numbers of such a block lie below
    its offset.""")
wrong("remainder of 15", {"packed & 15,": "packed % 15,"}).says("""
    You took the remainder of a division by 15. Four bits have 16 values, so it is the remainder of a division by
    16, or packed & 15.""")
wrong("shifted by three bits", {"packed >> 4": "packed >> 3"}).says("""
    You shifted the upper integer by three bits, so that one bit of the lower one is left in it. Shift by four.""")
