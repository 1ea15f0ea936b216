"""Lab 9, fifth part: a layer of the decoder, which looks at itself, then at the source."""

from __future__ import annotations

import torch

from attnbook.lab_material.layer_parameters import multi_head_attention

from ..engine.exercise import Exercise, Property
from .decoder_mistakes import DECODER_MISTAKES
from .parameters import draw_decoder
from .parts import feed_forward, layer_norm
from .residual import residual_post_norm, residual_pre_norm


def decoder_layer(x, memory, self_mask, memory_mask, layer, norm="post"):
    around = residual_post_norm if norm == "post" else residual_pre_norm

    def look_at_target(y):
        return multi_head_attention(y, y, y, *layer.self_attention, self_mask)[0]

    def look_at_source(y):
        return multi_head_attention(y, memory, memory, *layer.cross_attention, memory_mask)[0]

    def compute(y):
        return feed_forward(y, *layer.feed_forward)

    def norm_1(y):
        return layer_norm(y, *layer.norm_1)

    def norm_2(y):
        return layer_norm(y, *layer.norm_2)

    def norm_3(y):
        return layer_norm(y, *layer.norm_3)

    x = around(x, look_at_target, norm_1)  # (B, T, D)
    x = around(x, look_at_source, norm_2)  # (B, T, D)
    return around(x, compute, norm_3)  # (B, T, D)


def _decoders(draw):
    batch, length, keys, hidden = draw.sizes(4)
    dim, heads = (4, 2) if draw.number == 0 else (10, 5)
    for norm in ("post", "pre"):
        empty = draw.number == 1
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        causal = causal & draw.mask(batch + 1, 1, length, empty_rows=empty)[1:]  # (B, T, T)
        source = draw.mask(batch + 1, 1, keys, empty_rows=empty)[1:]  # (B, 1, Tk); not the first: it is open
        words, memory = draw.normal(batch, length, dim), draw.normal(batch, keys, dim)
        yield words, memory, causal, source, draw_decoder(draw, dim, heads, hidden), norm
        layer = draw_decoder(draw, 6, 3, 6)  # square: T = Tk, D = F
        yield draw.normal(3, 3, 6), draw.normal(3, 3, 6), draw.mask(3, 3, 3), draw.mask(3, 3, 3), layer, norm
        first = causal[:1], source[:1]
        yield draw.normal(1, length, 4), draw.normal(1, keys, 4), *first, draw_decoder(draw, 4, 2, hidden + 6), norm
    layer = draw_decoder(draw, 4, 2, 5)
    yield draw.normal(batch, length, 4), draw.normal(batch, keys, 4), None, None, layer, "pre"
    if draw.number > 1:  # two of a kind will do
        return
    for norm in ("post", "pre"):
        words, memory, own = draw.normal(3, length, 6), draw.normal(3, keys, 6), draw.mask(4, length, length)[1:]
        source = draw.mask(4, 1, keys)[1:]  # (3, 1, Tk)
        for mask, other, heads in (
            (None, None, 2),
            (own, None, 2),
            (None, source, 2),
            (own[:1], source, 1),
            (own, source[:1], 1),
        ):
            yield words, memory, mask, other, draw_decoder(draw, 6, heads, 5), norm  # each alone; one for all sentences
        yield words[:, :1], memory, own[:, :1, :1], source, draw_decoder(draw, 6, 2, 5), norm  # one word
        yield 100 * words, 100 * memory, own, source, draw_decoder(draw, 6, 2, 5), norm  # scores of thousands


DECODER_LAYER = Exercise(
    decoder_layer,
    cases=_decoders,
    tolerance=1e-8,
    properties=[
        Property(
            "post-norm ends with a norm",
            'With norm="post" the last thing that happens is the third norm: take off its bias and its gain, and '
            "each word's features must have mean 0.",
            lambda result, x, memory, self_mask, memory_mask, layer, norm: (
                norm == "pre" or ((result - layer.norm_3.bias) / layer.norm_3.gain).mean(-1).abs().max() < 1e-6
            ),
        ),
        Property(
            "pre-norm ends with a sum",
            'With norm="pre" nothing is normalised at the end. Your result still has the mean of a norm.',
            lambda result, x, memory, self_mask, memory_mask, layer, norm: (
                norm == "post" or ((result - layer.norm_3.bias) / layer.norm_3.gain).mean(-1).abs().max() > 1e-6
            ),
        ),
    ],
    mistakes=DECODER_MISTAKES,
)
