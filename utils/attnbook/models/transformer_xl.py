"""Transformer-XL: a language model that reads segment by segment and attends to its own states of earlier ones.

Two ideas that need each other. *Memory*: what enters each layer is kept, detached, and the next segment attends to it
as well. *Relative positions*: a score depends on how far back a key lies, so that a state which is kept means the
same a segment later; with absolute positions, word 3 of both segments would stand at the same position.
It can write too: ``greedy(model, prompt=words, max_length=20)``, and so on (:mod:`attnbook.decoding`).
Source: Dai et al. 2019.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.attention import Heads, MultiHeadAttention, attend, merge_heads, split_heads
from attnbook.attention.positions import kept_positions
from attnbook.decoding import select
from attnbook.models.block import Block, TransformerConfig, mean_over_heads
from attnbook.models.inputs import check_words
from attnbook.models.transformer import Embedding, Stack, past_mask, start_as_xavier
from attnbook.modes import evaluating


def segment_memory(states: Tensor, memory: Tensor | None, length: int) -> Tensor | None:
    """The memory for the next segment: the last ``length`` states of memory and segment, cut from the graph.

    Args:
        states: ``(B, T, D)``, what entered a layer in this segment.
        memory: ``(B, M, D)``, what was kept before; ``None`` before the first segment.
        length: how many states to keep.

    Returns:
        ``(B, at most length, D)`` without gradient; ``None`` if ``length`` is 0.

    Raises:
        ValueError: if ``length`` is negative.

    Source: Dai et al. 2019, section 3.2 (SG is ``detach``).
    """
    if length < 0:
        raise ValueError(f"length must be at least 0 (no memory), got {length}")
    if length == 0:
        return None
    return (states if memory is None else torch.cat([memory, states], dim=1))[:, -length:].detach()


def align_distances(scores: Tensor) -> Tensor:
    """The paper's shift: from scores by distance to scores by key, without a loop.

    Args:
        scores: ``(..., Tq, Tk)``, column c holds the score at distance Tk − 1 − c. The queries are the last Tq of the
            Tk positions, so query i stands at position Tk − Tq + i.

    Returns:
        ``(..., Tq, Tk)``, column j holds the score of key j, at distance (position of the query) − j. What stands at
        keys later than the query is of no use: a causal mask has to hide it.

    Raises:
        ValueError: if there are more queries than keys.

    Source: Dai et al. 2019, appendix B.
    """
    queries, keys = scores.shape[-2:]
    if queries > keys:
        raise ValueError(f"each query has its own key, so Tq <= Tk; got Tq = {queries} and Tk = {keys}")
    padded = nn.functional.pad(scores, (1, 0))  # (..., Tq, Tk + 1): one number more in each row …
    shifted = padded.flatten(-2)[..., queries:]  # … so that rows of Tk numbers, from Tq on, move by one each
    return shifted.unflatten(-1, (queries, keys))  # (..., Tq, Tk)


class RelativeAttention(MultiHeadAttention):
    """Multi-head attention whose scores know the distance: (q + u)·k + (q + v)·W_R R(i − j), over √(D/H).

    q·k and u·k ask what a key holds, for this query and for all; the other two ask how far back it lies. The paper's
    equation leaves out the division by √(D/H), which its code has.

    Args:
        dim, heads, key_value_heads: as of :class:`~attnbook.attention.multihead.MultiHeadAttention`. Distances are
            projected for each of the H heads, and no projection has a bias, as in the paper.
        content_bias: u, ``(H, D/H)``. distance_bias: v, ``(H, D/H)``. All layers of a model share them.

    Source: Dai et al. 2019, section 3.3.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        content_bias: nn.Parameter,
        distance_bias: nn.Parameter,
        key_value_heads: int | None = None,
    ) -> None:
        super().__init__(dim, heads, bias=False, key_value_heads=key_value_heads)
        self.content_bias, self.distance_bias = content_bias, distance_bias
        self.project_distance = nn.Linear(dim, dim, bias=False)

    def relative_scores(self, query: Tensor, keys: int) -> Tensor:
        """(q + v)·W_R R(i − j) / √(D/H): ``query (B, H, Tq, D/H)`` -> ``(B, H, Tq, Tk)``."""
        distances = kept_positions(keys, self.project_distance.in_features, query).flip(0)  # (Tk, D)
        distances = split_heads(self.project_distance(distances)[None], self.heads)  # (1, H, Tk, D/H): Tk − 1 … 0
        query = (query + self.distance_bias[:, None]) / query.shape[-1] ** 0.5  # (B, H, Tq, D/H)
        return align_distances(query @ distances.mT)  # (B, H, Tq, Tk), by distance, then by key

    def attend(
        self, query: Tensor, heads: Heads, mask: Tensor | None, at: Tensor, keys_at: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from ``query (B, Tq, D)``, the last Tq of the Tk positions; ``mask`` hides the later ones."""
        query = split_heads(self.project_query(query), self.heads)  # (B, H, Tq, D/H)
        bias = self.relative_scores(query, heads.key.shape[2])  # (B, H, Tq, Tk)
        heads = heads.repeat(self.heads // self.key_value_heads)  # (B, H, Tk, D/H)
        context, weights = attend(query + self.content_bias[:, None], *heads, mask=mask, bias=bias)
        return self.project_output(merge_heads(context)), weights  # (B, T, D), (B, H, Tq, Tk)


class TransformerXL(nn.Module):
    """Blocks with relative attention, which read a segment and the memory that the segments before have left.

    Args:
        vocabulary_size: number of words.
        config: see :class:`~attnbook.models.block.TransformerConfig`; its positions must be ``"none"``, as they are in
            the attention here. Its ``bias`` is that of the feed-forward sublayers and norms; the projections of
            attention have none in any case. The paper's blocks are ``norm="post"``.
        memory_length: how many states each layer keeps; may be changed at any time, also after training.

    Raises:
        ValueError: if the configuration adds positions, asks for fused attention, or ``memory_length`` is negative.

    Source: Dai et al. 2019, section 3.
    """

    def __init__(self, vocabulary_size: int, config: TransformerConfig, memory_length: int) -> None:
        super().__init__()
        check_config(config, memory_length)
        self.config, self.memory_length = config, memory_length
        sizes = config.heads, config.d_model // config.heads
        self.content_bias, self.distance_bias = (nn.Parameter(torch.zeros(sizes)) for _ in range(2))
        self.blocks = Stack(config)
        for layer in self.blocks.layers:
            biases = self.content_bias, self.distance_bias
            layer.self_attention = RelativeAttention(config.d_model, config.heads, *biases, config.key_value_heads)
        start_as_xavier([self.blocks])
        nn.init.zeros_(self.content_bias)  # they belong to the layers too, and were drawn with them
        nn.init.zeros_(self.distance_bias)
        self.embed = Embedding(vocabulary_size, config)
        self.output = nn.Linear(config.d_model, vocabulary_size, bias=not config.tied)
        if config.tied:
            self.output.weight = self.embed.words.weight

    def start(self) -> tuple[Tensor | None, ...]:
        """The memory before the first segment: nothing, for each layer."""
        return (None,) * self.config.layers

    def read(
        self, words: Tensor, memory: tuple[Tensor | None, ...]
    ) -> tuple[Tensor, tuple[Tensor | None, ...], list[Tensor | None]]:
        """Read a segment ``words (B, T)`` with the memory of those before, for each layer ``(B, M, D)`` or ``None``.

        Returns:
            logits ``(B, T, V)``, row t predicts the word after word t; the memory for the next segment; each layer's
            weights ``(B, H, T, M + T)``.
        """
        x, kept, seen = self.embed(words), [], []
        for layer, before in zip(self.blocks.layers, memory, strict=True):
            kept.append(self.remember(x, before))
            mask = past_mask(0 if before is None else before.shape[1], x.shape[1], self.config.window, x.device)
            x, _, weights, _ = layer(x, mask, past_of(layer, before))
            seen.append(weights)
        return self.output(self.blocks.last_norm(x)), tuple(kept), seen

    def remember(self, states: Tensor, memory: Tensor | None) -> Tensor | None:
        """What a layer keeps of ``states (B, T, D)`` and of its memory: :func:`segment_memory`."""
        return segment_memory(states, memory, self.memory_length)

    def step(self, token: Tensor, memory: tuple[Tensor | None, ...]) -> tuple[Tensor, tuple[Tensor | None, ...], None]:
        """Read one word ``token (B,)``, a segment by itself: it looks back as far as the memory reaches.

        Returns:
            logits ``(B, V)`` of the next word, the memory after this one, and no weights.
        """
        logits, memory, _ = self.read(token[:, None], memory)
        return logits[:, 0], memory, None

    select = staticmethod(select)

    def forward(self, words: Tensor, segment: int | None = None) -> tuple[Tensor, Tensor | None]:
        """Read ``words (B, T)`` in segments of ``segment`` words (all at once when left out), memory passing on.

        Returns:
            logits ``(B, T, V)`` and weights ``(B, T, T)``, zero where a word is beyond the memory: of the last layer,
            the mean of its heads. :meth:`maps` gives those of each head and layer.

        Raises:
            ValueError: if ``words`` is not ``(B, T)`` with B > 0 and T > 0.
        """
        logits, seen = self._by_segments(words, segment)
        return logits, mean_over_heads(side_by_side([layers[-1] for layers in seen]))

    @evaluating
    def maps(self, words: Tensor, segment: int | None = None) -> list[Tensor]:
        """Each layer's weights ``(B, H, T, T)``; arguments as of :meth:`forward`."""
        _, seen = self._by_segments(words, segment)
        return [side_by_side(layer) for layer in zip(*seen, strict=True)]

    def _by_segments(self, words: Tensor, segment: int | None) -> tuple[Tensor, list[list[Any]]]:
        """Logits of all segments, and for each segment each layer's weights ``(B, H, T', M + T')``."""
        check_words(words)
        memory, logits, seen = self.start(), [], []
        for part in words.split(words.shape[1] if segment is None else segment, dim=1):
            out, memory, weights = self.read(part, memory)
            logits.append(out)
            seen.append(weights)
        return torch.cat(logits, dim=1), seen


def side_by_side(parts: Sequence[Tensor]) -> Tensor:
    """Weights of one layer in the segments of a text, ``(B, H, T', M + T')`` each -> ``(B, H, T, T)`` of the text."""
    length, end, rows = sum(part.shape[-2] for part in parts), 0, []
    for part in parts:
        end += part.shape[-2]  # the last key of a segment is its last word
        rows.append(nn.functional.pad(part, (end - part.shape[-1], length - end)))
    return torch.cat(rows, dim=-2)


def past_of(layer: Block, memory: Tensor | None) -> Heads | None:
    """Keys and values of ``memory (B, M, D)``, which a layer makes anew in each segment, with its present weights."""
    if memory is None:
        return None
    x = memory if layer.ends_normalised else layer.norm_self(memory)
    return layer.self_attention.project(x, x, torch.arange(x.shape[1], device=x.device))


def check_config(config: TransformerConfig, memory_length: int) -> None:
    """Raise a ValueError for what a Transformer-XL has no use for."""
    if config.positions != "none":
        raise ValueError(f"positions must be 'none', since the attention knows the distances; got {config.positions!r}")
    if config.fused:
        raise ValueError("fused attention returns no weights and takes no distances here; leave fused out")
    if memory_length < 0:
        raise ValueError(f"memory_length must be at least 0, got {memory_length}")
