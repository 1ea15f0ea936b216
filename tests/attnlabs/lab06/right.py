"""Right answers of lab 6 in other styles than the reference's."""

import numpy as np
import torch


def image_to_annotations__permute(features):
    batch, dim, height, width = features.shape
    return features.permute(0, 2, 3, 1).reshape(batch, height * width, dim)


def doubly_stochastic_penalty__norm(weights, mask):
    received = weights.masked_fill(~mask.unsqueeze(-1), 0.0).sum(1)
    return torch.linalg.vector_norm(received - 1, dim=1).square().mean()


def pointing_accuracy__loops(weights, inside):
    hits, count = 0, 0
    for rows, cells in zip(weights.tolist(), inside.tolist(), strict=True):
        for row, cell in zip(rows, cells, strict=True):
            if any(cell):
                count += 1
                hits += cell[row.index(max(row))]
    return hits / count


def pointing_accuracy__numpy(weights, inside):
    weights, inside = weights.numpy(), inside.numpy()
    hits = np.take_along_axis(inside, weights.argmax(-1)[..., None], -1)[..., 0]
    return np.average(hits, weights=inside.any(-1))


def sample_location__throw(weights, generator):
    chance = torch.rand(*weights.shape[:2], 1, generator=generator, dtype=weights.dtype)
    ends = weights.cumsum(-1) / weights.sum(-1, keepdim=True)
    return (ends <= chance).sum(-1)


def sample_location__gumbel(weights, generator):
    uniform = torch.rand(weights.shape, generator=generator, dtype=torch.float64).clamp_min(1e-12)
    return (weights.log() - (-uniform.log()).log()).argmax(dim=2)


def sample_location__exponential(weights, generator):
    waits = torch.empty_like(weights).exponential_(generator=generator)
    return (weights / waits).argmax(-1)


def reinforce_loss__loops(log_probs, rewards, mask):
    batch, samples, _ = log_probs.shape
    total = 0.0
    for b in range(batch):
        for n in range(samples):
            others = [rewards[b, m].item() for m in range(samples) if m != n]
            advantage = rewards[b, n].item() - sum(others) / len(others)
            total = total - advantage * log_probs[b, n][mask[b]].sum()
    return total / (batch * samples)


def reinforce_loss__scaled(log_probs, rewards, mask):
    """R − mean of the others is N / (N − 1) times R − mean of all."""
    with torch.no_grad():
        samples = rewards.shape[1]
        advantage = (rewards - rewards.mean(1, keepdim=True)) * samples / (samples - 1)
    picked = log_probs.masked_fill(~mask.unsqueeze(1), 0.0)
    return -torch.einsum("bn,bnt->", advantage, picked) / advantage.numel()


def image_to_annotations__unfold(features):
    return torch.nn.functional.unfold(features, 1).mT


def doubly_stochastic_penalty__product(weights, mask):
    received = (mask[:, None].to(weights) @ weights).squeeze(1)
    return torch.nn.functional.mse_loss(received, torch.ones_like(received)) * weights.shape[-1]


def pointing_accuracy__compared(weights, inside):
    """The largest weight inside is the largest of all."""
    best = weights.masked_fill(~inside, -1.0).amax(-1)
    return (best == weights.amax(-1)).sum() / inside.any(-1).sum()


def sample_location__search(weights, generator):
    chance = torch.rand(*weights.shape[:2], 1, generator=generator, dtype=weights.dtype)
    return torch.searchsorted(weights.cumsum(-1), chance, right=True)[..., 0].clamp(max=weights.shape[-1] - 1).int()


def reinforce_loss__centred(log_probs, rewards, mask):
    """N / (N − 1) times the product with the log-probabilities less their mean, which is the same sum."""
    total, samples = (log_probs * mask[:, None]).sum(-1), rewards.shape[1]
    return -(rewards.detach() * (total - total.mean(1, keepdim=True))).mean() * samples / (samples - 1)
