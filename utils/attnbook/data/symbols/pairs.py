"""Associative recall in words: pairs of a key and a value, and then keys alone, each to be answered with its value.

In :func:`rewritten_batch` a key may get a new value, and the newest one counts.
"""

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


def rewritten_batch(count: int, keys: int, pairs: int, words: int = 64, seed: int = 0) -> Batch:
    """Sequences as in :func:`pairs_batch`, in which a key comes back with new values: the answer is the newest.

    Args:
        count: how many sequences, B. keys: K, different ones in each, every one of them told at least once.
        pairs: P, of a key and a value. words: how many different keys there are, and how many values.
        seed: the same sequences come for the same seed.

    Returns:
        source ``(B, 2P + K)``; lengths ``(B,)``, all 2P + K; target ``(B, 2P + K)``, the newest value at each asked key
        and padding at what comes before.

    Raises:
        ValueError: if ``count`` is not positive, ``keys`` is not from 1 to ``words``, or ``pairs`` are fewer than keys.
    """
    if count < 1 or not 1 <= keys <= words or pairs < keys:
        raise ValueError(
            f"count must be at least 1, keys from 1 to {words} (words) and pairs at least as many, "
            f"got {count}, {keys} and {pairs}"
        )
    draw = generator(seed)
    chosen = torch.rand(count, words, generator=draw).argsort(dim=1)[:, :keys] + len(SPECIAL)  # (B, K)
    which = torch.randint(keys, (count, pairs), generator=draw)  # (B, P): the key of each pair
    which[:, :keys] = torch.arange(keys)  # each key at least once
    which = which.gather(1, torch.rand(count, pairs, generator=draw).argsort(dim=1))
    values = torch.randint(words, (count, pairs), generator=draw) + len(SPECIAL) + words  # (B, P)
    asked = torch.rand(count, keys, generator=draw).argsort(dim=1)  # (B, K)
    same = which[:, None] == asked[:, :, None]  # (B, K, P)
    newest = (same * torch.arange(1, pairs + 1)).argmax(dim=-1)  # (B, K): the last pair of each asked key
    told = torch.stack([chosen.gather(1, which), values], dim=-1).flatten(1)  # (B, 2P)
    source = torch.cat([told, chosen.gather(1, asked)], dim=1)  # (B, 2P + K)
    target = torch.cat([torch.full_like(told, PAD), values.gather(1, newest)], dim=1)
    return Batch(source, torch.full((count,), 2 * pairs + keys), target)
