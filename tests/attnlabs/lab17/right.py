"""Right answers of lab 17 in other styles than the reference's."""

import math

import numpy as np
import torch


def length_split__loops(lengths, longest):
    inside, beyond = [], []
    for i, length in enumerate(lengths.tolist()):
        (inside if length <= longest else beyond).append(i)
    return torch.tensor(inside, dtype=torch.long), torch.tensor(beyond, dtype=torch.long)


def length_split__masked_range(lengths, longest):
    numbers = torch.arange(len(lengths))
    return numbers[lengths <= longest], numbers[lengths > longest]


def length_split__sorted_first(lengths, longest):
    order = lengths.argsort()
    count = int((lengths <= longest).sum())
    return order[:count], order[count:]


def length_split__int32(lengths, longest):
    numbers = torch.arange(len(lengths), dtype=torch.int32)
    return numbers[lengths <= longest], numbers[lengths > longest]


def extrapolation_score__loop(exact_match, trained):
    total, count = 0.0, 0
    for length in exact_match:
        if length > trained:
            total += exact_match[length]
            count += 1
    return total / count


def extrapolation_score__numpy(exact_match, trained):
    return np.mean([exact_match[n] for n in sorted(exact_match) if n > trained])


def extrapolation_score__tensor(exact_match, trained):
    shares = torch.tensor([share for n, share in exact_match.items() if n > trained], dtype=torch.float64)
    return shares.mean()


def extrapolation_score__single_precision(exact_match, trained):
    return torch.tensor([share for n, share in exact_match.items() if n > trained]).mean().item()


def sharpening_factor__loop(lengths, trained):
    return torch.tensor([max(1.0, math.log(n) / math.log(trained)) for n in lengths.tolist()])


def sharpening_factor__base_two(lengths, trained):
    ratio = torch.log2(lengths.double()) / torch.log2(torch.tensor(trained).double())
    return torch.where(lengths > trained, ratio, 1.0)


def sharpening_factor__maximum(lengths, trained):
    factor = torch.log(lengths) / np.log(trained)
    return torch.maximum(factor, torch.ones_like(factor))


def sharpening_factor__clamped_first(lengths, trained):
    return lengths.clamp(min=trained).float().log10() / math.log10(trained)


def relative_bias__loops(query_length, key_length, slopes):
    rows = [[abs(i - j) for j in range(key_length)] for i in range(query_length)]
    return torch.stack([-slope * torch.tensor(rows, dtype=slopes.dtype) for slope in slopes])


def relative_bias__einsum(query_length, key_length, slopes):
    distance = torch.arange(query_length).unsqueeze(1) - torch.arange(key_length).unsqueeze(0)
    return torch.einsum("h,qk->hqk", slopes, -distance.abs().to(slopes))


def relative_bias__cdist(query_length, key_length, slopes):
    queries, keys = (torch.arange(n, dtype=slopes.dtype)[:, None] for n in (query_length, key_length))
    return torch.cdist(queries, keys) * -slopes.view(-1, 1, 1)


def relative_bias__where(query_length, key_length, slopes):
    i, j = torch.meshgrid(torch.arange(query_length), torch.arange(key_length), indexing="ij")
    return torch.where(i > j, j - i, i - j) * slopes.reshape(-1, 1, 1)


def randomised_positions__random_keys(length, longest, generator):
    return torch.rand(longest, generator=generator).topk(length).indices.sort().values


def randomised_positions__one_by_one(length, longest, generator):
    left, chosen = list(range(longest)), []
    for _ in range(length):
        chosen.append(left.pop(torch.randint(len(left), (1,), generator=generator).item()))
    return torch.tensor(sorted(chosen))


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
