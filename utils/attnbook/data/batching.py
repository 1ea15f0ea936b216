"""Examples, batches of them, and the task that keeps training, validation and test apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.texts.vocabulary import BOS, EOS, PAD, Vocabulary
from attnbook.trees import moved

Link = tuple[int, int]
Links = frozenset[Link]


class Example(NamedTuple):
    """One pair of sequences and which word of one belongs to which word of the other.

    A link is (source index, target index). `sure` links join words that mean the same; `possible` holds
    these and further ones that nobody could call wrong (Och and Ney 2003, section 5.1). `size` is what the
    book draws on the axis "length": numbers in a list, letters of a string.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links = frozenset()
    possible: Links = frozenset()
    size: int = 0


class Batch(NamedTuple):
    """Sequences side by side, the shorter ones filled up with PAD.

    source (B, Tk) long · lengths (B,) long, how many words each source has · target (B, T) long, the words of
    each row followed by EOS.
    """

    source: Tensor
    lengths: Tensor
    target: Tensor

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device, all three tensors of it."""
        return moved(self, device)

    def tokens(self) -> int:
        """How many words both sides have, EOS counted and PAD not."""
        return int(self.lengths.sum()) + int((self.target != PAD).sum())


def pad_rows(rows: Sequence[Sequence[int]]) -> Tensor:
    """Lists of numbers -> (B, longest) long, filled up with PAD on the right.

    >>> pad_rows([[5, 6, 7], [8]]).tolist()
    [[5, 6, 7], [8, 0, 0]]
    """
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long)


class _Encoded(NamedTuple):
    """A whole data set as tensors; taking rows out of it is all that a training step has to do."""

    source: Tensor  # (N, longest source)
    lengths: Tensor  # (N,)
    target: Tensor  # (N, longest target + 1)
    target_lengths: Tensor  # (N,) with EOS

    def rows(self, index: Tensor) -> Batch:
        lengths = self.lengths[index]  # (B,)
        source = self.source[index, : int(lengths.max())]  # (B, Tk)
        target = self.target[index, : int(self.target_lengths[index].max())]  # (B, T)
        return Batch(source, lengths, target)


@dataclass(eq=False, repr=False)
class Task:
    """Everything a model is trained and judged on.

    No source of `validation` or `test` occurs in `train`. `longer` holds examples of sizes that training
    never shows: {size: examples}.

    >>> words = Vocabulary("ab")
    >>> pair = Example(("a", "b"), ("b", "a"))
    >>> task = Task("swap", [pair], [], [], {}, words, words)
    >>> task.collate([pair]).target.tolist()  # b, a, EOS
    [[4, 3, 2]]
    """

    name: str
    train: Sequence[Example]
    validation: list[Example]
    test: list[Example]
    longer: dict[int, list[Example]]
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    _encoded: _Encoded | None = field(default=None, init=False)
    _epoch: tuple[tuple | None, list[Tensor]] = field(default=(None, []), init=False)

    def __repr__(self) -> str:  # the dataclass's own would print every example
        counts = f"{len(self.train):,} train, {len(self.validation):,} validation, {len(self.test):,} test"
        longer = f", sizes {', '.join(map(str, self.longer))} held out" if self.longer else ""
        words = f"{len(self.source_vocabulary)} and {len(self.target_vocabulary)} words"
        return f"Task({self.name!r}: {counts}{longer}; {words})"

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples -> Batch on the CPU, in their order. Raises ValueError if there are none, UnknownWord."""
        encoded = self._encode(examples)
        return Batch(encoded.source, encoded.lengths, encoded.target)

    def batch_at(self, step: int, batch_size: int = 64, seed: int = 0) -> Batch:
        """The batch of a training step: the same for the same (seed, step), whatever was asked before.

        Each epoch shows every training example once, in an order of its own; the last batch of an epoch may
        be smaller. As nothing depends on earlier calls, a resumed training goes on exactly where it stopped.
        Raises ValueError for a negative step, a batch size under 1, or a task without training examples.
        """
        if step < 0:
            raise ValueError(f"step is {step}; the first step is 0")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; a batch needs at least 1 example")
        encoded = self._encoded_train()
        per_epoch = -(-len(self.train) // batch_size)  # rounded up: the last batch of an epoch may be smaller
        epoch, number = divmod(step, per_epoch)
        return encoded.rows(self._batches(encoded.lengths, seed, epoch, batch_size)[number])

    def train_lengths(self) -> Tensor:
        """The words of each training example, ``(N, 2)``: of its source, and of its target with EOS."""
        encoded = self._encoded_train()
        return torch.stack([encoded.lengths, encoded.target_lengths], dim=1)

    def train_rows(self, index: Tensor) -> Batch:
        """A batch of the training examples ``index (B,)``."""
        return self._encoded_train().rows(index)

    def _encoded_train(self) -> _Encoded:
        if self._encoded is None:
            self._encoded = self._encode(self.train)
        return self._encoded

    def _batches(self, lengths: Tensor, seed: int, epoch: int, batch_size: int) -> list[Tensor]:
        """The batches of an epoch, each the positions of its examples in `train`; the last epoch is kept.

        Examples of like length share a batch, so that little time goes into padding: shuffle all, sort each
        pool of 50 batches by length, cut it into batches, shuffle these.
        """
        if self._epoch[0] != (seed, epoch, batch_size):
            generator = torch.Generator().manual_seed(1_000_003 * seed + epoch)
            order = torch.randperm(len(self.train), generator=generator)  # (N,)
            pools = order.split(50 * batch_size)
            pools = [pool[lengths[pool].argsort(stable=True)] for pool in pools]
            batches = [batch for pool in pools for batch in pool.split(batch_size)]
            shuffled = torch.randperm(len(batches), generator=generator).tolist()
            self._epoch = ((seed, epoch, batch_size), [batches[number] for number in shuffled])
        return self._epoch[1]

    def _encode(self, examples: Sequence[Example]) -> _Encoded:
        if not examples:
            raise ValueError(f"examples is empty; a batch of {self.name!r} needs at least one example")
        source = [self.source_vocabulary.encode(example.source) for example in examples]
        target = [[*self.target_vocabulary.encode(example.target), EOS] for example in examples]
        lengths, target_lengths = (torch.tensor([len(row) for row in rows]) for rows in (source, target))
        return _Encoded(pad_rows(source), lengths, pad_rows(target), target_lengths)


def shift_right(target: Tensor, bos: int = BOS) -> Tensor:
    """Make the decoder's inputs under teacher forcing: the start symbol, then the target without its last word.

    Args:
        target: ``(B, T)`` whole numbers.

    Returns:
        ``(B, T)``; the word at position t is the one that the model should have written at t − 1.

    Raises:
        ValueError: if ``target`` is not ``(B, T)`` with T > 0.

    Source: Williams and Zipser 1989 (teacher forcing).
    """
    if target.ndim != 2 or target.shape[1] == 0:
        raise ValueError(f"target must have shape (B, T) with T > 0, got {tuple(target.shape)}")
    start = torch.full_like(target[:, :1], bos)  # (B, 1)
    return torch.cat([start, target[:, :-1]], dim=1)  # (B, T)
