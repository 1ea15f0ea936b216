"""Attention: score the query against the keys, normalise, take the weighted sum of the values."""

from attnbook.attention.core import Attention, attend, masked_log_softmax, masked_softmax
from attnbook.attention.masks import causal_mask, padding_mask, window_mask
from attnbook.attention.multihead import Heads, MultiHead, merge_heads, split_heads
from attnbook.attention.positions import (
    Learned,
    LinearBias,
    Rotary,
    Sinusoidal,
    relative_shift,
    sinusoidal_positions,
)
from attnbook.attention.scores import (
    MLP,
    Additive,
    Alignment,
    Cosine,
    Dot,
    General,
    Location,
    LocationAware,
    ScaledDot,
    Score,
    Sharpened,
    cosine,
    dot,
    scaled_dot,
)

__all__ = [
    "MLP",
    "Additive",
    "Alignment",
    "Attention",
    "Cosine",
    "Dot",
    "General",
    "Heads",
    "Learned",
    "LinearBias",
    "Location",
    "LocationAware",
    "MultiHead",
    "Rotary",
    "ScaledDot",
    "Score",
    "Sharpened",
    "Sinusoidal",
    "attend",
    "causal_mask",
    "cosine",
    "dot",
    "masked_log_softmax",
    "masked_softmax",
    "merge_heads",
    "padding_mask",
    "relative_shift",
    "scaled_dot",
    "sinusoidal_positions",
    "split_heads",
    "window_mask",
]
