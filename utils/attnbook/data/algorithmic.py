"""Tasks that a few lines of code solve, and that show what a network can hold in mind."""

from collections.abc import Sequence
from functools import cache

import torch

from attnbook.data.batching import Example, Links, Task
from attnbook.data.splitting import split_by_size
from attnbook.data.vocabulary import Vocabulary


def reversed_string(text: Sequence[str]) -> Example:
    """The example of a string read backwards; letter i of the source is letter T - 1 - i of the target.

    >>> example = reversed_string("abc")
    >>> example.target, sorted(example.sure)
    (('c', 'b', 'a'), [(0, 2), (1, 1), (2, 0)])
    """
    source = tuple(text)
    if not source:
        raise ValueError("text is empty; it needs at least one letter")
    links = _crossing(len(source))
    return Example(source, source[::-1], links, links, len(source))


@cache  # strings of one length share their links
def _crossing(length: int) -> Links:
    return frozenset((i, length - 1 - i) for i in range(length))


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
    if len(letters) < 2 or len(set(letters)) < len(letters):
        raise ValueError(f"letters is {letters!r}; it needs at least two letters, each of them once")
    if not 1 <= shortest <= longest:
        raise ValueError(f"shortest is {shortest} and longest {longest}; wanted 1 ≤ shortest ≤ longest")
    generator = torch.Generator().manual_seed(seed)

    def draw(size: int, count: int) -> list[str]:
        rows = torch.randint(len(letters), (count, size), generator=generator).tolist()
        return ["".join([letters[i] for i in row]) for row in rows]

    counts = (train, validation, test_per_size, longer_per_size)
    sizes = range(shortest, longest + 1)
    splits = split_by_size(draw, lambda size: len(letters) ** size, sizes, longer, counts, generator)
    return Task("reversed strings", *splits.examples(reversed_string), Vocabulary(letters), Vocabulary(letters))
