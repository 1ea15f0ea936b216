"""Right answers of lab 20 in other styles than the reference's."""

import math

import torch
from torch.nn import functional as F


def grouped_cache_bytes__loop(config, tokens):
    """Layer after layer; a float."""
    total = 0
    for layer in range(config["layers"]):
        kept = min(tokens, config["window"]) if layer < config["local_layers"] else tokens
        total += kept * config["key_value_heads"] * (config["head_features"] + config["head_features"])
    return total * (config["bits"] / 8)


def grouped_cache_bytes__slices(config, tokens):
    positions = [list(range(tokens))] * (config["layers"] - config["local_layers"])
    if config["local_layers"] > 0:
        positions = positions + [list(range(tokens))[-config["window"] :]] * config["local_layers"]
    per_position = 2 * config["key_value_heads"] * config["head_features"] * config["bits"]
    return sum(len(kept) for kept in positions) * per_position / 8


def latent_attention__unfolded(query, turned_query, latent, turned_key, W_key, W_value):
    """All keys and values are made first, and the parts of a key put side by side."""
    keys = torch.einsum("btc,hdc->bhtd", latent, W_key)
    values = torch.einsum("btc,hdc->bhtd", latent, W_value)
    shared = turned_key.unsqueeze(1).expand(-1, query.shape[1], -1, -1)
    whole = torch.cat([query, turned_query], dim=-1).unsqueeze(-2)
    scores = (whole @ torch.cat([keys, shared], dim=-1).transpose(-2, -1)).squeeze(-2)
    weights = torch.softmax(scores / whole.size(-1) ** 0.5, dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2), weights


def latent_attention__loops(query, turned_query, latent, turned_key, W_key, W_value):
    contexts, weights = [], []
    for text in range(len(query)):
        for head in range(query.shape[1]):
            asked = W_key[head].T @ query[text, head]
            scores = latent[text] @ asked + turned_key[text] @ turned_query[text, head]
            scores = scores / (query.shape[2] + turned_query.shape[2]) ** 0.5
            weights.append(F.softmax(scores, dim=0))
            contexts.append(W_value[head] @ (weights[-1] @ latent[text]))
    context, weight = torch.stack(contexts), torch.stack(weights)
    return context.reshape(query.shape), weight.reshape(*query.shape[:2], -1)


def linear_attention__word_by_word(query, key, value):
    """The recurrent form, with one memory for each text."""
    features_q, features_k = 1 + F.elu(query), 1 + F.elu(key)
    memory = value.new_zeros(len(query), query.shape[-1], value.shape[-1])
    total = torch.zeros_like(query[:, 0])
    contexts = []
    for t in range(query.shape[1]):
        memory = memory + torch.einsum("bd,bv->bdv", features_k[:, t], value[:, t])
        total = total + features_k[:, t]
        read = torch.einsum("bd,bdv->bv", features_q[:, t], memory)
        contexts.append(read / (features_q[:, t] * total).sum(-1, keepdim=True))
    return torch.stack(contexts, dim=1)


def linear_attention__running_sums(query, key, value):
    """All memories at once; the scores are divided by √D, which changes nothing."""
    query, key = torch.where(query > 0, query + 1, query.exp()), torch.where(key > 0, key + 1, key.exp())
    query = query / query.shape[-1] ** 0.5
    memories = (key[..., :, None] * value[..., None, :]).cumsum(dim=1)
    read = torch.einsum("btd,btdv->btv", query, memories)
    return read / torch.einsum("btd,btd->bt", query, key.cumsum(dim=1)).unsqueeze(-1)


def linear_attention__masked_weights(query, key, value):
    scores = torch.bmm(F.elu(query) + 1, (F.elu(key) + 1).transpose(1, 2))
    later = torch.ones(scores.shape[1:], dtype=torch.bool, device=scores.device).triu(diagonal=1)
    scores[later.expand_as(scores)] = 0
    return torch.bmm(scores / scores.sum(2).unsqueeze(2), value)


def linear_attention__logarithms(query, key, value):
    """A softmax of the logarithms divides the scores by their sum."""
    query, key = F.celu(query.double()) + 1, F.celu(key.double()) + 1
    later = torch.ones(query.shape[1], query.shape[1], dtype=torch.bool, device=query.device).triu(1)
    logs = torch.einsum("btd,bsd->bts", query, key).log().masked_fill(later, -torch.inf)
    return (logs.softmax(-1) @ value.double()).to(value.dtype)


def linear_attention_step__einsum(query, key, value, memory, total):
    query, key = F.elu(query) + 1.0, F.elu(key) + 1.0
    new_memory = torch.einsum("bd,bv->bdv", key, value).add_(memory)
    new_total = total.clone()
    new_total += key
    read = torch.einsum("bdv,bd->bv", new_memory, query)
    return read / torch.einsum("bd,bd->b", query, new_total)[:, None], new_memory, new_total


def linear_attention_step__present_token_apart(query, key, value, memory, total):
    """What the old state answers, and the present token beside it."""
    query, key = F.elu(query) + 1, F.elu(key) + 1
    own = (query * key).sum(1, keepdim=True)
    read = torch.bmm(memory.transpose(1, 2), query.unsqueeze(2)).squeeze(2) + own * value
    context = read / (own + (query * total).sum(1, keepdim=True))
    return context, memory + torch.bmm(key.unsqueeze(2), value.unsqueeze(1)), total + key


def linear_attention_step__copies_written_into(query, key, value, memory, total):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    memory, total = memory.clone(), total.clone()
    memory += key[:, :, None] * value[:, None, :]
    total += key
    return (query[:, None, :] @ memory)[:, 0] / (query * total).sum(-1, keepdim=True), memory, total


def linear_attention_step__rows_written_into(query, key, value, memory, total):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    new_memory, new_total, context = torch.zeros_like(memory), total + key, torch.zeros_like(value)
    for text in range(len(key)):
        new_memory[text] = memory[text] + torch.outer(key[text], value[text])
        context[text] = new_memory[text].T @ query[text] / (query[text] @ new_total[text])
    return context, new_memory, new_total


def delta_rule_step__copy_written_into(query, key, value, rate, memory):
    memory = memory.clone()
    held = (key[:, None, :] @ memory)[:, 0]
    memory += key[:, :, None] * (rate[:, None] * (value - held))[:, None, :]
    return (query[:, None, :] @ memory)[:, 0], memory


def delta_rule_step__texts_written_into(query, key, value, rate, memory):
    new = memory.clone()
    for text in range(len(key)):
        held = new[text].T @ key[text]
        new[text] += torch.outer(key[text], rate[text] * (value[text] - held))
    return torch.stack([new[text].T @ query[text] for text in range(len(key))]), new


def delta_rule_step__rows_written_into(query, key, value, rate, memory):
    new, context = torch.zeros_like(memory), torch.zeros_like(value)
    for text in range(len(key)):
        held = memory[text].T @ key[text]
        new[text] = memory[text] + torch.outer(key[text], rate[text] * (value[text] - held))
        context[text] = new[text].T @ query[text]
    return context, new


def delta_rule_step__factors(query, key, value, rate, memory):
    """(I − β k kᵀ) S + β k vᵀ, as it is often written."""
    identity = torch.eye(key.shape[-1], dtype=key.dtype, device=key.device)
    scaled = rate.view(-1, 1, 1) * key.unsqueeze(-1)
    new = (identity - scaled * key.unsqueeze(1)) @ memory + scaled * value.unsqueeze(1)
    return torch.einsum("bd,bdv->bv", query, new), new


def delta_rule_step__one_text_after_the_other(query, key, value, rate, memory):
    memories, contexts = [], []
    for q, k, v, beta, old in zip(query, key, value, rate, memory, strict=True):
        new = old.clone()
        new += torch.outer(k, beta * (v - old.T @ k))
        memories.append(new)
        contexts.append(q @ new)
    return torch.stack(contexts), torch.stack(memories)


def delta_rule_step__gradient(query, key, value, rate, memory):
    """One step of gradient descent on ½ ‖Sᵀk − v‖², with the gradient by hand."""
    gradient = torch.einsum("bd,bv->bdv", key, torch.einsum("bdv,bd->bv", memory, key) - value)
    new = memory - rate[:, None, None] * gradient
    return (query.unsqueeze(-1) * new).sum(dim=1), new


def yarn_frequencies__loop(dim, factor, trained, base, slow, fast):
    """Python's own numbers."""
    found = []
    for pair in range(dim // 2):
        wavelength = 2 * math.pi * base ** (2 * pair / dim)
        turns = trained / wavelength
        share = min(max((turns - slow) / (fast - slow), 0), 1)
        found.append(2 * math.pi / wavelength * (share + (1 - share) / factor))
    return torch.tensor(found, dtype=torch.float64)


def yarn_frequencies__where(dim, factor, trained, base, slow, fast):
    old = torch.exp(-math.log(base) * torch.arange(dim // 2, dtype=torch.double) * 2 / dim)
    turns = old * trained / 2 / torch.pi
    between = torch.lerp(old / factor, old, (turns - slow) / (fast - slow))
    return torch.where(turns < slow, old / factor, torch.where(turns > fast, old, between))


def speculative_accept__loop(guessed, draft, model, chances):
    """Guess after guess; tensors without axes as results."""
    for place, word in enumerate(guessed):
        p, q = model[place], draft[place]
        if chances[place] * q[word] < p[word]:
            continue
        left = torch.where(p > q, p - q, torch.zeros_like(p))
        return torch.tensor(place), torch.searchsorted(left.cumsum(0), chances[-1] * left.sum(), right=True)
    return len(guessed), torch.searchsorted(model[-1].cumsum(0), chances[-1], right=True)


def speculative_accept__plain_numbers(guessed, draft, model, chances):
    kept = 0
    while kept < len(guessed):
        word = guessed[kept].item()
        if chances[kept].item() >= min(1, model[kept, word].item() / draft[kept, word].item()):
            break
        kept += 1
    left = model[kept].tolist()
    if kept < len(guessed):
        left = [max(0.0, p - q) for p, q in zip(left, draft[kept].tolist(), strict=True)]
    end = 0.0
    for token, piece in enumerate(left):
        end += piece / sum(left)
        if chances[-1].item() < end:
            return kept, token


def speculative_accept__counted_in_floats(guessed, draft, model, chances):
    """Both results are floats, as a sum of floats is."""
    at = torch.arange(len(guessed), device=guessed.device)
    kept = (chances[:-1] * draft[at, guessed] < model[at, guessed]).double().cumprod(0).sum()
    i = int(kept)
    left = model[i] if i == len(guessed) else F.relu(model[i] - draft[i])
    return kept, (left.cumsum(0) <= chances[-1] * left.sum()).double().sum().item()
