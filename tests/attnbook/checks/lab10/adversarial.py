"""Answers that passed once: right on the small and tame, wrong on what else may come."""

import torch

from attnbook.decoding import select


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


WRONG = {
    "sample_with_temperature": [cold_is_zero, never_colder, power, float_zero],
    "read_cached": {kind.__name__: read_with(kind) for kind in (exp_then_mask, last_sixteen)},
    "greedy_decode_cached": [copies_a_tensor_state, two_words_at_least, twenty_words],
    "beam_search": {
        "fill −30": beams_with(fill=-30.0),
        "fill −100": beams_with(fill=-100.0),
        "product": product,
        "times the mask": beams_with(freeze=times_the_mask),
        "no care for large logits": beams_with(log=lambda z: z - z.exp().sum(-1, keepdim=True).log()),
        "two parts": beams_with(take=lambda state, rows: (state[0][rows], state[1][rows])),
        "two axes": beams_with(
            take=lambda state, rows: tuple(part.gather(0, rows[:, None].expand(-1, part.shape[1])) for part in state)
        ),
    },
    "error_after_first_mistake": [divides_by_no_places, counts_in_a_byte],
    "mix_with_own_output": [hardly_is_never, nearly_is_always, half_precision],
}
RIGHT = {
    "sample_with_temperature": sampled,
    "greedy_decode_cached": greedy,
    "beam_search": beams_with(),
    "mix_with_own_output": mixed,
    "read_cached": read_with(lambda scores, mask: scores.masked_fill(mask == 0, -torch.inf).softmax(-1)),
}
