"""Translation as a task: pairs of sentences in pieces, batches by tokens, and the references that BLEU is computed on.

The pieces of either language are learnt from its training part alone. The captions of Multi30k are fetched or given
(:mod:`attnbook.data.texts.multi30k`); a few sentences of our own lie in the book, so that everything can be tried
without them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.batching import Batch, Example, Task
from attnbook.data.texts import multi30k
from attnbook.data.texts.byte_pairs import BytePairs, train_byte_pairs
from attnbook.data.texts.own_translations import own_pairs

PAIRS = ("de-en", "en-de")
PIECES, OWN_PIECES = 3000, 300  # of each language's vocabulary, specials included
TESTS = ("test_2016_flickr", "test_2017_flickr")


class TranslationTask(NamedTuple):
    """A task, the pieces of both languages, and what the standard scores need beside them.

    Fields:
        task: sources and targets in pieces; an example's size is the number of words of its source.
        source_pieces, target_pieces: cut further sentences alike, and join pieces.
        tests: by name, sentences to translate. references: by name, their translations by people, as written.
    """

    task: Task
    source_pieces: BytePairs
    target_pieces: BytePairs
    tests: dict[str, list[Example]]
    references: dict[str, list[str]]

    def sizes(self) -> tuple[int, int]:
        """Of the two vocabularies, specials included."""
        return len(self.task.source_vocabulary), len(self.task.target_vocabulary)


Sentences = Sequence[tuple[str, str]]


def translation_task(
    name: str, train: Sentences, validation: Sentences, tests: Mapping[str, Sentences], pieces: int
) -> TranslationTask:
    """Make a task of pairs (source, target). Pairs whose source is held out are taken out of training.

    Args:
        validation: kept apart to choose settings by, and to stop early.
        tests: by name; nothing is ever chosen by them.
        pieces: of each vocabulary, specials included.

    Raises:
        ValueError: if nothing is left to train on, or ``pieces`` leaves no room for the letters.
    """
    held_out = {source for part in (validation, *tests.values()) for source, _ in part}
    train = [pair for pair in train if pair[0] not in held_out]
    source_pieces, target_pieces = (train_byte_pairs([pair[side] for pair in train], pieces) for side in (0, 1))

    def examples(pairs: Sentences) -> list[Example]:
        return [cut(source, target, source_pieces, target_pieces) for source, target in pairs]

    tested = {test: examples(pairs) for test, pairs in tests.items()}
    task = Task(
        name, examples(train), examples(validation), next(iter(tested.values())), {},
        source_pieces.vocabulary(), target_pieces.vocabulary(),
    )  # fmt: skip
    references = {"validation": [target for _, target in validation]}
    references |= {test: [target for _, target in pairs] for test, pairs in tests.items()}
    return TranslationTask(task, source_pieces, target_pieces, tested, references)


def cut(source: str, target: str, source_pieces: BytePairs, target_pieces: BytePairs) -> Example:
    """A pair of sentences in pieces."""
    return Example(tuple(source_pieces.encode(source)), tuple(target_pieces.encode(target)), size=len(source.split()))


@cache
def multi30k_task(pair: str = "de-en", pieces: int = PIECES) -> TranslationTask:
    """Multi30k as released, cased and not tokenised: 29,000 pairs, 1,014 for validation, the tests of 2016 and 2017.

    Args:
        pair: ``"de-en"`` translates from German into English, ``"en-de"`` from English into German.
        pieces: of each vocabulary, specials included.

    Raises:
        ValueError: for another pair, too few pieces; and what :func:`attnbook.data.texts.multi30k.lines` raises.
    """
    check_pair(pair)
    source, target = pair.split("-")

    def pairs(split: str) -> list[tuple[str, str]]:
        return list(zip(multi30k.lines(split, source), multi30k.lines(split, target), strict=True))

    return translation_task(pair, pairs("train"), pairs("val"), {test: pairs(test) for test in TESTS}, pieces)


@cache
def own_translation_task(pair: str = "de-en", pieces: int = OWN_PIECES) -> TranslationTask:
    """The book's own sentences in both languages: small enough to try every step on; nothing is fetched.

    ``pair`` and ``pieces`` are as for :func:`multi30k_task`.
    """
    check_pair(pair)
    train, validation, test = own_pairs()
    if pair == "en-de":
        train, validation, test = ([(b, a) for a, b in part] for part in (train, validation, test))
    return translation_task(f"own {pair}", train, validation, {"test": test}, pieces)


def check_pair(pair: str) -> None:
    """Raise a ValueError unless ``pair`` is one that the book has."""
    if pair not in PAIRS:
        raise ValueError(f"pair must be one of {', '.join(PAIRS)}, got {pair!r}")


class TokenBatches:
    """Batches of a task with about equally many tokens, the padding counted, instead of equally many sentences.

    An epoch shows each pair once. Pairs of like length share a batch, which pairs do is drawn anew in each epoch, and
    so is the order of the batches. As in :meth:`Task.batch_at` nothing depends on earlier calls, so that a training
    can be resumed at any step.

    Args:
        task: whose training part is used.
        cut_anew: ``cut_anew(seed, epoch)``, the same task with its training part in other pieces, a pure function. An
            epoch has as many batches as without, of as many pairs each; where the other pieces are shorter, a batch
            holds more tokens than the limit.
    """

    def __init__(self, task: Task, cut_anew: Callable[[int, int], Task] | None = None) -> None:
        self.task, self.cut_anew = task, cut_anew
        self._shown = task  # in the present epoch
        self._sizes: dict[int, list[int]] = {}  # by the limit: how many pairs each batch of an epoch has
        self._epoch: tuple[tuple | None, list[Tensor]] = (None, [])

    def batch_at(self, step: int, batch_size: int = 4096, seed: int = 0) -> Batch:
        """The batch of a training step.

        Args:
            step: from 0.
            batch_size: tokens, at most: rows times the length of the longest sentence on either side. A longer
                sentence is a batch of its own.
            seed: of the order.

        Raises:
            ValueError: for a negative step, or less than one token.
        """
        if step < 0 or batch_size < 1:
            raise ValueError(f"step must be at least 0 and batch_size at least 1, got {step} and {batch_size}")
        epoch, number = divmod(step, self.steps_per_epoch(batch_size))
        if self._epoch[0] != (seed, epoch, batch_size):
            self._shown = self.task if self.cut_anew is None else self.cut_anew(seed, epoch)
            self._epoch = ((seed, epoch, batch_size), self._draw(batch_size, 1_000_003 * seed + epoch))
        return self._shown.train_rows(self._epoch[1][number])

    def steps_per_epoch(self, batch_size: int) -> int:
        """How many batches show each pair once; the same in each epoch."""
        if batch_size not in self._sizes:
            self._sizes[batch_size] = batch_sizes(_widths(self.task)[:, 0].sort().values, batch_size)
        return len(self._sizes[batch_size])

    def _draw(self, batch_size: int, seed: int) -> list[Tensor]:
        generator = torch.Generator().manual_seed(seed)
        widths = _widths(self._shown)  # (N, 2)
        order = torch.randperm(len(widths), generator=generator)  # (N,)
        for column in (1, 0):  # the last sort counts most
            order = order[widths[order, column].argsort(stable=True)]
        batches = order.split(self._sizes[batch_size])
        return [batches[number] for number in torch.randperm(len(batches), generator=generator).tolist()]


def _widths(task: Task) -> Tensor:
    """The lengths of each training pair's longer and of its shorter side, ``(N, 2)``."""
    lengths = task.train_lengths()  # (N, 2)
    return torch.stack([lengths.amax(dim=1), lengths.amin(dim=1)], dim=1)


def batch_sizes(ordered: Tensor, batch_size: int) -> list[int]:
    """Cut sentences of rising length ``ordered (N,)`` into batches: how many sentences each has."""
    sizes, rows = [], 0
    for length in ordered.tolist():
        if rows and (rows + 1) * length > batch_size:
            sizes.append(rows)
            rows = 0
        rows += 1
    return [*sizes, rows]
