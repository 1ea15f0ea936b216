"""Byte-pair encoding: words are cut into pieces, and frequent words are pieces themselves.

By hand: :func:`merge_most_frequent_pair` is one step of learning, :func:`learn_merges` repeats it, :func:`split_word`
applies what was learnt. For a corpus the library ``tokenizers`` learns the same merges in a second.

A word's beginning bears the mark "▁", so that the pieces of a text, one behind the other, are the text again.

Source: Sennrich, Haddow and Birch 2016, section 3.2 and algorithm 1; the mark after Kudo and Richardson 2018.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from attnbook.data.arguments import check_texts
from attnbook.data.texts.vocabulary import SPECIAL, Vocabulary
from attnbook.extras import needed_from

Symbols = tuple[str, ...]
Pair = tuple[str, str]

MARK = "▁"  # stands for the space before a word
UNKNOWN = "\N{REPLACEMENT CHARACTER}"  # a character that the training text does not have


def count_pairs(words: Mapping[Symbols, int]) -> Counter[Pair]:
    """How often each two symbols stand side by side in ``words``, ``{symbols: how often the word occurs}``.

    >>> count_pairs({("l", "o", "w"): 5, ("l", "o"): 2})[("l", "o")]
    7
    """
    counts: Counter[Pair] = Counter()
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            counts[pair] += count
    return counts


def merge_pair(symbols: Symbols, pair: Pair) -> Symbols:
    """Join each occurrence of a pair into one symbol, from left to right.

    >>> merge_pair(("b", "a", "n", "a", "n", "a"), ("a", "n"))
    ('b', 'an', 'an', 'a')
    """
    merged: list[str] = []
    i = 0
    while i < len(symbols):
        width = 2 if symbols[i : i + 2] == pair else 1
        merged.append("".join(symbols[i : i + width]))
        i += width
    return tuple(merged)


def merge_most_frequent_pair(words: Mapping[Symbols, int]) -> tuple[Pair, dict[Symbols, int]]:
    """One step of byte-pair encoding: find the most frequent pair of neighbours, and merge it in every word.

    Args:
        words: ``{symbols: how often the word occurs}``.

    Returns:
        the pair (of equally frequent ones the first in sorted order), and the words with it merged.

    Raises:
        ValueError: if no word has two symbols.

    Source: Sennrich, Haddow and Birch 2016, algorithm 1.

    >>> merge_most_frequent_pair({("l", "o", "w"): 5, ("l", "o", "g"): 2})
    (('l', 'o'), {('lo', 'w'): 5, ('lo', 'g'): 2})
    """
    counts = count_pairs(words)
    if not counts:
        raise ValueError("words has no two symbols side by side, so there is nothing to merge")
    best = min(counts, key=lambda pair: (-counts[pair], pair))
    return best, {merge_pair(symbols, best): count for symbols, count in words.items()}


def learn_merges(words: Mapping[str, int], count: int) -> list[Pair]:
    """The first ``count`` merges of ``words``, ``{word: how often it occurs}``; fewer where nothing is left to merge.

    Raises:
        ValueError: if ``count`` is negative.
    """
    if count < 0:
        raise ValueError(f"count is the number of merges, at least 0; got {count}")
    symbols: dict[Symbols, int] = {tuple(word): number for word, number in words.items()}
    merges: list[Pair] = []
    while len(merges) < count and any(len(word) > 1 for word in symbols):
        pair, symbols = merge_most_frequent_pair(symbols)
        merges.append(pair)
    return merges


def split_word(word: str, ranks: Mapping[Pair, int]) -> Symbols:
    """Cut a word into pieces: of all neighbours that can be merged, merge those first that were learnt first.

    Args:
        ranks: ``{pair: when it was learnt}``, as :func:`merge_ranks` makes them.

    >>> split_word("lower", merge_ranks([("l", "o"), ("e", "r"), ("lo", "w")]))
    ('low', 'er')
    """
    symbols: Symbols = tuple(word)
    while True:
        known = [pair for pair in pairwise(symbols) if pair in ranks]
        if not known:
            return symbols
        symbols = merge_pair(symbols, min(known, key=ranks.__getitem__))


def merge_ranks(merges: Iterable[Pair]) -> dict[Pair, int]:
    """``{pair: how many merges were learnt before it}``."""
    return {pair: rank for rank, pair in enumerate(merges)}


def split_text(text: str) -> list[str]:
    """A text's words, each with "▁" for the space before it; punctuation stands alone. Joined they are the text.

    >>> split_text("Two dogs, a cat.")
    ['▁Two', '▁dogs', ',', '▁a', '▁cat', '.']
    """
    return re.findall(rf"{MARK}?\w+|{MARK}?[^\w{MARK}]|{MARK}", MARK + text.replace(" ", MARK))


class BytePairs:
    """Cuts texts into pieces, and joins pieces to texts.

    Args:
        letters: the characters that the training text has.
        merges: in the order in which they were learnt.

    Attributes:
        pieces: every piece there is: the unknown character, the letters, and what each merge makes.
    """

    def __init__(self, letters: Iterable[str], merges: Sequence[Pair]) -> None:
        self.merges = list(merges)
        self.pieces = (UNKNOWN, *letters, *dict.fromkeys("".join(pair) for pair in merges))
        self._known, self._ranks = set(self.pieces), merge_ranks(merges)
        self._split: dict[str, Symbols] = {}  # most words come again and again

    def encode(self, text: str) -> list[str]:
        """The pieces of a text. A character that no piece holds becomes the unknown one."""
        return [piece for word in split_text(text) for piece in self._pieces_of(word)]

    def _pieces_of(self, word: str) -> Symbols:
        if word not in self._split:
            self._split[word] = split_word("".join(self.letters(word)), self._ranks)
        return self._split[word]

    def letters(self, word: str) -> Symbols:
        """A word in its smallest pieces; a letter that no piece holds becomes the unknown one."""
        return tuple(letter if letter in self._known else UNKNOWN for letter in word)

    def decode(self, pieces: Iterable[str]) -> str:
        """The text of these pieces."""
        return "".join(pieces).replace(MARK, " ").removeprefix(" ")

    def saved(self) -> dict[str, list]:
        """What :meth:`from_saved` makes the same pieces of, fit for JSON."""
        merged = {"".join(pair) for pair in self.merges}
        return {
            "letters": [piece for piece in self.pieces[1:] if piece not in merged],
            "merges": [" ".join(pair) for pair in self.merges],
        }

    @classmethod
    def from_saved(cls, saved: Mapping[str, list[str]]) -> "BytePairs":
        """Pieces as :meth:`saved` wrote them down; no symbol holds a space, which divides the two of a merge."""
        return cls(saved["letters"], [tuple(merge.split(" ")) for merge in saved["merges"]])  # type: ignore[misc]

    def vocabulary(self) -> Vocabulary:
        """The pieces with their numbers, padding, begin and end before them."""
        return Vocabulary(self.pieces)


def train_byte_pairs(texts: Iterable[str], vocabulary_size: int) -> BytePairs:
    """Learn merges from texts with the library ``tokenizers``, until the vocabulary has so many pieces.

    Args:
        vocabulary_size: of the whole vocabulary: three specials, the unknown character, the letters and the merges.

    Raises:
        TypeError: if one text is given in place of a list.
        ValueError: if it has no room for the letters, or ``texts`` is empty.
        ModuleNotFoundError: if ``tokenizers`` is not installed.
    """
    check_texts(texts=texts)
    words = [word for text in texts for word in split_text(text)]
    letters = sorted(set("".join(words)))
    if not letters:
        raise ValueError("texts is empty; pieces are learnt from words")
    if vocabulary_size < len(letters) + len(SPECIAL) + 1:
        raise ValueError(f"vocabulary_size must be at least {len(letters) + len(SPECIAL) + 1}, got {vocabulary_size}")
    with needed_from("notebooks"):
        from tokenizers import Tokenizer, models, trainers
    library = Tokenizer(models.BPE())  # without a step before, it takes each of our words as one
    trainer = trainers.BpeTrainer(vocab_size=vocabulary_size - len(SPECIAL) - 1, show_progress=False)
    library.train_from_iterator(words, trainer)
    return BytePairs(letters, _merges_of(library.to_str()))


def _merges_of(saved: str) -> list[Pair]:
    """The merges of a tokenizer of the library, as it writes itself down."""
    return [(left, right) for left, right in json.loads(saved)["model"]["merges"]]
