"""How good is a model on a task? Greedy answers, exact match by size, and where it looked."""

from collections.abc import Iterator

from torch import nn

from attnbook.data import shift_right
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.texts.vocabulary import PAD
from attnbook.decoding import Decoded, DecoderModule, greedy
from attnbook.measure.metrics import Link, alignment_error_rate, alignment_from_weights
from attnbook.modes import evaluating


def decode(model: DecoderModule, task: Task, examples: list[Example], batch_size: int = 250) -> list[Decoded]:
    """Decode ``examples`` greedily, some 250 at a time, with room for a quarter more words than the longest answer."""
    longest = max((len(example.target) for example in examples), default=0) * 5 // 4 + 2
    batches = _batches(model, task, examples, batch_size)
    return [greedy(model, batch.source, batch.lengths, max_length=longest) for batch in batches]


def _batches(model: nn.Module, task: Task, examples: list[Example], batch_size: int) -> Iterator[Batch]:
    """All examples, so many at a time, on the model's device."""
    device = next(model.parameters()).device
    for i in range(0, len(examples), batch_size):
        yield task.collate(examples[i : i + batch_size]).to(device)


@evaluating
def accuracy(model: nn.Module, task: Task, examples: list[Example], batch_size: int = 250) -> float:
    """Part of ``examples`` that the model writes without a single mistake, if it always takes the likeliest word.

    It does so where after each right beginning the right word is the likeliest. So one pass under teacher forcing
    tells, without a word being written.

    Raises:
        ValueError: if there are no examples.
    """
    if not examples:
        raise ValueError("examples is empty; a share needs at least one example")
    right = 0
    for batch in _batches(model, task, examples, batch_size):
        logits, _ = model(batch.source, batch.lengths, shift_right(batch.target))  # (B, T, V)
        right += int(((logits.argmax(dim=-1) == batch.target) | (batch.target == PAD)).all(dim=1).sum())
    return right / len(examples)


def groups_by_size(task: Task, most: int | None = None) -> dict[int, list[Example]]:
    """The test set by size, and the sizes never trained on, at most ``most`` examples of each of these."""
    groups: dict[int, list[Example]] = {}
    for example in task.test:
        groups.setdefault(example.size, []).append(example)
    groups.update({size: examples[:most] for size, examples in task.longer.items()})
    return {size: groups[size] for size in sorted(groups)}


def accuracy_by_size(model: nn.Module, task: Task) -> dict[str, float]:
    """Exact match by size, of the test set and of the sizes never trained on."""
    groups = groups_by_size(task, most=100)
    return {str(size): round(accuracy(model, task, examples), 4) for size, examples in groups.items()}


@evaluating
def task_alignment_error(model: nn.Module, task: Task, examples: list[Example]) -> float:
    """Alignment error rate over ``examples``, the model reading the right words (teacher forcing).

    Links of all sentences are pooled, as Och and Ney 2003 do.
    """
    batch = task.collate(examples).to(next(model.parameters()).device)
    _, weights = model(batch.source, batch.lengths, shift_right(batch.target))  # (B, T, Tk)
    sure: set[Link] = set()
    possible: set[Link] = set()
    predicted: set[Link] = set()
    for number, (example, matrix) in enumerate(zip(examples, weights.cpu(), strict=True)):
        links = alignment_from_weights(matrix[: len(example.target)])
        for pool, found in ((sure, example.sure), (possible, example.possible), (predicted, links)):
            pool.update((number, *link) for link in found)
    return alignment_error_rate(sure, possible, predicted)
