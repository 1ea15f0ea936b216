"""Many heads: several attentions side by side, each in a small subspace of its own."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention.core import attend
from attnbook.attention.positions import NoPositions
from attnbook.attention.scores import ScaledDot, Score


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut the features of each position into ``heads`` equal parts: ``(B, T, D)`` -> ``(B, H, T, D/H)``.

    Raises:
        ValueError: if D can't be shared equally among the heads.

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    batch, length, dim = x.shape
    if heads < 1 or dim % heads:
        raise ValueError(f"{dim} features can't be shared equally among {heads} heads")
    return x.reshape(batch, length, heads, dim // heads).transpose(1, 2)  # (B, T, H, D/H) -> (B, H, T, D/H)


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads' features end to end again: ``(B, H, T, D/H)`` -> ``(B, T, D)``."""
    return x.transpose(1, 2).flatten(2)  # (B, T, H, D/H) -> (B, T, D)


class Heads(NamedTuple):
    """Keys and values as the heads see them, both ``(B, H, Tk, D/H)``: what a decoder keeps between its steps.

    Where positions turn the keys, these are turned already, so that a key is turned once and not at every step.
    With grouped queries there are only G heads of keys and values, ``(B, G, Tk, D/H)``.
    """

    key: Tensor
    value: Tensor

    def append(self, new: "Heads") -> "Heads":
        """These, and after them the keys and values of further positions, ``(B, H, Tk + T, D/H)``."""
        if torch.is_grad_enabled():  # a gradient needs its tensors as they were
            return Heads(*(torch.cat(pair, dim=2) for pair in zip(self, new, strict=True)))
        return Cached.after(self, new)

    def repeat(self, times: int) -> "Heads":
        """Each head ``times`` times in a row, for the heads of the queries that share it: G heads become G · times.

        Source: Ainslie et al. 2023, section 2.2.
        """
        if times == 1:
            return self
        return Heads(*(part.repeat_interleave(times, dim=1) for part in self))  # (B, G, Tk, D/H) -> (B, H, Tk, D/H)


class Cached(Heads):
    """Keys and values at the beginning of longer tensors, so that appending a word does not copy all before it.

    Where there is no room, or another continuation has already written behind these, they move into tensors twice as
    long: so a word is copied twice on average, however long the text gets, and what was handed out stays as it is. A
    copy that :func:`~attnbook.trees.map_tensors` makes, such as a selection of rows, has no room and moves first.
    """

    room: Heads | None = None  # the longer tensors
    used: list[int]  # how many positions of them are written: one number, which all who share them see

    @classmethod
    def after(cls, old: Heads, new: Heads) -> "Cached":
        """``old``, and ``new`` behind it."""
        before, end = old.key.shape[2], old.key.shape[2] + new.key.shape[2]
        room, used = getattr(old, "room", None), getattr(old, "used", [0])
        if room is None or used[0] != before or room.key.shape[2] < end:
            room, used = Heads(*(part.new_empty(*part.shape[:2], 2 * end, part.shape[3]) for part in old)), [0]
            for longer, part in zip(room, old, strict=True):
                longer[:, :, :before] = part
        for longer, part in zip(room, new, strict=True):
            longer[:, :, before:end] = part
        used[0] = end
        cached = cls(*(longer[:, :, :end] for longer in room))
        cached.room, cached.used = room, used
        return cached


class MultiHeadAttention(nn.Module):
    """Project query, key and value, attend with each head in its own subspace, project the heads' contexts back.

    Args:
        dim: features D of query, key, value and output.
        heads: how many, H. Each has D/H features, so the number of parameters does not depend on H.
        score: how a head's query is scored against its keys; scaled dot when left out.
        positions: a :class:`~attnbook.attention.positions.Rotary`, or ``LinearBias``; nothing when left out.
        fused: use torch's fused kernel. Same output, less memory, but no weights (``None``).
        bias: give the four projections a bias, as torch's ``nn.MultiheadAttention`` does; the paper has none.
        key_value_heads: how many heads keys and values have, G; as many as ``heads`` when left out. With fewer, H/G
            heads of the queries share one head of keys and values (grouped queries), so that a cache is smaller.

    Raises:
        ValueError: if ``dim`` can't be shared equally among the heads, or the heads among those of keys and values.

    Source: Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023, section 2.2, for grouped queries.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        score: Score | None = None,
        positions: NoPositions | None = None,
        fused: bool = False,
        bias: bool = True,
        key_value_heads: int | None = None,
    ) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"dim = {dim} features can't be shared equally among {heads} heads")
        self.heads, self.key_value_heads = heads, heads if key_value_heads is None else key_value_heads
        if self.key_value_heads < 1 or heads % self.key_value_heads:
            raise ValueError(f"key_value_heads must divide heads = {heads}, got {key_value_heads}")
        key_value_dim = dim // heads * self.key_value_heads  # G · D/H
        self.score = ScaledDot() if score is None else score
        self.positions = NoPositions() if positions is None else positions
        self.fused = fused
        self.project_query = nn.Linear(dim, dim, bias=bias)
        self.project_key = nn.Linear(dim, key_value_dim, bias=bias)
        self.project_value = nn.Linear(dim, key_value_dim, bias=bias)
        self.project_output = nn.Linear(dim, dim, bias=bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from ``query (B, Tq, D)`` to ``key, value (B, Tk, D)``.

        Keys stand at positions 0 … Tk − 1, and the queries are the last Tq of them: in self-attention these are the
        same words, and a decoder that writes one word at a time asks from the last position.

        Args:
            mask: bool, ``(Tq, Tk)`` or ``(B, Tq, Tk)`` (an axis may be 1), ``True`` = may attend; for all heads.

        Returns:
            output ``(B, Tq, D)`` and weights ``(B, H, Tq, Tk)``, or ``None`` when fused.
        """
        at = torch.arange(key.shape[1] - query.shape[1], key.shape[1], device=query.device)  # (Tq,)
        keys_at = torch.arange(key.shape[1], device=query.device)  # (Tk,)
        return self.attend(query, self.project(key, value, keys_at), mask, at, keys_at)

    def project(self, key: Tensor, value: Tensor, keys_at: Tensor) -> Heads:
        """Project ``key, value (B, Tk, D)`` for the heads: the part of the work that does not need the query.

        ``keys_at``: the keys' positions, ``(Tk,)`` or ``(B, 1, Tk)``.
        """
        keys = split_heads(self.project_key(key), self.key_value_heads)  # (B, G, Tk, D/H)
        values = split_heads(self.project_value(value), self.key_value_heads)  # (B, G, Tk, D/H)
        return Heads(self.positions.rotate(keys, keys_at), values)

    def attend(
        self, query: Tensor, heads: Heads, mask: Tensor | None, at: Tensor, keys_at: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from ``query (B, Tq, D)`` at positions ``at`` to what was projected; returns as :meth:`forward`."""
        query = split_heads(self.project_query(query), self.heads)  # (B, H, Tq, D/H)
        query, bias = self.positions.rotate(query, at), self.positions.bias(at, keys_at)
        shared, asked = self.heads // self.key_value_heads, query.shape
        if asked[2] == 1 and bias is None:  # heads that share keys are as many queries to them: nothing is copied
            query = query.unflatten(1, (-1, shared)).flatten(2, 3)  # (B, H, 1, D/H) -> (B, G, H/G, D/H)
        else:
            heads = heads.repeat(shared)  # (B, H, Tk, D/H)
        context, weights = attend(query, *heads, score=self.score, mask=mask, bias=bias, fused=self.fused)
        weights = None if weights is None else weights.reshape(*asked[:3], -1)  # (B, H, Tq, Tk)
        return self.project_output(merge_heads(context.reshape(asked))), weights  # (B, Tq, D), (B, H, Tq, Tk)
