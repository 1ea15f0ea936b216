"""Answers of labs 09 and 10 that passed once: right on the small and tame, wrong on what else may come."""

import pytest
import torch
from torch.nn import functional as F

from attnbook.checks import evaluate
from attnbook.decoding import select


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


def sampled(logits, temperature, chance):
    if temperature == 0:
        return logits.argmax(-1)
    ends = (logits / temperature).softmax(-1).cumsum(-1)
    return (chance[:, None] >= ends).sum(-1).clamp(max=logits.shape[1] - 1)


def cold_is_zero(logits, temperature, chance):
    return sampled(logits, 0 if temperature < 0.5 else temperature, chance)


def never_colder(logits, temperature, chance):
    return sampled(logits, temperature and max(temperature, 0.3), chance)


def power(logits, temperature, chance):
    if temperature == 0:
        return logits.argmax(-1)
    p = logits.softmax(-1) ** (1 / temperature)
    return sampled((p / p.sum(-1, keepdim=True)).log(), 1.0, chance)


def float_zero(logits, temperature, chance):
    if isinstance(temperature, float) and temperature == 0:
        return logits.argmax(-1)
    return sampled(logits, torch.tensor(temperature), chance) if temperature else (logits / 0 > chance[:, None]).sum(-1)


def read_with(weigh):
    def read_cached(words, state, weights):
        t, n = state[0].shape[1], words.shape[1]
        x = weights.embedding[words] + weights.positions[t : t + n]
        keys, values = torch.cat([state[0], x @ weights.W_k], 1), torch.cat([state[1], x @ weights.W_v], 1)
        scores = x @ weights.W_q @ keys.mT / x.shape[-1] ** 0.5
        return (x + weigh(scores, torch.ones(n, t + n).tril(t)) @ values) @ weights.W_o, (keys, values)
    return read_cached


def exp_then_mask(scores, mask):
    shares = scores.exp() * mask
    return shares / shares.sum(-1, keepdim=True)


def last_sixteen(scores, mask):
    return scores.masked_fill((mask * (1 - mask.tril(mask.shape[1] - mask.shape[0] - 16))) == 0, -torch.inf).softmax(-1)


def greedy(read, state, prompt, eos, max_length, least=1):
    logits, state = read(prompt, state)
    said = [logits[:, -1].argmax(-1)]
    ended = said[0] == eos
    while len(said) < max(max_length, least):
        logits, state = read(said[-1][:, None], state)
        said.append(logits[:, -1].argmax(-1).masked_fill(ended, eos))
        ended = ended | (said[-1] == eos)
    return torch.stack(said, 1)


def copies_a_tensor_state(read, state, prompt, eos, max_length):
    return greedy(read, state.clone(), prompt, eos, max_length)


def two_words_at_least(read, state, prompt, eos, max_length):
    return greedy(read, state, prompt, eos, max_length, least=2)


def twenty_words(read, state, prompt, eos, max_length):
    return greedy(read, state, prompt, eos, min(max_length, 20))


def beams(step, state, bos, eos, width, max_length, *, fill=-torch.inf, log=None, freeze=None, take=select):
    rows = torch.arange(len(state[0]))[:, None]
    state = take(state, rows.expand(-1, width).flatten())
    tokens = torch.full((len(rows), width, 1), bos)
    scores = torch.full((len(rows), width), -torch.inf, dtype=state[0].dtype)
    scores[:, 0] = 0
    for _ in range(max_length):
        ended = (tokens[:, :, 1:] == eos).any(-1)
        logits, state = step(tokens[:, :, -1].flatten(), state)
        log_p = (log(logits) if log else logits.log_softmax(-1)).unflatten(0, (-1, width))
        stay = torch.full_like(log_p, fill)
        stay[..., eos] = 0
        log_p = freeze(log_p, ended, eos) if freeze else torch.where(ended[..., None], stay, log_p)
        scores, best = (scores[..., None] + log_p).flatten(1).topk(width)
        parent, word = best // log_p.shape[-1], best % log_p.shape[-1]
        tokens = torch.cat([tokens.take_along_dim(parent[..., None], 1), word[..., None]], -1)
        state = take(state, (parent + width * rows).flatten())
    return tokens[..., 1:], scores


def times_the_mask(log_p, ended, eos):
    others = torch.arange(log_p.shape[-1]) != eos
    closed = torch.zeros_like(log_p).masked_fill(ended[..., None] & others, -torch.inf)
    return log_p * ~ended[..., None] + closed


def beams_with(**changes):
    def beam_search(step, state, bos, eos, width, max_length):
        return beams(step, state, bos, eos, width, max_length, **changes)
    return beam_search


def product(step, state, bos, eos, width, max_length):
    tokens, scores = beams(step, state, bos, eos, width, max_length)
    return tokens, scores.exp().log()


def divides_by_no_places(written, target, pad):
    real, wrong = target != pad, (written != target) & (target != pad)
    spoilt = (wrong.long().cumsum(1) - wrong.long()) > 0
    before = (wrong & ~spoilt).sum().item() / (real & ~spoilt).sum().item()
    return before, (wrong & spoilt).sum().item() / max((real & spoilt).sum().item(), 1)


def counts_in_a_byte(written, target, pad):
    real, wrong = target != pad, (written != target) & (target != pad)
    spoilt = (wrong.cumsum(1, dtype=torch.int8) - wrong.to(torch.int8)) > 0
    return tuple((wrong & part).sum().item() / max((real & part).sum().item(), 1) for part in (~spoilt, spoilt))


def mixed(target_input, logits, keep, chance):
    own = torch.cat([target_input[:, :1], logits.argmax(-1)[:, :-1]], 1)
    return torch.where(chance < keep, target_input, own)


def hardly_is_never(target_input, logits, keep, chance):
    return mixed(target_input, logits, 0 if keep < 0.2 else keep, chance)


def nearly_is_always(target_input, logits, keep, chance):
    return mixed(target_input, logits, 1 if keep > 0.8 else keep, chance)


def half_precision(target_input, logits, keep, chance):
    return mixed(target_input.half(), logits, keep, chance).long()


CHEATS = {
    ("lab09", "encoder_layer"): {kind.__name__: encoder_with(kind) for kind in (
        scales_by_root_two, always_two_a_head, fills_with_ten_thousand, causal_unasked, drops_a_mask_for_all)},
    ("lab09", "decoder_layer"): {
        **{kind.__name__: decoder_with(kind) for kind in (
            scales_by_root_two, always_two_a_head, fills_with_ten_thousand, causal_unasked, drops_a_mask_for_all)},
        "no memory mask without the other": decoder_with(
            several_heads, lambda own, source, x: (own, None if own is None else source)),
        "no mask without a memory mask": decoder_with(
            several_heads, lambda own, source, x: (None if source is None else own, source)),
        "no memory mask for one word": decoder_with(
            several_heads, lambda own, source, x: (own, None if x.shape[1] == 1 else source))},
    ("lab09", "layer_norm"): {"mean of squares": mean_of_squares, "bounded": bounded},
    ("lab09", "decoder_mask"): {"small words": small_words},
    ("lab09", "label_smoothing_loss"): {"half at most": half_at_most},
    ("lab09", "warmup_rate"): {"short training": short_training},
    ("lab10", "sample_with_temperature"): {
        "cold is zero": cold_is_zero, "never colder": never_colder, "power": power, "float zero": float_zero},
    ("lab10", "read_cached"): {kind.__name__: read_with(kind) for kind in (exp_then_mask, last_sixteen)},
    ("lab10", "greedy_decode_cached"): {
        "copies a tensor": copies_a_tensor_state, "two words": two_words_at_least, "twenty words": twenty_words},
    ("lab10", "beam_search"): {
        "fill −30": beams_with(fill=-30.0), "fill −100": beams_with(fill=-100.0), "product": product,
        "times the mask": beams_with(freeze=times_the_mask),
        "no care for large logits": beams_with(log=lambda z: z - z.exp().sum(-1, keepdim=True).log()),
        "two parts": beams_with(take=lambda state, rows: (state[0][rows], state[1][rows])),
        "two axes": beams_with(take=lambda state, rows: tuple(
            part.gather(0, rows[:, None].expand(-1, part.shape[1])) for part in state))},
    ("lab10", "error_after_first_mistake"): {
        "divides by no places": divides_by_no_places, "counts in a byte": counts_in_a_byte},
    ("lab10", "mix_with_own_output"): {
        "hardly is never": hardly_is_never, "nearly is always": nearly_is_always, "half precision": half_precision},
}
LIST = [(lab, name, answer, how) for (lab, name), known in CHEATS.items() for how, answer in known.items()]
RIGHT = [
    ("lab09", "encoder_layer", encoder_with(several_heads)), ("lab09", "decoder_layer", decoder_with(several_heads)),
    ("lab10", "sample_with_temperature", sampled), ("lab10", "greedy_decode_cached", greedy),
    ("lab10", "beam_search", beams_with()), ("lab10", "mix_with_own_output", mixed),
    ("lab10", "read_cached", read_with(lambda scores, mask: scores.masked_fill(mask == 0, -torch.inf).softmax(-1))),
]


@pytest.mark.parametrize("lab, name, answer, how", LIST, ids=[f"{name}-{how}" for _, name, _, how in LIST])
def test_a_cheat_is_caught_in_every_variant(lab, name, answer, how):
    for variant in range(4):
        assert not evaluate(lab, name, answer, variant).passed


@pytest.mark.parametrize("lab, name, answer", RIGHT, ids=[name for _, name, _ in RIGHT])
def test_what_the_cheats_are_made_of_is_right(lab, name, answer):
    for variant in range(2):
        verdict = evaluate(lab, name, answer, variant)
        assert verdict.passed, verdict.message
