"""Answers that passed once: right on small, tame inputs, and nowhere else."""

import torch
from odd_softmaxes import ODD, proper


def many_heads(weigh):
    def multi_head_attention(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
        q, k, v = (one.unflatten(-1, (heads, -1)).transpose(1, 2) for one in (query @ W_q, key @ W_k, value @ W_v))
        weights = weigh(q @ k.mT / q.shape[-1] ** 0.5, None if mask is None else mask[:, None])
        return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights

    return multi_head_attention


def causal_over_oneself(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    if mask is None and query.shape == key.shape and torch.equal(query, key):
        mask = torch.ones(len(query), query.shape[1], query.shape[1], dtype=torch.bool).tril()
    return many_heads(proper)(query, key, value, W_q, W_k, W_v, W_o, heads, mask)


def few_positions_in_one_byte(length, dim):
    angle = torch.arange(length).to(torch.int8)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def solved_for(dim, offset):
    t = torch.arange(1000, dtype=torch.float64)[:, None]
    speed = 10000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    before, after = (torch.stack([(s * speed).sin(), (s * speed).cos()], -1).flatten(1) for s in (t, t + offset))
    return torch.linalg.pinv(before) @ after


def rotates(dim, offset):
    turn = offset * 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    return torch.block_diag(*(torch.tensor([[b.cos(), -b.sin()], [b.sin(), b.cos()]]) for b in turn))


_ODD = {weigh.__name__: many_heads(weigh) for weigh in ODD} | {
    "no mask for one query": many_heads(lambda s, mask: proper(s, None if s.shape[-2] == 1 else mask)),
    "no mask for one head": many_heads(lambda s, mask: proper(s, None if s.shape[1] == 1 else mask)),
    "causal over oneself": causal_over_oneself,
}
WRONG = {
    "multi_head_attention": _ODD,
    "sinusoidal_positions": {"few positions in one byte": few_positions_in_one_byte},
    "relative_shift": {
        "solved for": solved_for,
        "fifty at most": lambda dim, offset: rotates(dim, max(-50, min(50, offset))),
    },
}
RIGHT = {"multi_head_attention": many_heads(proper), "relative_shift": rotates}
