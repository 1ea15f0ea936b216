"""Right answers of lab 10 in other styles than the reference's."""

import math

import torch


def sample_with_temperature__loops(logits, temperature, chance):
    chosen = []
    for row, throw in zip(logits.tolist(), chance.tolist(), strict=True):
        if temperature == 0:
            chosen.append(row.index(max(row)))
            continue
        top = max(row)
        sizes = [math.exp((x - top) / temperature) for x in row]
        word, end = 0, sizes[0] / sum(sizes)
        while throw >= end and word + 1 < len(sizes):
            word += 1
            end += sizes[word] / sum(sizes)
        chosen.append(word)
    return torch.tensor(chosen)


def sample_with_temperature__last_of_equals(logits, temperature, chance):
    """Which of several equal words temperature 0 takes is left open."""
    words = logits.shape[1]
    if temperature == 0:
        return words - 1 - logits.flip(1).argmax(1)
    ends = (logits / temperature).softmax(1).cumsum(1)
    return (ends <= chance[:, None]).sum(1).clamp(max=words - 1)


def read_cached__torch_attention(words, state, weights):
    t, n = state[0].size(1), words.size(1)
    places = torch.arange(t, t + n, device=words.device)
    x = torch.nn.functional.embedding(words, weights.embedding) + weights.positions[places]
    new_keys, new_values = x @ weights.W_k, x @ weights.W_v
    keys, values = torch.cat((state[0], new_keys), 1), torch.cat((state[1], new_values), 1)
    mask = torch.arange(t + n, device=words.device)[None, :] <= places[:, None]
    context = torch.nn.functional.scaled_dot_product_attention(x @ weights.W_q, keys, values, attn_mask=mask)
    return torch.matmul(x + context, weights.W_o), (keys, values)


def greedy_decode_cached__stops_early(read, state, prompt, eos, max_length):
    logits, state = read(prompt, state)
    token = logits[:, -1].argmax(-1)
    done, columns = token == eos, [token]
    while len(columns) < max_length and not done.all():
        logits, state = read(token.unsqueeze(1), state)
        token = torch.where(done, torch.full_like(token, eos), logits.squeeze(1).argmax(-1))
        done = done | token.eq(eos)
        columns.append(token)
    return torch.stack(columns, 1)


def greedy_decode_cached__reads_its_last_word_too(read, state, prompt, eos, max_length):
    logits, state = read(prompt, state)
    new = prompt[:, :0]
    for _ in range(max_length):
        over = (new == eos).any(1)
        token = torch.where(over, eos, logits[:, -1].argmax(-1))[:, None]
        logits, state = read(token, state)
        new = torch.cat([new, token], 1)
    return new


def greedy_decode_cached__prompt_word_by_word(read, state, prompt, eos, max_length):
    for t in range(prompt.shape[1]):
        logits, state = read(prompt[:, t : t + 1], state)
    answers = torch.full((len(prompt), max_length), eos, device=prompt.device)
    over = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    for t in range(max_length):
        answers[~over, t] = logits[~over, -1].max(-1).indices
        over |= answers[:, t] == eos
        if t + 1 < max_length:
            logits, state = read(answers[:, t : t + 1], state)
    return answers


def _one_sentence(step, state, bos, eos, width, max_length):
    """Beams as Python lists: (words, score, state), one step call a beam."""
    beams = [([], 0.0, state)]
    for _ in range(max_length):
        grown = []
        for words, score, kept in beams:
            if words and words[-1] == eos:
                grown.append((words, score, kept))
                continue
            logits, after = step(torch.tensor([words[-1] if words else bos]), kept)
            for word, log_p in enumerate(logits[0].log_softmax(0)):
                grown.append(([*words, word], score + log_p.item(), after))
        beams = sorted(grown, key=lambda beam: beam[1], reverse=True)[:width]
    return beams


def beam_search__lists(step, state, bos, eos, width, max_length):
    tokens, scores = [], []
    for b in range(len(state[0])):
        beams = _one_sentence(step, tuple(part[b : b + 1] for part in state), bos, eos, width, max_length)
        tokens.append([(words + max_length * [eos])[:max_length] for words, _, _ in beams])
        scores.append([score for _, score, _ in beams])
    return torch.tensor(tokens), torch.tensor(scores, dtype=state[0].dtype)


def length_normalised__cumsum(scores, tokens, eos, alpha):
    before = (tokens == eos).long().cumsum(-1) - (tokens == eos).long()
    n = (before == 0).sum(dim=2)
    return scores * torch.pow((5.0 + n.to(scores.dtype)) / 6.0, -alpha)


def error_after_first_mistake__cumprod(written, target, pad):
    real = target.ne(pad)
    right = (written == target) | ~real
    clean = torch.cat([torch.ones_like(right[:, :1]), right[:, :-1]], 1).long().cumprod(1).bool()
    rates = [(~right & part).sum() / (real & part).sum().clamp(min=1) for part in (clean, ~clean)]
    return rates[0], rates[1]


def mix_with_own_output__rolled(target_input, logits, keep, chance):
    stay = chance < keep
    stay[:, 0] = True
    return target_input.masked_fill(~stay, 0) + logits.max(-1).indices.roll(1, 1).masked_fill(stay, 0)


def sample_with_temperature__searchsorted(logits, temperature, chance):
    if temperature == 0:
        return logits.argmax(dim=1)
    ends = (logits / temperature).softmax(dim=1).cumsum(dim=1)
    return torch.searchsorted(ends, chance[:, None], right=True)[:, 0].clamp(max=logits.shape[1] - 1)


def read_cached__one_by_one(words, state, weights):
    logits = []
    for word in words.unbind(dim=1):
        new, state = read_cached__torch_attention(word[:, None], state, weights)
        logits.append(new)
    return torch.cat(logits, dim=1), state


def greedy_decode_cached__ends_filled_afterwards(read, state, prompt, eos, max_length):
    written, words = [], prompt
    for _ in range(max_length):
        logits, state = read(words, state)
        words = logits[:, -1:].argmax(dim=-1)
        written.append(words)
    new = torch.cat(written, dim=1)
    return new.masked_fill((new == eos).long().cumsum(dim=1) > 0, eos)


def beam_search__first_step_apart(step, state, bos, eos, width, max_length):
    """The first step has one beginning per sentence, so that no score of −∞ is needed."""
    batch = len(state[0])
    logits, state = step(torch.full((batch,), bos), state)
    scores, words = logits.log_softmax(-1).topk(width)
    state, tokens = tuple(part.repeat_interleave(width, 0) for part in state), words[..., None]
    while tokens.shape[2] < max_length and (tokens[..., -1] != eos).any():
        ended = tokens[..., -1] == eos
        logits, state = step(tokens[..., -1].flatten(), state)
        log_p = logits.log_softmax(-1).view(batch, width, -1).masked_fill(ended[..., None], -torch.inf)
        log_p[..., eos] = log_p[..., eos].masked_fill(ended, 0.0)
        scores, best = (scores[..., None] + log_p).flatten(1).sort(1, descending=True)
        scores, best = scores[:, :width], best[:, :width]
        rows = (best // log_p.shape[-1] + width * torch.arange(batch)[:, None]).flatten()
        tokens = torch.cat([tokens.flatten(0, 1)[rows].view(batch, width, -1), best[..., None] % log_p.shape[-1]], -1)
        state = tuple(part[rows] for part in state)
    return tokens, scores


def error_after_first_mistake__loops(written, target, pad):
    counts = [[0, 0], [0, 0]]
    for mine, right in zip(written.tolist(), target.tolist(), strict=True):
        spoilt = 0
        for said, wanted in zip(mine, right, strict=True):
            if wanted != pad:
                counts[spoilt][0] += said != wanted
                counts[spoilt][1] += 1
                spoilt = int(spoilt or said != wanted)
    return [wrong / real if real else 0.0 for wrong, real in counts]


def mix_with_own_output__loops(target_input, logits, keep, chance):
    mixed = target_input.clone()
    for b in range(target_input.shape[0]):
        for t in range(1, target_input.shape[1]):
            if chance[b, t] >= keep:
                mixed[b, t] = logits[b, t - 1].argmax()
    return mixed
