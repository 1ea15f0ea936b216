"""Right answers of lab 11 in other styles than the reference's."""

import math
from collections import defaultdict
from itertools import pairwise

import torch
from torch.nn import functional as F


def merge_most_frequent_pair__index_by_index(words):
    counts = {}
    for symbols in words:
        for i in range(len(symbols) - 1):
            pair = (symbols[i], symbols[i + 1])
            counts[pair] = counts.get(pair, 0) + words[symbols]
    most = max(counts.values())
    left, right = sorted(pair for pair in counts if counts[pair] == most)[0]
    new = {}
    for symbols, count in words.items():
        out = []
        i = 0
        while i < len(symbols):
            if i + 1 < len(symbols) and symbols[i] == left and symbols[i + 1] == right:
                out.append(left + right)
                i += 2
            else:
                out.append(symbols[i])
                i += 1
        new[tuple(out)] = count
    return (left, right), new


def merge_most_frequent_pair__built_up(words):
    counts = defaultdict(int)
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            counts[pair] += count
    pair = max(sorted(counts), key=lambda one: counts[one])

    def join(symbols):
        out, fresh = [], True
        for symbol in symbols:
            if out and fresh and (out[-1], symbol) == pair:
                out[-1], fresh = out[-1] + symbol, False
            else:
                out.append(symbol)
                fresh = True
        return tuple(out)

    return pair, {join(symbols): count for symbols, count in words.items()}


def language_model_targets__padded(tokens, pad):
    return F.pad(tokens[:, 1:], (0, 1), value=pad)


def language_model_targets__written_into(tokens, pad):
    targets = torch.full_like(tokens, pad)
    targets[:, :-1] = tokens[:, 1:]
    return targets


def language_model_targets__rolled_and_closed(tokens, pad):
    targets = tokens.roll(-1, 1)
    targets[:, -1] = pad
    return targets


def grouped_query_attention__five_axes(query, key, value, mask=None):
    B, _, Tq, D = query.shape
    grouped = query.view(B, key.shape[1], -1, Tq, D)  # (B, G, H/G, Tq, D)
    scores = torch.einsum("bgsqd,bgkd->bgsqk", grouped, key) / math.sqrt(D)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None], -torch.inf)
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = torch.where(mask[:, None, None], weights, 0.0)
    context = torch.einsum("bgsqk,bgkd->bgsqd", weights, value)
    return context.flatten(1, 2), weights.flatten(1, 2)


def grouped_query_attention__loops(query, key, value, mask=None):
    contexts, all_weights = [], []
    for h in range(query.shape[1]):
        g = h * key.shape[1] // query.shape[1]
        scores = torch.bmm(query[:, h], key[:, g].transpose(1, 2)) * query.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -torch.inf)
        weights = scores.softmax(2)
        weights = weights if mask is None else weights.masked_fill(~mask, 0)
        all_weights.append(weights)
        contexts.append(torch.bmm(weights, value[:, g]))
    return torch.stack(contexts, 1), torch.stack(all_weights, 1)


def grouped_query_attention__indexed(query, key, value, mask=None):
    group = torch.arange(query.size(1), device=query.device) // (query.size(1) // key.size(1))  # (H,)
    scores = torch.matmul(query, key[:, group].transpose(-2, -1)) / query.size(-1) ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask.unsqueeze(1), -torch.inf).softmax(-1).masked_fill(~mask.unsqueeze(1), 0.0)
    return weights @ value[:, group], weights


def perplexity__cross_entropy(logits, target, pad):
    return math.exp(F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad).item())


def perplexity__gathered(logits, target, pad):
    log_p = logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.exp(-log_p[target != pad].mean())


def perplexity__loops(logits, target, pad):
    total, count = 0.0, 0
    for b in range(target.shape[0]):
        for t in range(target.shape[1]):
            if target[b, t] != pad:
                total -= torch.log_softmax(logits[b, t], 0)[target[b, t]].item()
                count += 1
    return 2 ** (total / count / math.log(2))


def mask_for_bert__written_into(tokens, chosen, mask_id, vocabulary, draw):
    inputs, targets = tokens.clone(), torch.zeros_like(tokens)
    targets[chosen] = tokens[chosen]
    inputs[chosen & (draw[0] < 0.8)] = mask_id
    some = chosen & (draw[0] >= 0.8) & (draw[0] < 0.9)
    inputs[some] = 3 + torch.floor(draw[1][some] * (vocabulary - 3)).to(tokens.dtype)
    return inputs, targets


def mask_for_bert__loops(tokens, chosen, mask_id, vocabulary, draw):
    inputs, targets = tokens.tolist(), tokens.tolist()
    for b, row in enumerate(chosen.tolist()):
        for t, asked in enumerate(row):
            if not asked:
                targets[b][t] = 0
            elif draw[0, b, t] < 0.8:
                inputs[b][t] = mask_id
            elif draw[0, b, t] < 0.9:
                inputs[b][t] = 3 + int(draw[1, b, t] * (vocabulary - 3))
    return torch.tensor(inputs), torch.tensor(targets)


def top_p_filter__shifted(logits, p):
    ordered, words = torch.sort(logits, descending=True)
    drop = ordered.softmax(-1).cumsum(-1) >= p
    drop = torch.cat([torch.zeros_like(drop[:, :1]), drop[:, :-1]], 1)
    return logits.masked_fill(torch.zeros_like(drop).scatter(1, words, drop), -torch.inf)


def top_p_filter__way_back_by_argsort(logits, p):
    shares, words = logits.softmax(-1).sort(dim=-1, descending=True)
    keep = (shares.cumsum(-1) - shares) < p
    return torch.where(keep.gather(-1, words.argsort(-1)), logits, -torch.inf)


def top_p_filter__the_tail_from_behind(logits, p):
    shares, words = logits.softmax(-1).sort(-1)
    drop = torch.zeros_like(shares).bool().scatter(-1, words, shares.cumsum(-1) <= 1 - p)
    return logits.masked_fill(drop, -torch.inf)


def top_p_filter__loops(logits, p):
    result = torch.full_like(logits, -torch.inf)
    for b, row in enumerate(logits.softmax(-1).tolist()):
        total = 0.0
        for v in sorted(range(len(row)), key=lambda v: -row[v]):
            result[b, v] = logits[b, v]
            total += row[v]
            if total >= p:
                break
    return result


def top_p_filter__threshold(logits, p):
    shares = logits.softmax(-1)
    ordered = shares.sort(-1, descending=True).values
    count = (ordered.cumsum(-1) - ordered < p).sum(-1, keepdim=True)  # (B, 1)
    return logits.masked_fill(shares < ordered.gather(-1, count - 1), -torch.inf)
