"""Right answers of lab 8 in other styles than the reference's."""

import math

import torch


def split_heads__turned_first(x, heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, heads, D // heads, T).transpose(2, 3)


def merge_heads__cat(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)


def multi_head_attention__einsum(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    D = query.shape[-1]
    tables = (W.reshape(D, heads, D // heads) for W in (W_q, W_k, W_v))
    q, k, v = (torch.einsum("btd,dhe->bhte", x, W) for x, W in zip((query, key, value), tables, strict=True))
    scores = torch.einsum("bhqe,bhke->bhqk", q, k) * (D // heads) ** -0.5
    if mask is not None:
        scores = torch.where(mask.unsqueeze(1), scores, -torch.inf)
    e = (scores - scores.amax(-1, keepdim=True).detach().clamp(min=-1e30)).exp()
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    out_table = W_o.reshape(heads, D // heads, D)
    return torch.einsum("bhqk,bhke,hed->bqd", weights, v, out_table), weights


def multi_head_attention__heads_in_the_batch(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    """One axis for sentences and heads, as `bmm` wants it: the mask has to be there for each sentence."""
    split = ((x @ W).unflatten(-1, (heads, -1)).transpose(1, 2) for x, W in ((query, W_q), (key, W_k), (value, W_v)))
    q, k, v = (part.flatten(0, 1) for part in split)  # (B·H, T, D/H)
    scores = torch.bmm(q, k.mT) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask.repeat_interleave(heads, 0), -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    context = torch.bmm(weights, v).unflatten(0, (-1, heads)).transpose(1, 2).flatten(2)
    return context @ W_o, weights.unflatten(0, (-1, heads))


def multi_head_attention__sentence_by_sentence(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    results = []
    for b in range(len(query)):
        parts = ((query, W_q), (key, W_k), (value, W_v))
        q, k, v = ((x[b] @ W).unflatten(-1, (heads, -1)).transpose(0, 1) for x, W in parts)  # (H, T, D/H)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask[b], -1e9)
        weights = scores.softmax(-1) if mask is None else scores.softmax(-1) * mask[b]
        results.append(((weights @ v).transpose(0, 1).flatten(1) @ W_o, weights))
    return tuple(torch.stack(each) for each in zip(*results, strict=True))


def sinusoidal_positions__exp(length, dim):
    """As most programs on the web write it, in single precision."""
    table = torch.zeros(length, dim)
    places = torch.arange(0, length).unsqueeze(1)
    speed = torch.exp(torch.arange(0, dim, 2) * -(math.log(10000.0) / dim))
    table[:, 0::2] = torch.sin(places * speed)
    table[:, 1::2] = torch.cos(places * speed)
    return table


def add_positions__type_as(x, positions):
    return (x + positions[None, : x.shape[1]].to(x.device)).to(x.dtype)


def relative_shift__power(dim, offset):
    """The generator of the rotation, and its exponential."""
    speed = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(offset * torch.block_diag(*(s * turn for s in speed)))
