"""Which words belong together in twenty sentences of Multi30k, as a large language model (Claude) linked them.

The sentences are the first twenty of the test of 2016, German and English; they lie with the corpus and not here. Links
follow Och and Ney 2003, section 5.1: a sure one joins words that mean the same, a possible one (with ``?``) joins words
that nobody could call wrong. Twenty sentences are few, and nobody checked the links: an error rate on them is rough.
"""

import re
from typing import NamedTuple

from attnbook.data.batching import Links
from attnbook.data.texts.byte_pairs import MARK

# A line per sentence: words of German and English counted from 0, "3-4" sure, "3?4" possible.
LINKS = """
0-0 1-1 2-2 3-3 4-4 5-5 6?6 7?6 9-6 9-7 8-8 10-9
0-0 1-1 2-2 3?3 3-4 4-5 5-6 5-7 6-8 7?9 7-10 7?11 8-12 9-13 10-14 11-15
0-0 1-1 2-2 3?4 4-3 4-4 5-5 6-6 7-7 8-8 9-9 10?10 10-11 11-12
0-0 1-1 2-2 3-3 3-4 4-5 5?6 6-6 7-7 8-8 8-9 9-10 10?11 10-12 11-13 12-14 12-15 13-16 14-17
0-0 1?1 1-2 2-3 3-4 4-5 4-6 5-7 6-8
0-0 1-3 1?4 2?2 2?4 2-5 3-1 4-6 5-7 6-8 7-9 8-10 9-11 10-12 11-13 12-14 14-15 16?16 17-17 18-18 19-19 20?20 20-21 21-22 22-23 23-24 24?17 25-16 26-25
0-0 1-1 2-2 3-3 4-4 5?5 5-6 5?7 6-8 7-9 8-10
0-0 1-1 2-2 3-3 4-4 5-5 6?6 6-7 8?12 9-13 10-14 11?8 12?9 12?10 12?11 13-15 14-16 15-17 16-18 17-19 17-20 18-21 19-22 20?23 20-24 22-27 23-25 24-26 25-28
0-0 1-1 2-2 3-3 4-4 5-5 6-6
0-0 1-1 2-2 3-3 4-4 5?5 5-6 6-7 7-8 8-9 9-10 10-11 11-12 12-13
0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-9 10?10 11-10 12-11
0-0 2?1 3-2 4-1 5-3 6-4 7-5 8-6 9-8 10-9 11-7 12-7 13?10 14?10 15?11 16-11 17?12 18-12 19-13 20-14 21-15 23-16
0-0 1-1 3?2 4-7 5-8 6-9 7-3 8-4 9-5 10-6 11-2 12-10
0?0 1-1 2-0 5-4 6-5 7-6 8-7 9-8 10-9 11?2 12?3 13-3 14-2 15-10
0-0 1-1 2-2 3-3 4-4 5-5 6-6
0-0 1-1 2-2 3-3 4-4 4-5 5?6 5-7 6-8 7-9 8-10 9-11 9-12 10-13
0-0 1-1 2-2 3-4 4-5 5-6 6-7 6-8 7-9 8-3 9-10
0-0 1-1 2-2 3-3 4-4 5-5 6-6 7?7 8?7 9-7 10-8 10-9 11?10 11-11 12-14 13-15 14-16 15-12 16?12 16?13 17-13 18-17
0-0 1-1 2-2 2-3 3-4 4-5 5?6 5-8 6?8 7?7 8-7 9-9
0-0 1-1 2-2 3?2 3?3 4?3 5-4 6?4 7-5 8?6 9-6 10-7 11?9 12-8 12-9 13-10
"""  # noqa: E501 (a sentence is a line)


class HandAlignment(NamedTuple):
    """Links of one sentence: ``(word of the German one, word of the English one)``; possible ones hold the sure."""

    sure: Links
    possible: Links


def hand_alignments() -> list[HandAlignment]:
    """Of the first twenty sentences of the test of 2016, in their order."""
    return [_read(line) for line in LINKS.split("\n")[1:-1]]


def _read(line: str) -> HandAlignment:
    found = [(mark, (int(source), int(target))) for source, mark, target in re.findall(r"(\d+)([-?])(\d+)", line)]
    return HandAlignment(frozenset(link for mark, link in found if mark == "-"), frozenset(link for _, link in found))


def words_of(sentence: str) -> list[str]:
    """Words and punctuation marks, as the links count them; a word with hyphens is one.

    >>> words_of("Ein saftig-grünes Feld.")
    ['Ein', 'saftig-grünes', 'Feld', '.']
    """
    return re.findall(r"\w+(?:-\w+)*|[^\w\s]", sentence)


def word_of_each(pieces: list[str], words: list[str]) -> list[int]:
    """The number of the word that each piece belongs to.

    Raises:
        ValueError: if the pieces are not those of the words.

    >>> word_of_each(["▁Ein", "▁Ha", "us", "."], ["Ein", "Haus", "."])
    [0, 1, 1, 2]
    """
    letters = [number for number, word in enumerate(words) for _ in word]
    sizes = [len(piece.replace(MARK, "")) for piece in pieces]
    if sum(sizes) != len(letters):
        raise ValueError(f"the pieces have {sum(sizes)} letters and the words {len(letters)}")
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return [letters[min(start, len(letters) - 1)] for start in starts]
