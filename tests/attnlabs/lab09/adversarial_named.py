"""Answers that were told a bare difference, or the words of another mistake; now each has its own name."""

import torch
from torch import nn
from torch.nn import functional as F

from attnlabs.material.layer_parameters import multi_head_attention


def multiplied_by_the_transposes(x, W_1, b_1, W_2, b_2):
    return torch.relu(x @ W_1.T + b_1) @ W_2.T + b_2


def products_alone(x, W_1, b_1, W_2, b_2):
    return (x @ W_1).clamp(min=0) @ W_2


def swish(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    return hidden * hidden.sigmoid() @ W_2 + b_2


def divided_by_std(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) + bias


def divided_by_the_root_of_std(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.std(-1, keepdim=True) + eps) + bias


def as_llama_does(x, gain, bias, eps=1e-5):
    return gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) + bias


def without_an_axis(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) + bias


def of_the_batch(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, (0, 1), correction=0)
    return gain * (x - mean) / torch.sqrt(variance + eps) + bias


def no_parentheses(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).pow(2).mean(-1, keepdim=True)
    return gain * x - mean / torch.sqrt(variance + eps) + bias


def fresh_layer_norm(x, gain, bias, eps=1e-5):
    return nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)(x)


def post_of_the_normalised(x, sublayer, norm):
    x = norm(x)
    return norm(x + sublayer(x))


def post_for_each_word(x, sublayer, norm):
    words = [norm(x[:, t : t + 1] + sublayer(x[:, t : t + 1])) for t in range(x.shape[1])]
    return torch.cat(words, 1)


def post_with_other_parameters(x, norm, sublayer):
    return norm(x + sublayer(x))


def pre_adds_a_function(x, sublayer, norm):
    return x + sublayer


def pre_with_two_norms(x, sublayer, norm):
    return x.add(norm(sublayer(norm(x))))


def triangle(target):
    return torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()


def minus_a_billion(target, pad):
    closed = ~(triangle(target) & (target != pad).unsqueeze(1))
    return closed.double() * -1e9


def infinities_above(target, pad):
    return torch.full((target.shape[1], target.shape[1]), -torch.inf).triu(1)


def sentences_for_queries(target, pad):
    return triangle(target) & (target != pad)


def written_into_one(target, pad):
    mask, masks = triangle(target), []
    for sentence in target:
        mask[:, sentence == pad] = False
        masks.append(mask)
    return torch.stack(masks)


def scattered_over(logits, target, smoothing, pad):
    wanted = torch.full_like(logits, smoothing / logits.shape[-1]).scatter(-1, target[..., None], 1 - smoothing)
    return -(wanted * logits.log_softmax(-1)).sum(-1)[target != pad].mean()


def of_the_mixture(logits, target, smoothing, pad):
    right = logits.softmax(-1).gather(-1, target[..., None])[..., 0]
    return -((1 - smoothing) * right + smoothing / logits.shape[-1]).log()[target != pad].mean()


def mean_of_logits(logits, target, smoothing, pad):
    right = F.cross_entropy(logits.mT, target, reduction="none")
    return ((1 - smoothing) * right - smoothing * logits.mean(-1))[target != pad].mean()


def next_word(logits, target, smoothing, pad):
    return F.cross_entropy(logits[:, :-1].mT, target[:, 1:], ignore_index=pad, label_smoothing=smoothing)


def guarded_step(step, d_model, warmup):
    step = 1 if step == 0 else step
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def zero_first(step, d_model, warmup):
    return 0.0 if step == 0 else d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def positive_exponent(step, d_model, warmup):
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**1.5)


def branches(step, d_model, warmup):
    return d_model**-0.5 * ((step + 1) * warmup**-1.5 if step < warmup else step**-0.5)


def fractions(step, d_model, warmup):
    n = step + 1
    return d_model**-0.5 * min(n ** -1 / 2, n * warmup ** -3 / 2)  # fmt: skip


def _norm(x, parts):
    return F.layer_norm(x, x.shape[-1:], *parts)


def _compute(x, parts):
    return (x @ parts.W_1 + parts.b_1).relu() @ parts.W_2 + parts.b_2


def _sublayer(x, f, parts, norm):
    return _norm(x + f(x), parts) if norm == "post" else x + f(_norm(x, parts))


def encoder_with_feed_forward_alone(x, mask, layer, norm="post"):
    x = _sublayer(x, lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0], layer.norm_1, norm)
    if norm == "post":
        return _norm(_compute(x, layer.feed_forward), layer.norm_2)
    return _compute(_norm(x, layer.norm_2), layer.feed_forward)


def encoder_that_adds_the_normalised(x, mask, layer, norm="post"):
    if norm == "post":
        return encoder(x, mask, layer)
    y = _norm(x, layer.norm_1)
    y = y + multi_head_attention(y, y, y, *layer.attention, mask)[0]
    z = _norm(y, layer.norm_2)
    return z + _compute(z, layer.feed_forward)


def encoder(x, mask, layer, norm="post"):
    x = _sublayer(x, lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0], layer.norm_1, norm)
    return _sublayer(x, lambda y: _compute(y, layer.feed_forward), layer.norm_2, norm)


def encoder_with_a_decoders_mask(x, mask, layer, norm="post"):
    causal = torch.ones(1, x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return encoder(x, causal if mask is None else causal & mask, layer, norm)


def encoder_with_a_last_norm(x, mask, layer, norm="post"):
    result = encoder(x, mask, layer, norm)
    return result if norm == "post" else F.layer_norm(result, result.shape[-1:])


def decoder(x, memory, self_mask, memory_mask, layer, norm="post"):
    x = _sublayer(x, lambda y: multi_head_attention(y, y, y, *layer.self_attention, self_mask)[0], layer.norm_1, norm)
    cross = layer.cross_attention, memory_mask
    x = _sublayer(x, lambda y: multi_head_attention(y, memory, memory, *cross[0], cross[1])[0], layer.norm_2, norm)
    return _sublayer(x, lambda y: _compute(y, layer.feed_forward), layer.norm_3, norm)


def decoder_with_exchanged_parameters(x, memory, self_mask, memory_mask, layer, norm="post"):
    layer = layer._replace(self_attention=layer.cross_attention, cross_attention=layer.self_attention)
    return decoder(x, memory, self_mask, memory_mask, layer, norm)


def decoder_with_the_third_norm_second(x, memory, self_mask, memory_mask, layer, norm="post"):
    layer = layer._replace(norm_2=layer.norm_3, norm_3=layer.norm_2)
    return decoder(x, memory, self_mask, memory_mask, layer, norm)


def decoder_that_normalises_the_memory(x, memory, self_mask, memory_mask, layer, norm="post"):
    return decoder(x, _norm(memory, layer.norm_2), self_mask, memory_mask, layer, norm)


def decoder_that_is_causal_always(x, memory, self_mask, memory_mask, layer, norm="post"):
    causal = torch.ones(1, x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return decoder(x, memory, causal if self_mask is None else causal & self_mask, memory_mask, layer, norm)


NAMED = {
    multiplied_by_the_transposes: "matrices transposed",
    products_alone: "both biases forgotten",
    swish: "SiLU instead of relu",
    divided_by_std: "eps forgotten, divided by n − 1",
    divided_by_the_root_of_std: "root of the standard deviation, n − 1",
    as_llama_does: "RMS norm",
    without_an_axis: "normalised over everything",
    of_the_batch: "batch norm",
    no_parentheses: "only the mean is divided",
    fresh_layer_norm: "gain and bias forgotten",
    post_of_the_normalised: "x overwritten by its norm",
    post_for_each_word: "word by word",
    post_with_other_parameters: "sublayer and norm exchanged",
    pre_adds_a_function: "sublayer not called",
    pre_with_two_norms: "normalised before and after the sublayer",
    minus_a_billion: "0 and −1e9 instead of True and False",
    infinities_above: "torch's mask of numbers",
    sentences_for_queries: "padding without a new axis",
    written_into_one: "one triangle for all sentences",
    scattered_over: "right word's part of the even share forgotten",
    of_the_mixture: "probabilities smoothed before the logarithm",
    mean_of_logits: "mean of the logits",
    next_word: "shifted once more",
    guarded_step: "step 0 taken for step 1",
    zero_first: "rate 0 at the first step",
    positive_exponent: "no warm-up",
    branches: "curve counted from 0",
    fractions: "exponent of both terms without parentheses",
    encoder_with_feed_forward_alone: "no residual connection around feed-forward",
    encoder_that_adds_the_normalised: "normalised x added with pre-norm",
    encoder_with_a_decoders_mask: "causal encoder",
    encoder_with_a_last_norm: "one more norm at the end",
    decoder_with_exchanged_parameters: "parameters of the two attentions exchanged",
    decoder_with_the_third_norm_second: "second and third norm exchanged",
    decoder_that_normalises_the_memory: "memory normalised with either norm",
    decoder_that_is_causal_always: "causal without being asked",
}
_BY_EXERCISE = {
    "x W_1 b_1 W_2 b_2": "feed_forward",
    "x gain bias eps": "layer_norm",
    "target pad": "decoder_mask",
    "logits target smoothing pad": "label_smoothing_loss",
    "step d_model warmup": "warmup_rate",
    "x mask layer norm": "encoder_layer",
    "x memory self_mask memory_mask layer norm": "decoder_layer",
}


def _exercise(answer):
    code = answer.__code__
    parameters = " ".join(code.co_varnames[: code.co_argcount])
    return _BY_EXERCISE.get(parameters) or f"residual_{answer.__name__.split('_')[0]}_norm"


WRONG = {name: [answer for answer in NAMED if _exercise(answer) == name] for name in map(_exercise, NAMED)}
RIGHT = {"encoder_layer": encoder, "decoder_layer": decoder}
