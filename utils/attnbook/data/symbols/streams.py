"""Streams longer than a segment: copying with a lag, and recalling the value of a key that came long before."""

from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.positive import check_positive
from attnbook.seeding import generator
from attnbook.trees import moved


class Stream(NamedTuple):
    """Texts without an end, and what is asked about them on the way.

    Fields:
        words: ``(B, T)`` whole numbers.
        target: ``(B, T)``, the answer that a model should give after reading word t.
        asked: ``(B, T)`` bool, where the answer is asked for; elsewhere ``target`` means nothing.
        age: ``(B, T)``, how many words back the answer stands, where it is asked for.
    """

    words: Tensor
    target: Tensor
    asked: Tensor
    age: Tensor

    def to(self, device: torch.device | str) -> "Stream":
        """The same streams on another device."""
        return moved(self, device)


def lagged_copy(lag: int, length: int, count: int, seed: int = 0, symbols: int = 8) -> Stream:
    """Random symbols; after each one, the symbol ``lag`` words earlier is asked for.

    Returns:
        words and target ``(count, length)``, numbers below ``symbols``; asked from position ``lag`` on.

    Raises:
        ValueError: if ``lag`` is not from 1 to ``length`` − 1, or ``count`` or ``symbols`` is not positive.
    """
    if not 1 <= lag < length:
        raise ValueError(f"lag must lie between 1 and length - 1 = {length - 1}, got {lag}")
    if count < 1 or symbols < 1:
        raise ValueError(f"count and symbols must be at least 1, got {count} and {symbols}")
    words = torch.randint(symbols, (count, length), generator=generator(seed))  # (B, T)
    asked = (torch.arange(length) >= lag).expand(count, length)
    return Stream(words, words.roll(lag, dims=1), asked, torch.full_like(words, lag))


def recall_stream(pairs: int, count: int, seed: int = 0, keys: int = 16, values: int = 8) -> Stream:
    """Key, value, key, value, …: each stream gives every key one value, which is asked for when the key comes again.

    Each pair's key is drawn evenly, whatever came before: near repetitions are more frequent than far ones.

    Returns:
        words ``(count, 2 · pairs)``: keys are the numbers below ``keys``, values those from ``keys`` on. Asked at
        the keys that came before in the stream; ``age`` is counted from there to the value's last occurrence.

    Raises:
        ValueError: if a number is not positive.

    Source: after Ba et al. 2016, section 4.1 (associative retrieval).
    """
    check_positive(pairs=pairs, count=count, keys=keys, values=values)
    draw = generator(seed)
    table = keys + torch.randint(values, (count, keys), generator=draw)  # (B, K): each key's value
    drawn = torch.randint(keys, (count, pairs), generator=draw)  # (B, P)
    answers = table.gather(1, drawn)  # (B, P)
    same = (drawn[:, :, None] == drawn[:, None]).tril(-1)  # (B, P, P): the same key, earlier
    last = torch.where(same, torch.arange(pairs), -1).amax(dim=-1)  # (B, P); -1: it comes for the first time
    age = 2 * (torch.arange(pairs) - last) - 1  # (B, P)
    nothing = torch.zeros_like(drawn)
    interleaved = ((drawn, answers), (answers, nothing), (last >= 0, nothing.bool()), (age, nothing))
    return Stream(*(torch.stack(pair, dim=-1).flatten(1) for pair in interleaved))  # (B, P, 2) -> (B, 2P)


def recall_question(
    pairs: int, position: int, count: int, seed: int = 0, keys: int = 64, values: int = 8
) -> Stream:  # fmt: skip
    """``pairs`` different keys with their values, and then one of the keys again: the one at ``position``.

    Returns:
        words ``(count, 2 · pairs + 1)``; only the last one is asked about.

    Raises:
        ValueError: if there are more pairs than keys, ``position`` is not from 0 to ``pairs`` − 1, or a number is
            not positive.
    """
    check_positive(pairs=pairs, count=count, keys=keys, values=values)
    if pairs > keys:
        raise ValueError(f"pairs must not be more than there are keys, {keys}, since no key comes twice; got {pairs}")
    if not 0 <= position < pairs:
        raise ValueError(f"position must lie between 0 and pairs - 1 = {pairs - 1}, got {position}")
    draw = generator(seed)
    drawn = torch.rand(count, keys, generator=draw).argsort(dim=1)[:, :pairs]  # (B, P), all different
    answers = keys + torch.randint(values, (count, pairs), generator=draw)  # (B, P)
    context = torch.stack([drawn, answers], dim=-1).flatten(1)  # (B, 2P)
    words = torch.cat([context, drawn[:, position, None]], dim=1)  # (B, 2P + 1)
    target = torch.zeros_like(words).index_copy(1, torch.tensor([2 * pairs]), answers[:, position, None])
    asked = (torch.arange(2 * pairs + 1) == 2 * pairs).expand_as(words)
    return Stream(words, target, asked, torch.full_like(words, 2 * (pairs - position) - 1))
