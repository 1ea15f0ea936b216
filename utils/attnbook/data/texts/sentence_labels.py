"""Captions with a label: is the order of their words theirs, and how many people do they name?

The first question needs the order of the words, and no bag of words can answer it. The second depends mostly on
which words there are. Both labels follow from the words alone, so that nobody had to label anything.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

from attnbook.data.arguments import check_texts

_PEOPLE = {
    "man": "men", "woman": "women", "boy": "boys", "girl": "girls", "child": "children", "person": "people",
    "kid": "kids", "lady": "ladies", "guy": "guys", "toddler": "toddlers", "baby": "babies", "worker": "workers",
    "player": "players", "cyclist": "cyclists", "climber": "climbers", "surfer": "surfers",
}  # fmt: skip
ONE, SEVERAL = frozenset(_PEOPLE), frozenset(_PEOPLE.values())
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "couple": 2, "pair": 2}
MANY = 3  # what a plural without a number counts for
_REACH = 4  # words before a plural among which its number stands: "two young asian men"


class Labelled(NamedTuple):
    """A sentence of words with spaces between them, and the number of its class, from 0 on."""

    text: str
    label: int


def caption_words(caption: str) -> list[str]:
    """The words of a caption in lower case, without punctuation.

    >>> caption_words("A man, in blue, sits.")
    ['a', 'man', 'in', 'blue', 'sits']
    """
    return re.findall(r"[a-z]+(?:['-][a-z]+)*", caption.lower())


def shuffle_words(
    words: Sequence[str], window: int | None = None, generator: torch.Generator | None = None
) -> list[str]:
    """The same words in a drawn order that is not theirs.

    Args:
        words: at least two different ones.
        window: words exchange their positions only inside blocks of so many; ``None`` = anywhere in the sentence.
        generator: of the random numbers.

    Raises:
        ValueError: if ``window`` is under 2, or no order inside the blocks differs from that of ``words``.
    """
    if window is not None and window < 2:
        raise ValueError(f"window must be at least 2 words, or None for all, got {window}")
    width = len(words) if window is None else window
    blocks = [list(words[start : start + width]) for start in range(0, len(words), max(width, 1))]
    if all(len(set(block)) < 2 for block in blocks):
        raise ValueError(f"words must hold two different ones within a window to be shuffled, got {list(words)}")
    while True:
        orders = [torch.randperm(len(block), generator=generator).tolist() for block in blocks]
        drawn = [block[i] for block, order in zip(blocks, orders, strict=True) for i in order]
        if drawn != list(words):
            return drawn


def word_order_examples(captions: Iterable[str], window: int | None = None, seed: int = 0) -> list[Labelled]:
    """Every second caption shuffled: label 1 where the order is the caption's own, 0 where it was drawn.

    No caption is there in both orders. Those of fewer than six words are left out.

    Raises:
        TypeError: if one caption is given in place of a list.
    """
    check_texts(captions=captions)
    generator = torch.Generator().manual_seed(seed)
    found: list[Labelled] = []
    for words in filter(lambda words: len(words) > 5, map(caption_words, captions)):
        own = len(found) % 2 == 0
        found.append(Labelled(" ".join(words if own else shuffle_words(words, window, generator)), int(own)))
    return found


def count_people(words: Sequence[str]) -> int:
    """How many people a caption names; a plural without a number counts for ``MANY``.

    >>> count_people("a man and two young women sit with a baby".split())
    4
    """
    total = 0
    for i, word in enumerate(words):
        if word in SEVERAL:
            total += next(
                (NUMBERS[other] for other in reversed(words[max(0, i - _REACH) : i]) if other in NUMBERS), MANY
            )
        total += word in ONE
    return total


def people_examples(captions: Iterable[str]) -> list[Labelled]:
    """Captions that name one (label 0), two (1), or three or more people (2); the others are left out.

    Raises:
        TypeError: if one caption is given in place of a list.
    """
    check_texts(captions=captions)
    counted = [(words, count_people(words)) for words in map(caption_words, captions)]
    return [Labelled(" ".join(words), min(count, 3) - 1) for words, count in counted if count]
