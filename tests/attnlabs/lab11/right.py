"""Right answers of lab 11 in other styles than the reference's."""

import math
from collections import Counter, defaultdict
from itertools import pairwise

import torch
from torch.nn import functional as F


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


def merge_most_frequent_pair__in_place_of_two_in_a_list(words):
    counts = Counter()
    for symbols, count in words.items():
        counts.update({pair: times * count for pair, times in Counter(pairwise(symbols)).items()})
    pair = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[0][0]

    def join(symbols):
        symbols, i = [*symbols], 0
        while i < len(symbols) - 1:
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
            i += 1
        return tuple(symbols)

    return pair, {join(symbols): count for symbols, count in words.items()}


def language_model_targets__written_into(tokens, pad):
    targets = torch.full_like(tokens, pad)
    targets[:, :-1] = tokens[:, 1:]
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


def grouped_query_attention__head_by_head(query, key, value, mask=None):
    sharing, contexts, all_weights = query.shape[1] // key.shape[1], [], []
    for h in range(query.shape[1]):
        scores = query[:, h] @ key[:, h // sharing].mT / query.shape[-1] ** 0.5
        weights = (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1)
        all_weights.append(weights if mask is None else weights * mask)
        contexts.append(all_weights[-1] @ value[:, h // sharing])
    return torch.stack(contexts, 1), torch.stack(all_weights, 1)


def perplexity__cross_entropy(logits, target, pad):
    return math.exp(F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad).item())


def perplexity__gathered(logits, target, pad):
    log_p = logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.exp(-log_p[target != pad].mean())


def mask_for_bert__written_into(tokens, chosen, mask_id, vocabulary, draw):
    inputs, targets = tokens.clone(), torch.zeros_like(tokens)
    targets[chosen] = tokens[chosen]
    inputs[chosen & (draw[0] < 0.8)] = mask_id
    some = chosen & (draw[0] >= 0.8) & (draw[0] < 0.9)
    inputs[some] = 3 + torch.floor(draw[1][some] * (vocabulary - 3)).to(tokens.dtype)
    return inputs, targets


def mask_for_bert__one_by_one(tokens, chosen, mask_id, vocabulary, draw):
    inputs, targets = tokens.clone(), torch.zeros_like(tokens)
    for b, t in chosen.nonzero().tolist():
        targets[b, t] = tokens[b, t]
        if draw[0, b, t] < 0.8:
            inputs[b, t] = mask_id
        elif draw[0, b, t] < 0.9:
            inputs[b, t] = 3 + int(draw[1, b, t] * (vocabulary - 3))
    return inputs, targets


def top_p_filter__row_by_row(logits, p):
    kept = torch.full_like(logits, -torch.inf)
    for row, shares in enumerate(logits.softmax(-1)):
        total = 0.0
        for word in shares.argsort(descending=True).tolist():
            kept[row, word] = logits[row, word]
            total += float(shares[word])
            if total >= p:
                break
    return kept


def top_p_filter__the_tail_from_behind(logits, p):
    shares, words = logits.softmax(-1).sort(-1)
    drop = torch.zeros_like(shares).bool().scatter(-1, words, shares.cumsum(-1) <= 1 - p)
    return logits.masked_fill(drop, -torch.inf)


def top_p_filter__threshold(logits, p):
    shares = logits.softmax(-1)
    ordered = shares.sort(-1, descending=True).values
    count = (ordered.cumsum(-1) - ordered < p).sum(-1, keepdim=True)  # (B, 1)
    return logits.masked_fill(shares < ordered.gather(-1, count - 1), -torch.inf)
