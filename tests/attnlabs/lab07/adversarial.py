"""Answers that passed once: right on small, tame inputs, and nowhere else."""

import torch
from odd_softmaxes import ODD, proper

from attnlabs.lab07.work import count_multiplications


def pairs_by_two_formulas(kind, length, dim, radius=1):
    if kind == "recurrent" or kind == "self-attention":
        return count_multiplications(kind, length, dim)
    pairs = length * (2 * radius + 1) - radius * (radius + 1) if 2 * radius + 1 <= length else length**2
    return (0, pairs * dim**2) if kind == "convolution" else (3 * length * dim**2, 2 * pairs * dim)


def one_head(weigh):
    def self_attention(x, W_q, W_k, W_v, mask=None):
        weights = weigh((x @ W_q) @ (x @ W_k).mT / W_q.shape[-1] ** 0.5, mask)
        return weights @ (x @ W_v), weights

    return self_attention


def by_steps(mask, step):
    lengths, reached = torch.full(mask.shape, torch.inf), mask.to(step.dtype)
    for layers in range(1, len(mask) + 1):
        lengths = lengths.masked_fill((reached > 0) & lengths.isinf(), layers)
        reached = reached @ step
    return lengths


def positions_in_one_byte(length, radius):
    positions = torch.arange(length).to(torch.int8)
    return (positions[:, None] - positions).abs() <= radius


WRONG = {
    "self_attention": {weigh.__name__: one_head(weigh) for weigh in ODD},
    "permute_rows": {"squeezes": lambda x, order: x[:, order].squeeze(-1) if x.shape[2] == 1 else x[:, order]},
    "causal_mask": {"made_beforehand": lambda length: torch.ones(64, 64, dtype=torch.bool).tril()[:length, :length]},
    "window_mask": {"positions_in_one_byte": positions_in_one_byte},
    "path_length": {
        "shares_of_the_walks": lambda mask: by_steps(mask, mask.float() / mask.sum(1, keepdim=True).clamp(min=1)),
        "walks_in_one_byte": lambda mask: by_steps(mask, mask.to(torch.uint8)),
    },
    "count_multiplications": [pairs_by_two_formulas],
}
RIGHT = {"self_attention": one_head(proper)}
