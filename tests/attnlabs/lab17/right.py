"""Right answers of lab 17 in other styles than the reference's."""

import math

import numpy as np
import torch


def length_split__sorted_first(lengths, longest):
    order = lengths.argsort()
    count = int((lengths <= longest).sum())
    return order[:count], order[count:]


def length_split__int32(lengths, longest):
    numbers = torch.arange(len(lengths), dtype=torch.int32)
    return numbers[lengths <= longest], numbers[lengths > longest]


def extrapolation_score__numpy(exact_match, trained):
    return np.mean([exact_match[n] for n in sorted(exact_match) if n > trained])


def extrapolation_score__single_precision(exact_match, trained):
    return torch.tensor([share for n, share in exact_match.items() if n > trained]).mean().item()


def sharpening_factor__maximum(lengths, trained):
    factor = torch.log(lengths) / np.log(trained)
    return torch.maximum(factor, torch.ones_like(factor))


def sharpening_factor__clamped_first(lengths, trained):
    return lengths.clamp(min=trained).float().log10() / math.log10(trained)


def relative_bias__cdist(query_length, key_length, slopes):
    queries, keys = (torch.arange(n, dtype=slopes.dtype)[:, None] for n in (query_length, key_length))
    return torch.cdist(queries, keys) * -slopes.view(-1, 1, 1)


def randomised_positions__random_keys(length, longest, generator):
    return torch.rand(longest, generator=generator).topk(length).indices.sort().values


def randomised_positions__reservoir(length, longest, generator):
    chosen = []
    for position in range(longest):
        share = (length - len(chosen)) / (longest - position)
        if torch.rand(1, generator=generator).item() < share:
            chosen.append(position)
    return torch.tensor(chosen)


def randomised_positions__int32(length, longest, generator):
    order = torch.randperm(longest, generator=generator, dtype=torch.int32)
    return order[:length].sort().values


def relative_bias__outer(query_length, key_length, slopes):
    distance = torch.tensor([[float(abs(i - j)) for j in range(key_length)] for i in range(query_length)])
    return torch.einsum("h,ij->hij", -slopes, distance.to(slopes))


def randomised_positions__marked(length, longest, generator):
    taken = torch.zeros(longest, dtype=torch.bool)
    taken[torch.randperm(longest, generator=generator)[longest - length :]] = True
    return taken.nonzero()[:, 0]
