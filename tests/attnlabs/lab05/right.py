"""Right answers of lab 5 in other styles than the reference's."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def residual_stack__two_loops(x, context, layers, first_residual):
    def call(layer, h):
        return layer(h if context is None else F.pad(h, (0, context.shape[-1])) + F.pad(context, (h.shape[-1], 0)))

    for layer in layers[: first_residual - 1]:
        x = call(layer, x)
    for layer in layers[first_residual - 1 :]:
        x = torch.add(call(layer, x), x)
    return x


def bidirectional_first_layer__indices(x, lengths, forward_layer, backward_layer):
    batch, longest, _ = x.shape
    rows = torch.arange(batch, device=x.device)[:, None]
    t = torch.arange(longest, device=x.device)
    back = (lengths[:, None] - 1 - t) % longest  # padding goes round the corner, behind the words
    out = torch.dstack([forward_layer(x), backward_layer(x[rows, back])[rows, back]])
    return torch.where((t < lengths[:, None])[..., None], out, 0.0)


def length_penalty__loops(tokens, bos, pad, alpha):
    counts = [sum(word not in (bos, pad) for word in row) for row in tokens.tolist()]
    return torch.tensor([math.pow(5 + n, alpha) / math.pow(6, alpha) for n in counts])


def length_penalty__double(tokens, bos, pad, alpha):
    return ((5 + torch.count_nonzero((tokens != pad) & (tokens != bos), dim=1).double()) / 6).pow(alpha)


def coverage_penalty__einsum(weights, written, mask, beta, least=1e-6):
    received = torch.einsum("bji,bj->bi", weights, written.to(weights.dtype))
    least = torch.full_like(received, least)
    log = torch.maximum(torch.minimum(received, torch.ones_like(received)), least).masked_fill(~mask, 1.0).log()
    return log.sum(dim=1) * beta


def average_gradients__totals(gradients, words):
    totals = [torch.zeros_like(part) for part in gradients[0]]
    for parts, count in zip(gradients, words, strict=True):
        if count == 0:
            continue
        totals = [total + count * part for total, part in zip(totals, parts, strict=True)]
    return [total / sum(words) for total in totals]


def average_gradients__numpy(gradients, words):
    with_words = [(worker, count) for worker, count in zip(gradients, words, strict=True) if count]
    counts = [count for _, count in with_words]
    columns = zip(*(worker for worker, _ in with_words), strict=True)
    averages = [np.average([part.numpy() for part in parts], axis=0, weights=counts) for parts in columns]
    return [torch.from_numpy(average).to(part) for average, part in zip(averages, gradients[0], strict=True)]
