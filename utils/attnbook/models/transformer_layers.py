"""The layers of the Transformer: the same two or three sublayers again and again, each with a way around it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnbook.attention import LinearBias, MultiHead, Rotary, ScaledDot, Score, Sharpened
from attnbook.attention.multihead import Heads

NORMS = ("pre", "post", "none")
POSITIONS = ("none", "sinusoidal", "learned", "rotary", "linear_bias")
CROSS_POSITIONS = ("same", "none", "rotary", "linear_bias")


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that is chosen about a Transformer, so that two models differ in what their configurations say.

    Fields:
        dim: features D of every word vector; heads: H, which share them; layers: in each of encoder and decoder.
        hidden: features inside the feed-forward sublayer; 4 · dim in the paper.
        dropout: part of the numbers set to zero while training, where the paper does it: after each sublayer, and
            after the sum of word vector and position.
        norm: ``"post"`` normalises after adding (the paper), ``"pre"`` before each sublayer, ``"none"`` not at all.
        positions: ``"none"``, ``"sinusoidal"``, ``"learned"``, ``"rotary"`` or ``"linear_bias"``. The last two say how
            far apart two words of one sequence are.
        cross_positions: ``"none"``, ``"rotary"`` or ``"linear_bias"`` (with learnt slopes): how far a target word's
            place is from a source word's place. ``"same"``: as positions, where that is one of these.
        separators: a word of the source and one of the target that part the items of a list. With them,
            cross_positions count items instead of words: the second item of the target looks for the second.
        max_length: places that learned positions know.
        window: how far self-attention may look to either side; ``None`` = everywhere.
        scale: divide scores by √(D/H). residual: go around each sublayer. (Both for chapter 09's ablation.)
        tied: the output layer is the transpose of the target's word vectors.
        fused: use torch's fused kernel: the same model, less memory, but no weights to look at.

    Raises:
        ValueError: for an unknown norm or kind of positions, no layers, or a score that the fused kernel can't compute.
    """

    dim: int = 64
    heads: int = 4
    layers: int = 2
    hidden: int = 128
    dropout: float = 0.0
    norm: str = "pre"
    positions: str = "rotary"
    cross_positions: str = "same"
    separators: tuple[int, int] | None = None
    max_length: int = 512
    window: int | None = None
    scale: bool = True
    residual: bool = True
    tied: bool = True
    fused: bool = False

    def __post_init__(self) -> None:
        choices = {"norm": NORMS, "positions": POSITIONS, "cross_positions": CROSS_POSITIONS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.layers < 1:
            raise ValueError(f"layers must be at least 1, got {self.layers}")
        if self.fused and (not self.scale or "linear_bias" in (self.positions, self.cross_positions)):
            raise ValueError("fused=True knows only scaled dots without a bias; leave it out with these scores")

    def self_score(self) -> Score:
        """The score within a sequence."""
        return self._score(self.positions, learn=False)

    def cross_score(self) -> Score:
        """The score of a target word against the source's words."""
        kind = self.positions if self.cross_positions == "same" else self.cross_positions
        return self._score(kind, learn=True)

    def _score(self, positions: str, learn: bool) -> Score:
        kinds = {"rotary": Rotary, "linear_bias": lambda: LinearBias(self.heads, learn)}
        score = kinds.get(positions, ScaledDot)()
        return score if self.scale else Sharpened(score, (self.dim / self.heads) ** 0.5)  # √(D/H) / √(D/H) = 1


class FeedForward(nn.Module):
    """W_2 relu(W_1 x + b_1) + b_2, the same for each place: the part that computes, where attention only fetches.

    Source: Vaswani et al. 2017, equation 2.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.widen = nn.Linear(dim, hidden)
        self.narrow = nn.Linear(hidden, dim)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D)``."""
        return self.narrow(self.widen(x).relu())


class Around(nn.Module):
    """A way around a sublayer, and the norm that keeps the sum in bounds.

    post: norm(x + f(x))      (Vaswani et al. 2017, section 3.1)
    pre:  x + f(norm(x))      (Xiong et al. 2020: gradients stay even, and warm-up is no longer needed)
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.kind, self.residual = config.norm, config.residual
        self.norm = nn.Identity() if config.norm == "none" else nn.LayerNorm(config.dim)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """``x (B, T, D)`` and what ``sublayer`` makes of it, ``(B, T, D)``."""
        out = self.dropout(sublayer(self.norm(x) if self.kind == "pre" else x))
        if self.residual:
            out = x + out
        return self.norm(out) if self.kind == "post" else out


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward. Source: Vaswani et al. 2017, section 3.1, "Encoder"."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHead(config.dim, config.heads, config.self_score(), config.fused)
        self.feed_forward = FeedForward(config.dim, config.hidden)
        self.around_attention, self.around_feed_forward = Around(config), Around(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """``x (B, Tk, D)``, mask ``(B, 1 or Tk, Tk)`` -> the same shape, and weights ``(B, H, Tk, Tk)``."""
        seen = []

        def attention(y: Tensor) -> Tensor:
            out, weights = self.self_attention(y, y, y, mask)
            seen.append(weights)
            return out

        x = self.around_attention(x, attention)
        return self.around_feed_forward(x, self.feed_forward), seen[0]


class DecoderLayer(nn.Module):
    """Self-attention to the past, attention to the source, feed-forward.

    Source: Vaswani et al. 2017, section 3.1, "Decoder".
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHead(config.dim, config.heads, config.self_score(), config.fused)
        self.cross_attention = MultiHead(config.dim, config.heads, config.cross_score(), config.fused)
        self.feed_forward = FeedForward(config.dim, config.hidden)
        self.around_self, self.around_cross, self.around_feed_forward = Around(config), Around(config), Around(config)

    def forward(
        self,
        x: Tensor,
        past: Heads | None,
        memory: Heads,
        self_mask: Tensor | None,
        memory_mask: Tensor | None,
        places: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Heads, tuple[Tensor | None, Tensor | None]]:
        """Read ``x (B, T, D)``, the new words of the target.

        Args:
            past: keys and values of the words before them, ``(B, H, t, D/H)``; ``None`` at the beginning.
            memory: keys and values of the source, from ``cross_attention.remember``.
            self_mask: ``(T, t + T)`` or ``(B, T, t + T)``. memory_mask: ``(B, 1, Tk)``.
            places: of the words of ``x`` and of the source's, for scores that care; see :meth:`MultiHead.look`.

        Returns:
            ``(B, T, D)``; keys and values of all words so far; weights within the target and to the source.
        """
        kept = []

        def self_attention(y: Tensor) -> Tensor:
            heads = self.self_attention.remember(y, y)
            if past is not None:
                heads = Heads(*(torch.cat(pair, dim=2) for pair in zip(past, heads, strict=True)))  # (B, H, t + T, D/H)
            out, weights = self.self_attention.look(y, heads, self_mask)
            kept.extend([heads, weights])
            return out

        def cross_attention(y: Tensor) -> Tensor:
            out, weights = self.cross_attention.look(y, memory, memory_mask, places)
            kept.append(weights)
            return out

        x = self.around_cross(self.around_self(x, self_attention), cross_attention)
        heads, own, across = kept
        return self.around_feed_forward(x, self.feed_forward), heads, (own, across)
