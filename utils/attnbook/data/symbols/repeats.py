"""Random words that come again: the first time nobody can know them, from then on they can be copied."""

import torch

from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import SPECIAL
from attnbook.seeding import generator


def repeats_batch(count: int, length: int, periods: tuple[int, int], words: int = 64, seed: int = 0) -> Batch:
    """Sequences that repeat a segment of drawn words from their beginning to their end: ``d a c b d a c b d a``.

    Each row has a period of its own, so that a word cannot be copied from a fixed distance: it must be found by what
    stood before it. No word comes twice in a segment.

    Args:
        count: how many sequences, B. length: of each, T.
        periods: the shortest and the longest segment; both occur.
        words: how many different words there are; their numbers begin at 3.
        seed: the same sequences come for the same seed.

    Returns:
        source ``(B, longest period)``, the segments and padding; lengths ``(B,)``, the periods; target ``(B, T)``.

    Raises:
        ValueError: if ``count`` is not positive, a period is under 2 or greater than ``words`` or ``length``, or the
            first is greater than the second.

    Source: after Olsson et al. 2022 ("Repeated random sequences"; there with one period).
    """
    shortest, longest = periods
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if not 2 <= shortest <= longest <= min(words, length):
        most = min(words, length)
        raise ValueError(f"periods must rise, from 2 or more to {most} (words or length) or less, got {periods}")
    draw = generator(seed)
    period = torch.randint(shortest, longest + 1, (count,), generator=draw)  # (B,)
    order = torch.rand(count, words, generator=draw).argsort(dim=1)[:, :longest]  # (B, longest)
    segment = order + len(SPECIAL)
    target = segment.gather(1, torch.arange(length) % period[:, None])  # (B, T)
    return Batch(segment * (torch.arange(longest) < period[:, None]), period, target)
