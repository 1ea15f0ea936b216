"""Texts as tasks for a language model: sentences cut into pieces, in batches, apart for training, validation and test.

A task is the :class:`~attnbook.data.batching.Task` of all other models: source and target are the same sentence, as in
:mod:`attnbook.data.symbols.agreement`, so :func:`~attnbook.training.fit` trains on it in one process or in several.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from attnbook.data.arguments import check_texts
from attnbook.data.batching import Example, Task
from attnbook.data.texts import multi30k
from attnbook.data.texts.byte_pairs import BytePairs, train_byte_pairs
from attnbook.data.texts.text import own_corpus

CAPTION_PIECES, OWN_PIECES = 2000, 400


class TextTask(NamedTuple):
    """A task, and the pieces in which its text is written.

    Fields:
        task: source and target of an example are a sentence's pieces; its size is the sentence's number of characters.
        byte_pairs: cuts further texts alike, and joins pieces.
    """

    task: Task
    byte_pairs: BytePairs


def text_task(
    name: str, train: Sequence[str], validation: Sequence[str], test: Sequence[str], vocabulary_size: int
) -> TextTask:
    """Make a task of sentences. The pieces are learnt from the training part alone.

    Args:
        train, validation, test: sentences; what is held out is taken out of training.
        vocabulary_size: specials included.

    Raises:
        TypeError: if one text is given in place of a list.
        ValueError: if nothing is left to train on, or the vocabulary is too small for the letters.
    """
    check_texts(train=train, validation=validation, test=test)
    held_out = {*validation, *test}
    train = [text for text in train if text not in held_out]
    pieces = train_byte_pairs(train, vocabulary_size)

    def examples(texts: Sequence[str]) -> list[Example]:
        rows = (tuple(pieces.encode(text)) for text in texts)
        return [Example(row, row, size=len(text)) for row, text in zip(rows, texts, strict=True)]

    vocabulary = pieces.vocabulary()
    task = Task(name, examples(train), examples(validation), examples(test), {}, vocabulary, vocabulary)
    return TextTask(task, pieces)


@cache
def caption_task() -> TextTask:
    """The English captions of Multi30k in lower case, 2,000 pieces: 29,000 to train on, the test of 2016 held out.

    Raises what :func:`attnbook.data.texts.multi30k.lines` raises.
    """
    train, validation, test = (
        [text.lower() for text in multi30k.lines(name)] for name in ("train", "val", "test_2016_flickr")
    )
    return text_task("captions", train, validation, test, CAPTION_PIECES)


@cache
def own_text_task() -> TextTask:
    """The book's own text, 400 pieces; nothing is fetched."""
    train, validation, test = ([line.text for line in part] for part in own_corpus())
    return text_task("own text", train, validation, test, OWN_PIECES)
