"""Right answers of lab 7 in other styles than the reference's."""

from collections import deque

import torch
from torch.nn import functional as F


def self_attention__einsum(x, W_q, W_k, W_v, mask=None):
    query, key, value = (torch.einsum("btd,de->bte", x, W) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bid,bjd->bij", query, key) / W_k.shape[1] ** 0.5
    e = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
        top = scores.amax(-1, keepdim=True).detach().clamp(min=-1e30)
        e = (scores - top).exp()
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.bmm(weights, value), weights


def self_attention__linear(x, W_q, W_k, W_v, mask=None):
    query, key, value = F.linear(x, W_q.T), F.linear(x, W_k.T), F.linear(x, W_v.T)
    scores = torch.matmul(query / query.size(2) ** 0.5, key.transpose(-2, -1))
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    some = mask.any(-1, keepdim=True)
    weights = torch.where(mask | ~some, scores, -torch.inf).softmax(-1) * some
    return weights @ value, weights


def self_attention__loops(x, W_q, W_k, W_v, mask=None):
    weights = x.new_zeros(x.shape[0], x.shape[1], x.shape[1])
    if mask is not None:
        mask = mask.expand(weights.shape)
    scores = [[[(a @ W_q) @ (c @ W_k) / W_q.shape[-1] ** 0.5 for c in s] for a in s] for s in x]
    rows = []
    for b, sentence in enumerate(scores):
        for i, row in enumerate(sentence):
            seen = [j for j in range(len(row)) if mask is None or mask[b, i, j]]
            spread = torch.stack([row[j] for j in seen]).softmax(0) if seen else None
            rows += [spread[seen.index(j)] if j in seen else x.new_zeros(()) for j in range(len(row))]
    weights = torch.stack(rows).reshape(weights.shape)
    return torch.stack([w @ (s @ W_v) for w, s in zip(weights, x, strict=True)]), weights


def self_attention__closed_rows_by_index(x, W_q, W_k, W_v, mask=None):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return weights @ value, weights


def permute_rows__index_select(x, order):
    return x.index_select(1, order)


def permute_rows__matrix(x, order):
    return F.one_hot(order, x.shape[1]).to(x.dtype) @ x


def permute_rows__loops(x, order):
    return torch.stack([torch.stack([sentence[j] for j in order]) for sentence in x])


def causal_mask__loops(length):
    return torch.tensor([[j <= i for j in range(length)] for i in range(length)])


def causal_mask__compare(length):
    return torch.arange(length).unsqueeze(1) >= torch.arange(length)


def causal_mask__not_triu(length):
    return ~torch.ones(length, length).triu(diagonal=1).bool()


def window_mask__loops(length, radius):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, max(0, i - radius) : i + radius + 1] = True
    return mask


def window_mask__bands(length, radius):
    return torch.ones(length, length, dtype=torch.bool).tril(radius).triu(-radius)


def path_length__breadth_first(mask):
    T = len(mask)
    lengths = torch.full((T, T), float("inf"))
    for start in range(T):
        waiting = deque([(start, 0)])
        while waiting:
            place, layers = waiting.popleft()
            for seen in mask[place].nonzero().flatten().tolist():
                if lengths[start, seen] == float("inf"):
                    lengths[start, seen] = layers + 1
                    waiting.append((seen, layers + 1))
    return lengths


def path_length__floyd_warshall(mask):
    lengths = torch.where(mask, 1.0, float("inf"))
    for k in range(len(mask)):
        lengths = torch.minimum(lengths, lengths[:, k, None] + lengths[k])
    return lengths


def path_length__until_nothing_is_new(mask):
    lengths, reached, layers = torch.full(mask.shape, torch.inf), mask, 1
    while (new := reached & lengths.isinf()).any():
        lengths[new] = layers
        reached, layers = (reached.float() @ mask.float()) > 0, layers + 1
    return lengths


def path_length__growing(mask):
    lengths = torch.where(mask, 1.0, torch.inf)
    while True:
        longer = 1 + torch.where(mask[:, :, None], lengths[None], torch.inf).amin(1)
        new = torch.minimum(lengths, longer)
        if torch.equal(new, lengths):
            return new
        lengths = new


def count_multiplications__formulas(kind, length, dim, radius=1):
    r = min(radius, length - 1)
    pairs = {"self-attention": length * length}.get(kind, length * (2 * r + 1) - r * (r + 1))
    return {
        "self-attention": (3 * length * dim * dim, 2 * pairs * dim),
        "restricted": (3 * length * dim * dim, 2 * pairs * dim),
        "recurrent": (length * dim * dim, length * dim * dim),
        "convolution": (0, pairs * dim * dim),
    }[kind]


def count_multiplications__by_walking(kind, length, dim, radius=1):
    projections = mixing = 0
    for i in range(length):
        if kind == "recurrent":
            projections, mixing = projections + dim**2, mixing + dim**2
            continue
        for j in range(length):
            if kind != "self-attention" and abs(i - j) > radius:
                continue
            mixing += dim**2 if kind == "convolution" else 2 * dim
        projections += 0 if kind == "convolution" else 3 * dim**2
    return projections, mixing


def count_multiplications__tensors(kind, length, dim, radius=1):
    if kind == "recurrent":
        return [length * dim**2] * 2
    i = torch.arange(length)
    pairs = ((i[:, None] - i).abs() <= (length if kind == "self-attention" else radius)).sum()
    if kind == "convolution":
        return torch.tensor(0), pairs * dim**2
    return torch.tensor(3 * length * dim**2), pairs * 2 * dim
