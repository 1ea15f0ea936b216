"""Answers that passed once: right on the small and tame, wrong on what else may come."""

import torch
from torch.nn import functional as F


def scales_by_root_two(q, k, v, W_q, W_k, W_v, W_o, heads, mask):
    return several_heads(q, k, v, W_q, W_k, W_v, W_o, heads, mask, root=2**0.5)


def always_two_a_head(q, k, v, W_q, W_k, W_v, W_o, heads, mask):
    return several_heads(q, k, v, W_q, W_k, W_v, W_o, len(W_q) // 2, mask)


def fills_with_ten_thousand(q, k, v, W_q, W_k, W_v, W_o, heads, mask):
    return several_heads(q, k, v, W_q, W_k, W_v, W_o, heads, mask, closed=-1e4)


def causal_unasked(q, k, v, W_q, W_k, W_v, W_o, heads, mask):
    mask = torch.ones(1, q.shape[1], k.shape[1], dtype=torch.bool).tril() if mask is None else mask
    return several_heads(q, k, v, W_q, W_k, W_v, W_o, heads, mask)


def drops_a_mask_for_all(q, k, v, W_q, W_k, W_v, W_o, heads, mask):
    mask = None if mask is not None and len(mask) == 1 < len(q) else mask
    return several_heads(q, k, v, W_q, W_k, W_v, W_o, heads, mask)


def several_heads(q, k, v, W_q, W_k, W_v, W_o, heads, mask, root=None, closed=-torch.inf):
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q @ W_q, k @ W_k, v @ W_v))
    scores = q @ k.mT / (root or q.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None], closed)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask[:, None], 0)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o


def around(x, sublayer, norm, kind):
    def normed(y):
        return F.layer_norm(y, y.shape[-1:], *norm)

    return normed(x + sublayer(x)) if kind == "post" else x + sublayer(normed(x))


def computed(x, part):
    return (x @ part.W_1 + part.b_1).relu() @ part.W_2 + part.b_2


def encoder_with(attention):
    def encoder_layer(x, mask, layer, norm="post"):
        x = around(x, lambda y: attention(y, y, y, *layer.attention, mask), layer.norm_1, norm)
        return around(x, lambda y: computed(y, layer.feed_forward), layer.norm_2, norm)

    return encoder_layer


def decoder_with(attention, masks=lambda own, source, x: (own, source)):
    def decoder_layer(x, memory, self_mask, memory_mask, layer, norm="post"):
        own, source = masks(self_mask, memory_mask, x)
        x = around(x, lambda y: attention(y, y, y, *layer.self_attention, own), layer.norm_1, norm)
        x = around(x, lambda y: attention(y, memory, memory, *layer.cross_attention, source), layer.norm_2, norm)
        return around(x, lambda y: computed(y, layer.feed_forward), layer.norm_3, norm)

    return decoder_layer


def mean_of_squares(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    return gain * (x - mean) / (x.square().mean(-1, keepdim=True) - mean**2 + eps).sqrt() + bias


def bounded(x, gain, bias, eps=1e-5):
    return gain * F.layer_norm(x, x.shape[-1:], eps=eps).clamp(-4, 4) + bias


def small_words(target, pad):
    return (target.to(torch.int8) != pad)[:, None] & torch.ones(2 * target.shape[1:], dtype=torch.bool).tril()


def half_at_most(logits, target, smoothing, pad):
    return F.cross_entropy(logits.mT, target, ignore_index=pad, label_smoothing=min(smoothing, 0.5))


def short_training(step, d_model, warmup):
    count = min(step + 1, 30_000)
    return d_model**-0.5 * min(count**-0.5, count * warmup**-1.5)


_ODD = (scales_by_root_two, always_two_a_head, fills_with_ten_thousand, causal_unasked, drops_a_mask_for_all)
WRONG = {
    "encoder_layer": {kind.__name__: encoder_with(kind) for kind in _ODD},
    "decoder_layer": {
        **{kind.__name__: decoder_with(kind) for kind in _ODD},
        "no memory mask without the other": decoder_with(
            several_heads, lambda own, source, x: (own, None if own is None else source)
        ),
        "no mask without a memory mask": decoder_with(
            several_heads, lambda own, source, x: (None if source is None else own, source)
        ),
        "no memory mask for one word": decoder_with(
            several_heads, lambda own, source, x: (own, None if x.shape[1] == 1 else source)
        ),
    },
    "layer_norm": [mean_of_squares, bounded],
    "decoder_mask": [small_words],
    "label_smoothing_loss": [half_at_most],
    "warmup_rate": [short_training],
}
RIGHT = {"encoder_layer": encoder_with(several_heads), "decoder_layer": decoder_with(several_heads)}
