"""Associative recall in words: pairs of a key and a value, and then keys alone, each to be answered with its value."""

import torch

from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import PAD, SPECIAL
from attnbook.seeding import generator


def pairs_batch(count: int, pairs: int, words: int = 64, seed: int = 0) -> Batch:
    """Sequences ``k1 v1 k2 v2 … k2 k1 …``: each key is there once with its value, and asked for once, in any order.

    Keys are the numbers from 3 to 2 + ``words``, all different within a sequence; values the ``words`` numbers after
    them, drawn freely. So the share that can be right by chance is 1 / ``words``.

    Args:
        count: how many sequences, B. pairs: P, in each.
        words: how many different keys there are, and how many values.
        seed: the same sequences come for the same seed.

    Returns:
        source ``(B, 3P)``; lengths ``(B,)``, all 3P; target ``(B, 3P)``, the value at each asked key and padding at
        what comes before.

    Raises:
        ValueError: if ``count`` is not positive, or ``pairs`` is not from 1 to ``words``.

    Source: after Arora et al. 2023 ("multi-query associative recall"; there with gaps).
    """
    if count < 1 or not 1 <= pairs <= words:
        raise ValueError(f"count must be at least 1 and pairs from 1 to {words} (words), got {count} and {pairs}")
    draw = generator(seed)
    keys = torch.rand(count, words, generator=draw).argsort(dim=1)[:, :pairs] + len(SPECIAL)  # (B, P)
    values = torch.randint(words, (count, pairs), generator=draw) + len(SPECIAL) + words  # (B, P)
    order = torch.rand(count, pairs, generator=draw).argsort(dim=1)  # (B, P)
    told = torch.stack([keys, values], dim=-1).flatten(1)  # (B, P, 2) -> (B, 2P)
    source = torch.cat([told, keys.gather(1, order)], dim=1)  # (B, 3P)
    target = torch.cat([torch.full_like(told, PAD), values.gather(1, order)], dim=1)  # (B, 3P)
    return Batch(source, torch.full((count,), 3 * pairs), target)
