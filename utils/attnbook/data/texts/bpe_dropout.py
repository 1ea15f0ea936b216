"""BPE-dropout: the training text is cut into other pieces in each epoch, because merges are left out by chance.

A model then reads a word in many forms, the rare pieces too, and cannot learn a sentence by heart so easily. Validation
and test are cut as ever.

Source: Provilkov, Emelianenko and Voita 2020, section 3.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

from attnbook.data.batching import Example, Task
from attnbook.data.texts.byte_pairs import BytePairs, Pair, Symbols, merge_ranks, split_text
from attnbook.data.texts.translation import TranslationTask


def possible_merges(symbols: Symbols, ranks: Mapping[Pair, int]) -> tuple[Symbols, ...]:
    """What each merge of two neighbours would make of a word; the merge that was learnt first comes first.

    >>> possible_merges(("l", "o", "w", "e", "r"), {("l", "o"): 0, ("e", "r"): 1})
    (('lo', 'w', 'e', 'r'), ('l', 'o', 'w', 'er'))
    """
    found = sorted((ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks)
    return tuple((*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :]) for _, i in found)


class PieceDropout:
    """Cuts words into pieces by chance: at each merge, every possible one is dropped with the same probability.

    Of those that stay, the one that was learnt first is done; then all are drawn anew. A word is done when none stays.

    Args:
        pieces: as they were learnt; they are left as they are.
        dropout: that probability. With 0 words are cut as ``pieces`` cut them, with 1 into letters.

    Raises:
        ValueError: if ``dropout`` lies outside 0..1.
    """

    def __init__(self, pieces: BytePairs, dropout: float) -> None:
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability, from 0 to 1; got {dropout}")
        self.pieces, self.dropout, self._ranks = pieces, dropout, merge_ranks(pieces.merges)
        self._merges: dict[Symbols, tuple[Symbols, ...]] = {}  # the same words come again and again

    def cut(self, letters: Symbols, chance: Callable[[], float]) -> Symbols:
        """The pieces of one word.

        Args:
            letters: of the word, see :meth:`~attnbook.data.texts.byte_pairs.BytePairs.letters`.
            chance: draws a number from 0 to 1, 1 excluded, evenly.
        """
        symbols, merges, dropout = letters, self._merges, self.dropout
        while True:
            if symbols not in merges:
                merges[symbols] = possible_merges(symbols, self._ranks)
            for merged in merges[symbols]:
                if chance() >= dropout:
                    symbols = merged
                    break
            else:
                return symbols


class CutAnew:
    """The training part of a translation task with its sentences cut anew, a pure function of seed and epoch.

    Args:
        data: the task; its vocabularies and its other parts stay as they are.
        dropout: the probability with which a merge is dropped, see :class:`PieceDropout`.

    Raises:
        ValueError: if ``dropout`` lies outside 0..1.
    """

    def __init__(self, data: TranslationTask, dropout: float) -> None:
        self.data = data
        self._sides = [PieceDropout(pieces, dropout) for pieces in (data.source_pieces, data.target_pieces)]
        self._words = [
            tuple(words_of(one, side.pieces) for one, side in zip(example[:2], self._sides, strict=True))
            for example in data.task.train
        ]

    def __call__(self, seed: int, epoch: int) -> Task:
        """The task as it is in this epoch."""
        chance = random.Random(1_000_003 * seed + epoch).random
        train = []
        for words, example in zip(self._words, self.data.task.train, strict=True):
            source, target = (
                tuple([piece for letters in sentence for piece in side.cut(letters, chance)])
                for sentence, side in zip(words, self._sides, strict=True)
            )
            train.append(Example(source, target, size=example.size))
        return replace(self.data.task, train=train)


def words_of(pieces: Symbols, known: BytePairs) -> list[Symbols]:
    """The letters of each word of a sentence that is given in pieces."""
    return [known.letters(word) for word in split_text(known.decode(pieces))]
