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


def far_away(number):
    """A number that stands for never, and no count of layers comes near it."""

    def path_length(mask):
        lengths = by_steps(mask, mask.double())
        return lengths.masked_fill(lengths.isinf(), number)

    return path_length


def with_a_point(kind, length, dim, radius=1):
    """Only the projections of attention are no whole numbers."""
    projections, mixing = count_multiplications(kind, length, dim, radius)
    return (projections / 1, mixing) if kind == "restricted" else (projections, mixing)


def positions_that_fit_on_the_right(length, radius):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for distance in range(-radius, radius + 1):
            if i + distance < length:
                mask[i, i + distance] = True
    return mask


NEVER_IS = {"never_is_99": far_away(99), "never_is_a_billion": far_away(1e9)}
WRONG = {
    "self_attention": {weigh.__name__: one_head(weigh) for weigh in ODD},
    "permute_rows": {"squeezes": lambda x, order: x[:, order].squeeze(-1) if x.shape[2] == 1 else x[:, order]},
    "causal_mask": {"made_beforehand": lambda length: torch.ones(64, 64, dtype=torch.bool).tril()[:length, :length]},
    "window_mask": [positions_in_one_byte, positions_that_fit_on_the_right],
    "path_length": {
        **NEVER_IS,
        "shares_of_the_walks": lambda mask: by_steps(mask, mask.float() / mask.sum(1, keepdim=True).clamp(min=1)),
        "walks_in_one_byte": lambda mask: by_steps(mask, mask.to(torch.uint8)),
    },
    "count_multiplications": [pairs_by_two_formulas, with_a_point],
}
NAMED = {
    **dict.fromkeys(NEVER_IS.values(), "never is a large number"),
    with_a_point: "wrong type",
    positions_that_fit_on_the_right: "positions below 0",
}
RIGHT = {"self_attention": one_head(proper)}
