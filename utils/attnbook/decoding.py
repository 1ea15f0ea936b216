"""Loops around a model's ``step``: how a trained decoder writes a sentence."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.batching import Example, Task
from attnbook.data.vocabulary import BOS, EOS


class Decoded(NamedTuple):
    """What a decoder wrote.

    Fields:
        tokens: ``(B, L)``; after its end symbol a sentence repeats it.
        weights: ``(B, L, Tk)`` where it looked at each step, or ``None`` for a model without attention.
    """

    tokens: Tensor
    weights: Tensor | None


@torch.no_grad()
def greedy(model, source: Tensor, lengths: Tensor, max_length: int, bos: int = BOS, eos: int = EOS) -> Decoded:
    """Take the likeliest word at each step, until each sentence has met its own end symbol.

    Args:
        model: anything with ``start(source, lengths) -> state`` and ``step(token, state) -> (logits, state, weights)``.
        source: ``(B, Tk)``; ``lengths``: ``(B,)``.
        max_length: stop here even if some sentence has not ended.

    Returns:
        tokens ``(B, L)`` with L <= max_length, and weights ``(B, L, Tk)`` or ``None``.

    Raises:
        ValueError: if ``max_length`` is not positive.
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")
    state = model.start(source, lengths)
    token = torch.full((len(source),), bos, device=source.device)  # (B,)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)  # (B,)
    tokens, weights = [], []
    for _ in range(max_length):
        logits, state, step_weights = model.step(token, state)
        token = logits.argmax(dim=-1).masked_fill(ended, eos)  # (B, V) -> (B,)
        ended = ended | (token == eos)
        tokens.append(token)
        weights.append(step_weights)
        if ended.all():
            break
    return Decoded(torch.stack(tokens, dim=1), None if weights[0] is None else torch.stack(weights, dim=1))


def translate(model, task: Task, examples: Sequence[Example]) -> tuple[list[list[str]], Tensor | None]:
    """Write the answers to ``examples`` greedily, in words, with room for a quarter more words than the longest.

    Returns:
        for each example the words before the end symbol, and the weights ``(B, L, Tk)`` or ``None``.
    """
    batch = task.collate(examples).to(next(model.parameters()).device)
    tokens, weights = greedy(model, batch.source, batch.lengths, max_length=batch.target.shape[1] * 5 // 4)
    return [task.target_vocabulary.decode(row) for row in tokens.tolist()], weights
