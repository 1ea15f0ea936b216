"""Random parameters of a Transformer's layers, in small."""

from attnlabs.material.layer_parameters import (
    AttentionParameters,
    DecoderParameters,
    EncoderParameters,
    FeedForwardParameters,
    NormParameters,
)


def draw_encoder(draw, dim: int, heads: int, hidden: int) -> EncoderParameters:
    """Random parameters of an encoder layer, no two of them alike."""
    attention, norm = draw_attention(draw, dim, heads), draw_norm(draw, dim)
    return EncoderParameters(attention, norm, draw_feed_forward(draw, dim, hidden), draw_norm(draw, dim))


def draw_decoder(draw, dim: int, heads: int, hidden: int) -> DecoderParameters:
    """Random parameters of a decoder layer, no two of them alike."""
    own, norm_1 = draw_attention(draw, dim, heads), draw_norm(draw, dim)
    across, norm_2 = draw_attention(draw, dim, heads), draw_norm(draw, dim)
    return DecoderParameters(own, norm_1, across, norm_2, draw_feed_forward(draw, dim, hidden), draw_norm(draw, dim))


def draw_attention(draw, dim: int, heads: int) -> AttentionParameters:
    W_q, W_k, W_v, W_o = (draw.normal(dim, dim) for _ in range(4))
    return AttentionParameters(W_q, W_k, W_v, W_o, heads)


def draw_feed_forward(draw, dim: int, hidden: int) -> FeedForwardParameters:
    return FeedForwardParameters(
        draw.normal(dim, hidden), draw.normal(hidden), draw.normal(hidden, dim), draw.normal(dim)
    )


def draw_norm(draw, dim: int) -> NormParameters:
    return NormParameters(draw.uniform(dim, low=0.5, high=1.5), draw.normal(dim))
