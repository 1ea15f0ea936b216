"""Answers that passed once: right on small, tame inputs, and nowhere else."""

import torch
from odd_softmaxes import ODD, proper

from attnbook.checks.lab07.masks import window_mask


def pairs_by_two_formulas(kind, length, dim, radius=1):
    pairs = length * (2 * radius + 1) - radius * (radius + 1) if 2 * radius + 1 <= length else length**2
    if kind == "recurrent":
        return length * dim**2, length * dim**2
    if kind == "convolution":
        return 0, pairs * dim**2
    return 3 * length * dim**2, 2 * (length**2 if kind == "self-attention" else pairs) * dim


def not_zeroed_with_two_axes(s, mask):
    if mask is None or mask.ndim == 2:
        return (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
    return s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


def one_head(weigh):
    def self_attention(x, W_q, W_k, W_v, mask=None):
        weights = weigh((x @ W_q) @ (x @ W_k).mT / W_q.shape[-1] ** 0.5, mask)
        return weights @ (x @ W_v), weights

    return self_attention


def squeezes(x, order):
    return x[:, order].squeeze(-1) if x.shape[2] == 1 else x[:, order]


def writes_into_a_leaf(x, order):
    return torch.zeros_like(x, requires_grad=True) + x[:, order]


def triangle_made_beforehand(length):
    return torch.ones(64, 64, dtype=torch.bool).tril()[:length, :length]


def places_in_one_byte(length, radius):
    places = torch.arange(length).to(torch.int8)
    return (places[:, None] - places).abs() <= radius


def ten_at_most(length, radius):
    return window_mask(length, min(radius, 10))


def by_steps(mask, step):
    lengths, reached = torch.full(mask.shape, torch.inf), mask.to(step.dtype)
    for layers in range(1, len(mask) + 1):
        lengths = lengths.masked_fill((reached > 0) & lengths.isinf(), layers)
        reached = reached @ step
    return lengths


def shares_of_the_walks(mask):
    return by_steps(mask, mask.float() / mask.sum(1, keepdim=True).clamp(min=1))


def walks_in_one_byte(mask):
    return by_steps(mask, mask.to(torch.uint8))


WRONG = {
    "self_attention": {weigh.__name__: one_head(weigh) for weigh in (not_zeroed_with_two_axes, *ODD)},
    "permute_rows": [squeezes, writes_into_a_leaf],
    "causal_mask": [triangle_made_beforehand],
    "window_mask": [places_in_one_byte, ten_at_most],
    "path_length": [shares_of_the_walks, walks_in_one_byte],
    "count_multiplications": [pairs_by_two_formulas],
}
RIGHT = {"self_attention": one_head(proper)}
