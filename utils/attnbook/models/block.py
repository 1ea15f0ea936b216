"""The block of which every Transformer is made: attention and feed-forward, each with a residual connection."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from attnbook.attention import Heads, LinearBias, MultiHeadAttention, NoPositions, Rotary
from attnbook.attention.positions import BASE, kept_range

NORMS = ("pre", "post")
NORMALISATIONS = ("layer", "rms")
FEED_FORWARDS = ("relu", "gelu", "gelu_tanh", "swiglu")
POSITIONS = ("none", "sinusoidal", "learned", "rotary", "linear_bias")
CROSS_POSITIONS = ("same", "none", "rotary", "linear_bias")

Seen = TypeVar("Seen")  # what a sublayer returns beside its output


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that is chosen about a Transformer, so that two models differ in what their configurations say.

    Fields:
        d_model: features D of every word vector; heads: H, which share them; layers: in each of encoder and decoder.
        d_ff: features inside the feed-forward sublayer; 4 · d_model in the paper.
        dropout: part of the numbers set to zero while training, where the paper does it: after each sublayer, and
            after the sum of word vector and position.
        norm: ``"post"`` normalises after adding (the paper), ``"pre"`` before each sublayer.
        positions: ``"none"``, ``"sinusoidal"``, ``"learned"``, ``"rotary"`` or ``"linear_bias"``. The last two say how
            far apart two words of one sequence are.
        cross_positions: ``"none"``, ``"rotary"`` or ``"linear_bias"`` (with learnt slopes): how far a target word's
            position is from a source word's. ``"same"``: as positions, where that is one of these.
        max_length: how many positions learned ones know.
        window: how far self-attention may look to either side; ``None`` = everywhere.
        tied: the output layer is the transpose of the target's word vectors.
        fused: use torch's fused kernel: the same model, less memory, but no weights to look at.
        normalisation: ``"layer"``, or ``"rms"``, which divides by the root mean square and subtracts nothing.
        feed_forward: ``"relu"``, ``"gelu"`` or its approximation ``"gelu_tanh"``, or ``"swiglu"``. That has three
            matrices instead of two, and therefore two thirds of ``d_ff`` features, so that both have equally many
            weights.
        key_value_heads: heads of keys and values in each attention, shared by groups of the queries' heads; ``None`` =
            as many as ``heads``.
        bias: let the projections of attention, the feed-forward sublayer and layer norms have one.
        rotary_base: of the angles of rotary positions. eps: what norms add to the variance.
        scale_words: multiply word vectors by √D, as the paper does. norm_words: normalise their sum with the positions.

    Raises:
        ValueError: for an unknown choice, no layers, or ``heads`` that ``key_value_heads`` does not divide.
    """

    d_model: int = 64
    heads: int = 4
    layers: int = 2
    d_ff: int = 128
    dropout: float = 0.0
    norm: str = "pre"
    positions: str = "rotary"
    cross_positions: str = "same"
    max_length: int = 512
    window: int | None = None
    tied: bool = True
    fused: bool = False
    normalisation: str = "layer"
    feed_forward: str = "relu"
    key_value_heads: int | None = None
    bias: bool = True
    rotary_base: float = BASE
    eps: float = 1e-5
    scale_words: bool = True
    norm_words: bool = False

    def __post_init__(self) -> None:
        choices = {"norm": NORMS, "positions": POSITIONS, "cross_positions": CROSS_POSITIONS}
        choices |= {"normalisation": NORMALISATIONS, "feed_forward": FEED_FORWARDS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.layers < 1:
            raise ValueError(f"layers must be at least 1, got {self.layers}")
        if self.key_value_heads is not None and (self.key_value_heads < 1 or self.heads % self.key_value_heads):
            raise ValueError(f"key_value_heads must divide heads = {self.heads}, got {self.key_value_heads}")

    def make_norm(self) -> nn.Module:
        """A fresh normalisation of the features at each position."""
        if self.normalisation == "rms":
            return nn.RMSNorm(self.d_model, eps=self.eps)  # Zhang and Sennrich 2019, equation 4
        return nn.LayerNorm(self.d_model, eps=self.eps, bias=self.bias)

    def make_feed_forward(self) -> nn.Module:
        """A fresh feed-forward sublayer."""
        if self.feed_forward == "swiglu":
            return SwiGLU(self.d_model, self.d_ff * 2 // 3, self.bias)
        return FeedForward(self.d_model, self.d_ff, self.bias, self.feed_forward)

    def self_attention(self) -> MultiHeadAttention:
        """A fresh attention within a sequence."""
        return self._attention(self.positions, learn=False)

    def cross_attention(self) -> MultiHeadAttention:
        """A fresh attention from a sequence to another one."""
        return self._attention(self.positions if self.cross_positions == "same" else self.cross_positions, learn=True)

    def _attention(self, kind: str, learn: bool) -> MultiHeadAttention:
        kinds: dict[str, Callable[[], NoPositions]]
        kinds = {"rotary": lambda: Rotary(self.rotary_base), "linear_bias": lambda: LinearBias(self.heads, learn)}
        return MultiHeadAttention(
            self.d_model, self.heads, positions=kinds.get(kind, NoPositions)(), fused=self.fused, bias=self.bias,
            key_value_heads=self.key_value_heads,
        )  # fmt: skip


BETWEEN: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": nn.functional.relu,
    "gelu": nn.functional.gelu,
    "gelu_tanh": partial(nn.functional.gelu, approximate="tanh"),
}


class FeedForward(nn.Module):
    """W_2 relu(W_1 x + b_1) + b_2, the same for each position: the part that computes, where attention only fetches.

    Args:
        between: ``"relu"``, ``"gelu"`` or ``"gelu_tanh"``, between the two matrices.

    Source: Vaswani et al. 2017, equation 2; Hendrycks and Gimpel 2016, section 2, for GELU and its approximation.
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool = True, between: str = "relu") -> None:
        super().__init__()
        self.between = BETWEEN[between]
        self.widen = nn.Linear(d_model, d_ff, bias=bias)
        self.narrow = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D)``."""
        return self.narrow(self.between(self.widen(x)))


class SwiGLU(FeedForward):
    """W_2 (silu(G x) * W_1 x): a second projection G, through silu(z) = z / (1 + e^−z), says how much of each passes.

    Source: Shazeer 2020, equation 6 (there without biases).
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool = True) -> None:
        super().__init__(d_model, d_ff, bias)
        self.gate = nn.Linear(d_model, d_ff, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D)``."""
        return self.narrow(nn.functional.silu(self.gate(x)) * self.widen(x))


class Memory(NamedTuple):
    """Another sequence, as a block's cross-attention sees it.

    Fields:
        heads: its keys and values, from ``cross_attention.project``.
        mask: ``(B, 1, Tk)`` bool, ``True`` at real words.
        positions: ``(Tk,)`` or ``(B, 1, Tk)``, where its words stand.
    """

    heads: Heads
    mask: Tensor | None
    positions: Tensor


def mean_over_heads(weights: Tensor | None) -> Tensor | None:
    """One picture of where a layer looked, ``(B, H, T, Tk)`` -> ``(B, T, Tk)``; ``None`` if fused."""
    return None if weights is None else weights.mean(dim=1)


def words_in(past: Heads | None) -> int:
    """How many words a cache of keys and values holds: t, and 0 where there is none before the first word."""
    return 0 if past is None else past.key.shape[2]


class Read(NamedTuple):
    """What a block made of the words that it has read.

    Fields:
        x: ``(B, T, D)``.
        heads: keys and values of all words so far, ``(B, H, t + T, D/H)``: the cache; fewer heads with grouped queries.
        weights: of self-attention, ``(B, H, T, t + T)``; ``None`` if fused.
        cross_weights: of cross-attention, ``(B, H, T, Tk)``; ``None`` if fused, or where there is none.
    """

    x: Tensor
    heads: Heads
    weights: Tensor | None
    cross_weights: Tensor | None


class Block(nn.Module):
    """Self-attention, attention to another sequence where there is one, and feed-forward, in pre-norm.

    x + f(norm(x)): a residual connection leads past each sublayer f, and what enters the sublayer is normalised.

    Args:
        config: sizes, positions, dropout.
        cross: with cross-attention, as the decoder of an encoder–decoder has it.

    Source: Vaswani et al. 2017, section 3.1; Xiong et al. 2020 for pre-norm.
    """

    ends_normalised = False  # so that a stack of these needs a norm after the last

    def __init__(self, config: TransformerConfig, cross: bool = False) -> None:
        super().__init__()
        self.self_attention = config.self_attention()
        if cross:
            self.cross_attention = config.cross_attention()
            self.norm_cross = config.make_norm()
        self.feed_forward = config.make_feed_forward()
        self.norm_self, self.norm_feed_forward = config.make_norm(), config.make_norm()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        past: Heads | None = None,
        memory: Memory | None = None,
        at: Tensor | None = None,
    ) -> Read:
        """Read ``x (B, T, D)``.

        Args:
            mask: ``(T, t + T)`` or ``(B, 1 or T, t + T)``, which words may be attended to.
            past: keys and values of the t words before them; ``None`` at the beginning.
            memory: the other sequence, for a block with cross-attention.
            at: positions from which the other sequence is asked, ``(T,)`` or ``(B, 1, T)``.
        """
        x, (heads, weights) = self.residual(self.norm_self, x, lambda x: self.attend_to_self(x, mask, past))
        cross_weights = None
        if memory is not None:
            x, cross_weights = self.residual(self.norm_cross, x, lambda x: self.attend_to_memory(x, memory, at))
        x, _ = self.residual(self.norm_feed_forward, x, lambda x: (self.feed_forward(x), None))
        return Read(x, heads, weights, cross_weights)

    def residual(
        self, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Seen]]
    ) -> tuple[Tensor, Seen]:
        """x + f(norm(x)) for ``x (B, T, D)`` and a sublayer f, and what else the sublayer returns."""
        out, seen = sublayer(norm(x))
        return x + self.dropout(out), seen

    def attend_to_self(
        self, x: Tensor, mask: Tensor | None, past: Heads | None
    ) -> tuple[Tensor, tuple[Heads, Tensor | None]]:
        """Self-attention of ``x (B, T, D)`` to itself and the past: output; keys and values of all, and weights."""
        heads = self.extend(x, past)
        end = words_in(heads)
        at, keys_at = kept_range(end - x.shape[1], end, x.device), kept_range(0, end, x.device)  # (T,), (t + T,)
        out, weights = self.self_attention.attend(x, heads, mask, at, keys_at)
        return out, (heads, weights)

    def extend(self, x: Tensor, past: Heads | None) -> Heads:
        """Keys and values of the past, and behind them those of ``x (B, T, D)`` as it enters self-attention."""
        before = words_in(past)
        heads = self.self_attention.project(x, x, kept_range(before, before + x.shape[1], x.device))
        return heads if past is None else past.append(heads)

    def remember(self, x: Tensor, past: Heads | None) -> Heads:
        """As :meth:`forward` of ``x (B, T, D)``, but keys and values are all that is asked for."""
        return self.residual(self.norm_self, x, lambda x: (x, self.extend(x, past)))[1]

    def attend_to_memory(self, x: Tensor, memory: Memory, at: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Cross-attention of ``x (B, T, D)``: output and weights."""
        at = torch.arange(x.shape[1], device=x.device) if at is None else at
        return self.cross_attention.attend(x, memory.heads, memory.mask, at, memory.positions)

    def project_memory(
        self, annotations: Tensor, mask: Tensor | None = None, positions: Tensor | None = None
    ) -> Memory:
        """Project another sequence, ``annotations (B, Tk, D)``, for the cross-attention of this block, once."""
        if positions is None:
            positions = torch.arange(annotations.shape[1], device=annotations.device)  # (Tk,)
        return Memory(self.cross_attention.project(annotations, annotations, positions), mask, positions)


class PostNormBlock(Block):
    """The same block in post-norm, norm(x + f(x)): the sum is normalised, as the paper has it.

    Source: Vaswani et al. 2017, section 3.1.
    """

    ends_normalised = True

    def residual(
        self, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Seen]]
    ) -> tuple[Tensor, Seen]:
        """norm(x + f(x)); arguments as :meth:`Block.residual`."""
        out, seen = sublayer(x)
        return norm(x + self.dropout(out)), seen


BLOCKS: dict[str, type[Block]] = {"pre": Block, "post": PostNormBlock}
