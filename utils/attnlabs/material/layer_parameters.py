"""The parameters of a Transformer's layers as plain named tuples, and the attention that lab 9 starts from.

Each part lies in the order in which its function takes it: ``layer_norm(x, *layer.norm_1)``,
``feed_forward(x, *layer.feed_forward)``, ``multi_head_attention(query, key, value, *layer.attention, mask)``.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from torch import Tensor

from attnbook.attention.core import attend
from attnbook.attention.multihead import merge_heads, split_heads


def _no_function(what: str, call: str) -> NoReturn:
    raise TypeError(
        f"these are only the parameters of {what}; the residual function wants a function: `lambda y: {call}`"
    )


class AttentionParameters(NamedTuple):
    """Of an attention with several heads; each W is ``(D, D)``, used as ``x @ W``."""

    W_q: Tensor
    W_k: Tensor
    W_v: Tensor
    W_o: Tensor
    heads: int

    def __call__(self, *x: Tensor) -> NoReturn:
        """Say what is wanted instead: handed over as a sublayer it would be called."""
        _no_function("an attention", "multi_head_attention(y, …)[0]")

    def __repr__(self) -> str:
        return f"attention (D = {len(self.W_q)}, {self.heads} heads)"


class FeedForwardParameters(NamedTuple):
    """Of two layers with F features between them: ``(D, F)``, ``(F,)``, ``(F, D)``, ``(D,)``."""

    W_1: Tensor
    b_1: Tensor
    W_2: Tensor
    b_2: Tensor

    def __call__(self, *x: Tensor) -> NoReturn:
        """Say what is wanted instead: handed over as a sublayer it would be called."""
        _no_function("a feed-forward sublayer", "feed_forward(y, *layer.feed_forward)")

    def __repr__(self) -> str:
        return f"feed-forward (D = {len(self.W_1)}, F = {len(self.b_1)})"


class NormParameters(NamedTuple):
    """Of a layer norm: both ``(D,)``."""

    gain: Tensor
    bias: Tensor

    def __call__(self, *x: Tensor) -> NoReturn:
        """Say what is wanted instead: handed over as a norm it would be called."""
        _no_function("a norm", "layer_norm(y, *layer.norm_1)")

    def __repr__(self) -> str:
        return f"norm (D = {len(self.gain)})"


def _layer(kind: str, attention: AttentionParameters, feed_forward: FeedForwardParameters) -> str:
    size, heads, hidden = len(attention.W_q), attention.heads, len(feed_forward.b_1)
    return f"parameters of {kind} layer (D = {size}, {heads} heads, F = {hidden})"


class EncoderParameters(NamedTuple):
    """Of an encoder layer: two sublayers, and a norm for each, in their order."""

    attention: AttentionParameters
    norm_1: NormParameters
    feed_forward: FeedForwardParameters
    norm_2: NormParameters

    def __repr__(self) -> str:
        return _layer("an encoder", self.attention, self.feed_forward)


class DecoderParameters(NamedTuple):
    """Of a decoder layer: three sublayers, and a norm for each, in their order."""

    self_attention: AttentionParameters
    norm_1: NormParameters
    cross_attention: AttentionParameters
    norm_2: NormParameters
    feed_forward: FeedForwardParameters
    norm_3: NormParameters

    def __repr__(self) -> str:
        return _layer("a decoder", self.self_attention, self.feed_forward)


def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    heads: int,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The function of lab 8: attend from ``query (B, Tq, D)`` to ``key, value (B, Tk, D)`` with several heads.

    Args:
        mask: bool, ``(B, Tq, Tk)`` or anything that broadcasts to it, ``True`` = may attend; for all heads.

    Returns:
        output ``(B, Tq, D)`` and weights ``(B, H, Tq, Tk)``.

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    projected = (query @ W_q, key @ W_k, value @ W_v)  # (B, T, D) each
    query, key, value = (split_heads(x, heads) for x in projected)  # (B, H, T, D/H) each
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]  # (B, 1, Tq, Tk): one mask for all heads
    context, weights = attend(query, key, value, mask=mask)  # (B, H, Tq, D/H), (B, H, Tq, Tk)
    return merge_heads(context) @ W_o, weights  # (B, Tq, D), (B, H, Tq, Tk)
