"""Episodes: short sequences, each of which poses a new task that must be learned within the sequence (chapter 15)."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.data.pictures.glyphs import draw_glyphs
from attnbook.seeding import generator
from attnbook.trees import moved

KEYS, VALUES, DIM, LENGTH, BLUR = 12, 4, 8, 48, 0.2  # of online recall


class Recall(NamedTuple):
    """Online recall.

    Fields:
        inputs: ``(B, T, 12)``: the key of each step, eight numbers, and the value of the step *before*, one-hot.
        values: ``(B, T)`` long, the value of each step: the target.
        seen: ``(B, T)`` bool, whether the key occurred earlier; otherwise the value can only be guessed.
        which: ``(B, T)`` long, which of the twelve keys it is.
    """

    inputs: Tensor
    values: Tensor
    seen: Tensor
    which: Tensor

    def to(self, device: torch.device | str) -> "Recall":
        """The same batch on another device."""
        return moved(self, device)


def online_recall(count: int, seed: int = 0, length: int = LENGTH) -> Recall:
    """``count`` sequences, each with twelve random keys of its own and one of four values per key.

    Each step shows a key with new noise, and the value follows one step later. To find the value of a key again, a
    network must therefore combine two neighbouring steps before it searches the sequence.

    Returns:
        :class:`Recall`.

    Raises:
        ValueError: if ``count`` or ``length`` is not positive.
    """
    if count < 1 or length < 1:
        raise ValueError(f"count and length must be at least 1, got {count} and {length}")
    draw = generator(seed)
    keys = torch.randn(count, KEYS, DIM, generator=draw)  # (B, 12, 8)
    value_of = torch.randint(VALUES, (count, KEYS), generator=draw)  # (B, 12)
    which = torch.randint(KEYS, (count, length), generator=draw)  # (B, T)
    return recall_of(keys, value_of, which, draw)


def recall_of(keys: Tensor, value_of: Tensor, which: Tensor, draw: torch.Generator) -> Recall:
    """Sequences that show ``keys (B, K, DIM)`` in the order of ``which (B, T)``, each with new noise from ``draw``.

    The values ``value_of (B, K)`` follow one step late.
    """
    shown = keys.gather(1, which[..., None].expand(-1, -1, keys.shape[-1]))  # (B, T, DIM)
    shown = shown + BLUR * torch.randn(shown.shape, generator=draw)
    values = value_of.gather(1, which)  # (B, T)
    before = F.pad(F.one_hot(values, VALUES)[:, :-1], (0, 0, 1, 0))  # (B, T, VALUES)
    return Recall(torch.cat([shown, before.to(shown.dtype)], dim=-1), values, seen_before(which), which)


def seen_before(which: Tensor) -> Tensor:
    """Whether the number at each position of ``which (B, T)`` occurred at an earlier one: ``(B, T)`` bool."""
    same = which[:, :, None] == which[:, None, :]  # (B, T, T)
    return same.tril(diagonal=-1).any(dim=-1)


class Episode(NamedTuple):
    """Few-shot classification: ``ways`` classes with ``shots`` labelled examples each (the support), and one question.

    Fields:
        images: ``(B, T, 1, 16, 16)`` with T = ways · shots + 1; the last is the question.
        labels: ``(B, T)`` long, from 0 to ways − 1, assigned to the classes anew per episode; the last is the target.
    """

    images: Tensor
    labels: Tensor

    def to(self, device: torch.device | str) -> "Episode":
        """The same batch on another device."""
        return moved(self, device)


def few_shot_episodes(classes: Tensor, count: int, ways: int = 5, shots: int = 1, seed: int = 0) -> Episode:
    """``count`` episodes with glyphs of ``classes (C, 3, 3, 2)``; the examples come in random order.

    The question is a new example of one of the classes, never one of the pictures shown before.

    Raises:
        ValueError: if a number is not positive, or there are more ways than classes.

    Source: Vinyals et al. 2016, section 2.2; Mishra et al. 2018, section 5.1.
    """
    if min(count, ways, shots) < 1 or ways > len(classes):
        wanted = f"count, ways and shots must be at least 1 and ways at most {len(classes)}"
        raise ValueError(f"{wanted}; got {count}, {ways} and {shots}")
    draw = generator(seed)
    chosen = torch.rand(count, len(classes), generator=draw).topk(ways).indices  # (B, ways)
    order = torch.rand(count, ways * shots, generator=draw).argsort(dim=-1)  # (B, ways · shots), each number once
    question = torch.randint(ways, (count, 1), generator=draw)
    labels = torch.cat([order % ways, question], dim=1)  # (B, T)
    images = draw_glyphs(classes[chosen.gather(1, labels)].flatten(0, 1), draw)  # (B · T, 1, 16, 16)
    return Episode(images.unflatten(0, labels.shape), labels)
