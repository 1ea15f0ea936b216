"""How good is a language model, and how varied is what it writes? Perplexity, bits per character, repetition."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.arguments import check_texts
from attnbook.data.batching import Example, Task, pad_rows
from attnbook.data.texts.byte_pairs import BytePairs
from attnbook.data.texts.vocabulary import PAD
from attnbook.device import device_of
from attnbook.modes import evaluating
from attnbook.threads import small_on_one_thread
from attnbook.training import sequence_loss


class TextLoss(NamedTuple):
    """What a text costs a model: how surprised it is by the whole of it.

    Fields:
        nats: − Σ log p over all words.
        words: how many words (or pieces) were predicted, each end symbol counted.
        characters: of the text, one counted for each end.
    """

    nats: float
    words: int
    characters: int

    @property
    def perplexity(self) -> float:
        """exp of the nats per word: among so many equally likely words the model would be as uncertain.

        Raises:
            ValueError: if no word was predicted.
        """
        if not self.words:
            raise ValueError("words is 0; a perplexity needs at least one word that was predicted")
        return _exp(self.nats / self.words)

    @property
    def bits_per_character(self) -> float:
        """The same loss in a unit that doesn't depend on how the text was cut into pieces.

        Raises:
            ValueError: if the text has no characters.

        Source: Shannon 1951.
        """
        if not self.characters:
            raise ValueError("characters is 0; bits per character need a text with at least one")
        return self.nats / math.log(2) / self.characters


def perplexity(logits: Tensor, target: Tensor, pad: int = PAD) -> float:
    """exp of the mean negative log-likelihood of the real words.

    Args:
        logits: ``(B, T, V)``. target: ``(B, T)``; positions that hold ``pad`` do not count.

    Raises:
        ValueError: if the shapes do not fit, or every position is padding.

    Source: Jelinek, Mercer, Bahl and Baker 1977.
    """
    return _exp(sequence_loss(logits, target, pad).item())


def _exp(nats: float) -> float:
    """e to this power; inf where that is too large for a float, from 710 on."""
    try:
        return math.exp(nats)
    except OverflowError:
        return math.inf


@small_on_one_thread
@evaluating
def text_loss(model: nn.Module, task: Task, examples: Sequence[Example], batch_size: int = 100) -> TextLoss:
    """The loss of a language model on sentences of a :class:`~attnbook.data.texts.language.TextTask`.

    Raises:
        ValueError: if there are no examples.
    """
    if not examples:
        raise ValueError("examples is empty; a loss needs at least one sentence")
    ordered = sorted(examples, key=lambda example: len(example.target))  # so that little is padding
    nats, words = 0.0, 0
    for i in range(0, len(ordered), batch_size):
        target = task.collate(ordered[i : i + batch_size]).target.to(device_of(model))  # (B, T)
        count = int(target.ne(PAD).sum())
        nats += sequence_loss(model(shift_right(target))[0], target).item() * count
        words += count
    return TextLoss(nats, words, sum(example.size + 1 for example in examples))


@small_on_one_thread
@evaluating
def log_probabilities(model: nn.Module, rows: Sequence[Sequence[int]]) -> Tensor:
    """What each row of words costs from its beginning, without an end: log p, ``(B,)``, in nats.

    Raises:
        ValueError: if there are no rows, or one of them is empty.
    """
    if not rows or not all(rows):
        raise ValueError("rows must hold at least one row, and each row at least one word")
    target = pad_rows(rows).to(device_of(model))  # (B, T)
    log_p = model(shift_right(target))[0].log_softmax(dim=-1)  # (B, T, V)
    words = log_p.gather(-1, target[..., None])[..., 0]  # (B, T)
    return words.masked_fill(target == PAD, 0.0).sum(dim=-1)


def prefers_right(
    model: nn.Module, task: Task, pieces: BytePairs, questions: Sequence[tuple[str, str, str]]
) -> list[bool]:
    """Whether a model finds the right word likelier than the wrong one, after the same beginning.

    Args:
        questions: ``(beginning, right, wrong)`` each, as the lines of
            :func:`~attnbook.data.texts.text.own_corpus` have them.

    Raises:
        TypeError: if a question is one text.
        ValueError: if there are no questions.

    Source: Linzen, Dupoux and Goldberg 2016, section 3, ask for verbs like this.
    """
    for question in questions:
        if isinstance(question, str):
            raise TypeError(f"questions must hold triples (beginning, right, wrong), got the text {question[:40]!r}")
    texts = [f"{beginning} {word}" for beginning, *words in questions for word in words]
    rows = [task.target_vocabulary.encode(pieces.encode(text)) for text in texts]
    right, wrong = log_probabilities(model, rows).view(-1, 2).unbind(dim=-1)  # (questions,) each
    return (right > wrong).tolist()


def _runs(words: Sequence, n: int) -> list[tuple]:
    """All runs of ``n`` words in a row."""
    return list(zip(*(words[i:] for i in range(n)), strict=False))


def _words(text: Sequence) -> Sequence:
    if isinstance(text, str):
        raise TypeError(f"texts must hold lists of words, got the string {text[:40]!r}; use .split()")
    return text


def repetition(texts: Iterable[Sequence], n: int = 2) -> float:
    """Which share of the runs of ``n`` words stands in the same text before: 0 where nothing is said twice.

    The mean over the texts that have such a run.

    Args:
        texts: lists of words or pieces.

    Raises:
        TypeError: if one text is given in place of a list, or a text is a string and no list of words.
        ValueError: if ``n`` is below 1, or no text has ``n`` words.

    Source: Welleck et al. 2020, section 6 (seq-rep-n).
    """
    runs = _all_runs(texts, n)
    return sum(1 - len(set(of_text)) / len(of_text) for of_text in runs) / len(runs)


def distinct(texts: Iterable[Sequence], n: int = 2) -> float:
    """How many different runs of ``n`` words there are in all texts together, per run: 1 where none comes twice.

    It falls with the number of texts, so compare equally many words only.

    Args, Raises: as :func:`repetition`.

    Source: Li et al. 2016, section 4 (distinct-1 and distinct-2).
    """
    runs = [run for of_text in _all_runs(texts, n) for run in of_text]
    return len(set(runs)) / len(runs)


def _all_runs(texts: Iterable[Sequence], n: int) -> list[list[tuple]]:
    if n < 1:
        raise ValueError(f"n is the number of words in a run, at least 1; got {n}")
    check_texts(texts=texts)
    runs = [found for text in texts if (found := _runs(_words(text), n))]
    if not runs:
        raise ValueError(f"texts has no text of {n} words or more, so there is no run to count")
    return runs
