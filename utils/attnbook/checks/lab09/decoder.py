"""Lab 9, fifth part: a layer of the decoder, which looks at itself, then at the source."""

from __future__ import annotations

import torch

from attnbook.lab_material.layer_parameters import multi_head_attention

from ..engine.exercise import Exercise
from .encoder import OF_BOTH_LAYERS, ends_as_asked
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


DECODER_LAYER = Exercise(decoder_layer, cases=_decoders, tolerance=1e-8, properties=ends_as_asked("norm_3", "third"))

_SEEN = "seen = layer_norm(memory, *layer.norm_2) if norm == 'pre' else memory\n\n    def look_at_source(y):"
_OWN, _ACROSS, _COMPUTE = "x, look_at_target, norm_1", "x, look_at_source, norm_2", "x, compute, norm_3"

wrong = DECODER_LAYER.mistakes
wrong += OF_BOTH_LAYERS
wrong("weights handed on", {", self_mask)[0]": ", self_mask)"}).says("""
    You handed on both results of an attention, output and weights, as the sublayer's answer. A tuple can't be added
    to x: take the output, `[0]`.""")
wrong("masks swapped", {", self_mask)": ", memory_mask )", ", memory_mask)": ", self_mask)"}).says("""
    You swapped the masks. self_mask (B, T, T) says which words of the *target* may be seen, memory_mask (B, 1, Tk)
    which of the *source*.""")
wrong("self_mask for both", {", memory_mask)": ", self_mask)"}).says("""
    You used self_mask for the source too. The whole source is known from the beginning: only its padding is closed,
    by memory_mask.""")
wrong("the source asks", {"(y, memory, memory,": "(memory, y, y,"}).says("""
    You let the source ask and the target answer. The query is the word that is being written; keys and values are the
    memory, what the encoder read.""")
wrong("values from the target", {"(y, memory, memory,": "(y, memory, y,"}).says("""
    You compared with the memory but fetched from the target. Key and value both come from the memory.""")
wrong("the source never seen, but its mask", {"(y, memory, memory,": "(y, y, y,"}).says("""
    Your second attention looks at the target again, with the source's mask. Key and value come from the memory: (y,
    memory, memory, …). Then memory_mask fits.""")
wrong("memory normalised", {"def look_at_source(y):": _SEEN, "(y, memory, memory,": "(y, seen, seen,"}).says("""
    With norm="pre" you normalised the memory as well, with norm_2. The memory comes normalised from the encoder's
    end; only what the sublayer is given, y, goes through its norm.""")
wrong("the source asked without the norm", {"(y, memory, memory,": "(x, memory, memory,"}).says("""
    With norm="pre" the query of your cross-attention is the x from outside: norm_2 has no effect. The query is what
    the sublayer is given, y.""")
wrong("sublayer's input ignored", {"(y, y, y,": "(x, x, x,"}).says("""
    With norm="pre" your self-attention looks at the x from outside, not at what the sublayer is given: the norm
    before it has no effect. Inside the little function use its own argument, three times.""")
wrong("source first", {_OWN: "x, look_at_source, norm_1", _ACROSS: "x, look_at_target, norm_2"}).says("""
    You looked at the source before the target. First the words written so far, then the source, then the feed-forward
    sublayer.""")
wrong("feed-forward in the middle", {_ACROSS: "x, compute, norm_2", _COMPUTE: "x, look_at_source, norm_3"}).says("""
    You put the feed-forward sublayer between the two attentions. It comes last.""")
wrong("feed-forward forgotten", {f"return around({_COMPUTE})": "return x"}).says("""
    Your layer ends after the attentions. The feed-forward sublayer follows, with norm_3.""")
wrong("the same attention twice", {"*layer.cross_attention": "*layer.self_attention"}).says("""
    You used the parameters of the self-attention for the source too. There are two attentions, each with its own four
    matrices.""")
wrong("first norm twice", {_ACROSS: "x, look_at_source, norm_1"}).says("""
    You used norm_1 around the cross-attention as well. The sublayers' norms go in order: target 1, source 2,
    feed-forward 3.""")
wrong("one norm for all", {_ACROSS: "x, look_at_source, norm_1", _COMPUTE: "x, compute, norm_1"}).says("""
    You used norm_1 for all three sublayers. Each has a norm of its own.""")
