"""Two lists of numbers that differ in the word *hundred* alone: does *hundert* depend on it, whatever its weight is?"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from attnbook.data import number_list, number_words_en
from attnbook.data.batching import Example

VALUES = {number_words_en(number): number for number in range(1000)}


class HundredPair(NamedTuple):
    """Two lists, and where the word in which they differ stands.

    Fields:
        longer: a list with a whole hundred, "seven , three hundred". shorter: the same without *hundred*.
        step: of *hundert* in the target of the longer list. position: of *hundred* in its source.
    """

    longer: Example
    shorter: Example
    step: int
    position: int


def hundred_pairs(examples: Sequence[Example], seed: int = 0) -> list[HundredPair]:
    """For each list of numbers below 1,000 a pair: one of its numbers becomes a whole hundred, 100 to 900, or 1 to 9.

    Which number and which digit is drawn with ``seed``.
    """
    draw = random.Random(seed)
    pairs = []
    for example in examples:
        numbers = [VALUES[tuple(part.split())] for part in " ".join(example.source).split(" , ")]
        which, digit = draw.randrange(len(numbers)), draw.randint(1, 9)
        before, after = numbers[:which], numbers[which + 1 :]
        longer, shorter = (number_list([*before, new, *after]) for new in (100 * digit, digit))
        up_to_here = number_list([*before, 100 * digit])  # its last word is hundred, or hundert
        pairs.append(HundredPair(longer, shorter, len(up_to_here.target) - 1, len(up_to_here.source) - 1))
    return pairs
