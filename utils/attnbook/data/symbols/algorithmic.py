"""Tasks that a few lines of code solve, and that show what a network can hold in mind."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.data.batching import Example, Links, Task
from attnbook.data.splitting import split_by_size
from attnbook.data.texts.vocabulary import Vocabulary
from attnbook.seeding import generator
from attnbook.trees import moved


def reversed_string(text: Sequence[str]) -> Example:
    """The example of a string read backwards; letter i of the source is letter T - 1 - i of the target.

    >>> example = reversed_string("abc")
    >>> example.target, sorted(example.sure)
    (('c', 'b', 'a'), [(0, 2), (1, 1), (2, 0)])
    """
    return _string_example(text, -1)


def copied_string(text: Sequence[str]) -> Example:
    """The example of a string written as it was read; letter i of the source is letter i of the target.

    >>> example = copied_string("abc")
    >>> example.target, sorted(example.sure)
    (('a', 'b', 'c'), [(0, 0), (1, 1), (2, 2)])
    """
    return _string_example(text, 1)


def _string_example(text: Sequence[str], step: int) -> Example:
    """A string and the same string taken in steps of 1 (a copy) or of -1 (reversed)."""
    source = tuple(text)
    if not source:
        raise ValueError("text is empty; it needs at least one letter")
    links = _links(len(source), step)
    return Example(source, source[::step], links, links, len(source))


@cache  # strings of one length share their links
def _links(length: int, step: int) -> Links:
    return frozenset(enumerate(range(length)[::step]))


def reversed_strings(
    letters: str = "abcdefghij",
    shortest: int = 2,
    longest: int = 24,
    train: int = 40_000,
    validation: int = 500,
    test_per_size: int = 100,
    longer: Sequence[int] = (30, 36, 48),
    longer_per_size: int = 200,
    seed: int = 0,
) -> Task:
    """Random strings to be written backwards, all lengths from `shortest` to `longest` equally often.

    Nothing about such a string can be guessed: each letter of ten adds log2 10 = 3.3 bits that must be kept.
    Test and validation strings never occur in training; of very short ones (100 of length 2) a tenth is kept
    for the test.
    Raises ValueError for fewer than two letters, a letter that comes twice, or lengths that make no range.
    """
    counts = train, validation, test_per_size, longer_per_size
    return _string_task(
        "reversed strings", reversed_string, letters, range(shortest, longest + 1), longer, counts, seed
    )


def copied_strings(
    letters: str = "abcdefghij",
    shortest: int = 2,
    longest: int = 20,
    train: int = 40_000,
    validation: int = 500,
    test_per_size: int = 50,
    longer: Sequence[int] = (24, 30, 40, 60, 80),
    longer_per_size: int = 100,
    seed: int = 0,
) -> Task:
    """Random strings to be written as they are, drawn and split as :func:`reversed_strings` does.

    The input says nothing but the letters, and each letter comes many times in a string: to copy it, a model has to
    know where it is. Raises ValueError as :func:`reversed_strings` does.
    """
    counts = train, validation, test_per_size, longer_per_size
    return _string_task("copied strings", copied_string, letters, range(shortest, longest + 1), longer, counts, seed)


def _string_task(
    name: str,
    example: Callable[[Sequence[str]], Example],
    letters: str,
    sizes: range,
    longer: Sequence[int],
    counts: tuple[int, int, int, int],
    seed: int,
) -> Task:
    """Random strings, split into training, validation and test; each becomes an example."""
    if len(letters) < 2 or len(set(letters)) < len(letters):
        raise ValueError(f"letters is {letters!r}; it needs at least two letters, each of them once")
    if not 1 <= sizes.start < sizes.stop:
        raise ValueError(f"shortest is {sizes.start} and longest {sizes.stop - 1}; wanted 1 ≤ shortest ≤ longest")
    source = generator(seed)

    def draw(size: int, count: int) -> list[str]:
        rows = torch.randint(len(letters), (count, size), generator=source).tolist()
        return ["".join([letters[i] for i in row]) for row in rows]

    there_are = partial(pow, len(letters))  # so many strings of a size
    splits = split_by_size(draw, there_are, sizes, longer, counts, source)
    return Task(name, *splits.examples(example), Vocabulary(letters), Vocabulary(letters))


class BitBatch(NamedTuple):
    """Sequences of binary vectors, all of one length, and what is to be answered at which step.

    inputs (B, T, I) · target (B, T, O), zeros and ones · mask (B, T) bool, True = an answer is wanted at this step.
    """

    inputs: Tensor
    target: Tensor
    mask: Tensor

    def to(self, device: torch.device | str) -> "BitBatch":
        """The same batch on another device."""
        return moved(self, device)


def copy_batch(length: int, count: int, seed: int = 0, bits: int = 8) -> BitBatch:
    """Random vectors, a delimiter on a channel of its own, and then the same vectors are wanted from memory.

    Args:
        length: how many vectors, L; all sequences of a batch are of one length.
        count: how many sequences, B.
        seed: the same sequences come for the same seed.
        bits: features of a vector.

    Returns:
        inputs ``(B, 2 · L + 1, bits + 1)``, target ``(B, 2 · L + 1, bits)``; the last L steps are asked, with nothing
        but zeros as input.

    Raises:
        ValueError: if ``length``, ``count`` or ``bits`` is below 1.

    Source: Graves et al. 2014, section 4.1 (lengths 1 to 20, 8 bits).

    >>> batch = copy_batch(2, 1, bits=1)
    >>> batch.inputs.shape, batch.mask.long().tolist()
    (torch.Size([1, 5, 2]), [[0, 0, 0, 1, 1]])
    """
    _check_at_least(1, length=length, count=count, bits=bits)
    said = _random_bits((count, length, bits), generator(seed))  # (B, L, bits)
    return _question_and_answer(_with_channels(said, 1), [1.0], said)


def repeat_copy_batch(length: int, repeats: int, count: int, seed: int = 0, bits: int = 8, most: int = 10) -> BitBatch:
    """Random vectors, then how often they are wanted: so many copies, and a mark at the end.

    The number of copies comes normalised (mean 0, variance 1 over 1 to ``most``), on a channel beside the delimiter's.
    In the paper the number stands alone; but near the mean it is almost zero, and then hard to notice.

    Args:
        length: vectors, L; repeats: copies, R; count: sequences, B; seed; bits.
        most: training shows 1 to ``most`` copies; ``repeats`` may be more in a test.

    Returns:
        inputs ``(B, L + 1 + R · L + 1, bits + 2)``, target ``(B, …, bits + 1)``, whose last channel marks the end.

    Raises:
        ValueError: if a number is below 1, or ``most`` below 2.

    Source: Graves et al. 2014, section 4.2 (lengths and copies from 1 to 10).
    """
    _check_at_least(1, length=length, repeats=repeats, count=count, bits=bits)
    _check_at_least(2, most=most)
    said = _random_bits((count, length, bits), generator(seed))  # (B, L, bits)
    answer = torch.zeros(count, repeats * length + 1, bits + 1)
    answer[:, :-1, :bits] = said.repeat(1, repeats, 1)
    answer[:, -1, bits] = 1.0
    number = (repeats - (most + 1) / 2) / ((most**2 - 1) / 12) ** 0.5
    return _question_and_answer(_with_channels(said, 2), [1.0, number], answer)


def associative_recall_batch(items: int, count: int, seed: int = 0, vectors: int = 3, bits: int = 6) -> BitBatch:
    """Some items, then one of them again: the item that followed it is wanted.

    An item is a delimiter and its vectors. The one asked stands between two delimiters on another channel. Items are
    drawn at random; now and then (6 rows of 100,000 with six items of 18 bits) two are equal.

    Args:
        items: how many, at least 2; count: sequences, B; seed; vectors: of an item; bits: of a vector.

    Returns:
        inputs ``(B, items · (vectors + 1) + 2 · vectors + 2, bits + 2)``, target ``(B, …, bits)``; the last
        ``vectors`` steps are asked.

    Raises:
        ValueError: if ``items`` is below 2, or another number below 1.

    Source: Graves et al. 2014, section 4.3 (2 to 6 items of three 6-bit vectors).
    """
    _check_at_least(2, items=items)
    _check_at_least(1, count=count, vectors=vectors, bits=bits)
    source = generator(seed)
    content = _random_bits((count, items, vectors, bits), source)
    asked, row = torch.randint(items - 1, (count,), generator=source), torch.arange(count)  # (B,)
    listed = torch.zeros(count, items, 1 + vectors, bits + 2)
    listed[..., 0, bits] = 1.0  # each item begins with its delimiter
    listed[..., 1:, :bits] = content
    question = torch.zeros(count, 1 + vectors, bits + 2)
    question[:, 0, bits + 1] = 1.0
    question[:, 1:, :bits] = content[row, asked]
    said = torch.cat([listed.flatten(1, 2), question], dim=1)  # (B, items · (1 + vectors) + 1 + vectors, bits + 2)
    return _question_and_answer(said, [0.0, 1.0], content[row, asked + 1])


def mark_phases(batch: BitBatch) -> BitBatch:
    """The same task with its phases marked, on two more channels: a first step, and each step that wants an answer.

    Without marks, a step that wants an answer looks just like a vector of zeros. A feed-forward controller, which has
    no memory but the one it writes to, can tell them apart only by what it has read.

    Returns:
        inputs ``(B, 1 + T, I + 2)``: the first step holds nothing but its mark, on channel I; channel I + 1 is 1
        where an answer is wanted. target ``(B, 1 + T, O)``, mask ``(B, 1 + T)``.

    >>> mark_phases(copy_batch(1, 1, bits=1)).inputs[0, :, 2:].tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    mask = F.pad(batch.mask, (1, 0))  # (B, 1 + T), False at the first step
    begins = torch.zeros_like(mask)
    begins[:, 0] = True
    marks = torch.stack([begins, mask], dim=-1).to(batch.inputs)  # (B, 1 + T, 2)
    inputs = torch.cat([F.pad(batch.inputs, (0, 0, 1, 0)), marks], dim=-1)  # (B, 1 + T, I + 2)
    return BitBatch(inputs, F.pad(batch.target, (0, 0, 1, 0)), mask)


def _check_at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if number < least:
            raise ValueError(f"{name} must be at least {least}, got {number}")


def _random_bits(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randint(2, shape, generator=generator).float()


def _with_channels(vectors: Tensor, channels: int) -> Tensor:
    """``(..., bits)`` -> ``(..., bits + channels)``; the new channels are silent."""
    return F.pad(vectors, (0, channels))


def _question_and_answer(said: Tensor, signal: list[float], answer: Tensor) -> BitBatch:
    """``said (B, S, I)``, one step with ``signal`` on its last channels, then silence while the answer is due."""
    count, before, features = said.shape
    inputs = torch.zeros(count, before + 1 + answer.shape[1], features)
    inputs[:, :before] = said
    inputs[:, before, features - len(signal) :] = torch.tensor(signal)
    target = torch.zeros(count, inputs.shape[1], answer.shape[-1])
    target[:, before + 1 :] = answer
    mask = (torch.arange(inputs.shape[1]) > before).expand(count, -1)  # (T,) -> (B, T)
    return BitBatch(inputs, target, mask)
