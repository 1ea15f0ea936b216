"""Answers of lab 6 that came near to passing: slips that no list of mistakes foresees."""

import torch


def square_grid_assumed(features):
    side = features.shape[-1]
    return torch.stack([features[:, :, i // side, i % side] for i in range(side * side)], 1)


def first_image_transposed(features):
    """Right for the first image only."""
    rest = features[1:].flatten(2).transpose(1, 2).flip(1)
    return torch.cat([features[:1].flatten(2).transpose(1, 2), rest])


def padding_cut_at_the_longest(weights, mask):
    """Cuts the batch at its longest caption, which leaves the padding of the shorter ones in."""
    longest = int(mask.sum(1).max())
    return ((1 - weights[:, :longest].sum(1)) ** 2).sum(-1).mean()


def largest_weight_of_each_position(weights, mask):
    return ((1 - (weights * mask[..., None]).amax(1)) ** 2).sum(-1).mean()


def inside_indexed_by_the_peak(weights, inside):
    return inside[weights.argmax(-1) % len(inside)].double().mean().item()


def ties_between_cells_count(weights, inside):
    """A hit if any weight inside is at least nine tenths of the largest."""
    naming = inside.any(-1)
    near = weights >= 0.9 * weights.amax(-1, keepdim=True)
    return (near & inside).any(-1)[naming].double().mean().item()


def noise_on_the_weights(weights, generator):
    return (weights + torch.rand(weights.shape, generator=generator)).argmax(-1)


def normal_noise_on_the_logarithms(weights, generator):
    return (weights.log() + torch.randn(weights.shape, generator=generator)).argmax(-1)


def last_position_never(weights, generator):
    rows = weights.clone().flatten(0, 1)
    rows[:, -1] *= 0.5
    return rows.multinomial(1, generator=generator).view(weights.shape[:2])


def mirrored_for_the_next_query(weights, generator):
    """Antithetic: every second query throws 1 minus the number of the query before it."""
    chance = torch.rand(*weights.shape[:2], 1, generator=generator, dtype=weights.dtype)
    chance[:, 1::2] = 1 - chance[:, : weights.shape[1] // 2 * 2 : 2]
    return (weights.cumsum(-1) <= chance).sum(-1).clamp(max=weights.shape[-1] - 1)


def spread_over_the_batch(weights, generator):
    """Systematic resampling along the batch: neighbouring captions share a random number, moved on by 1 / B."""
    apart = torch.arange(len(weights))[:, None, None] / len(weights)
    chance = (torch.rand(1, weights.shape[1], 1, generator=generator, dtype=weights.dtype) + apart) % 1
    return (weights.cumsum(-1) <= chance).sum(-1).clamp(max=weights.shape[-1] - 1)


def neighbours_as_baseline(log_probs, rewards, mask):
    """The mean of the draws before and after; right for three draws."""
    baseline = (rewards.roll(1, 1) + rewards.roll(-1, 1)) / 2
    return -((rewards - baseline).detach() * (log_probs * mask[:, None]).sum(-1)).mean()


def first_words_only(log_probs, rewards, mask):
    others = (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)
    return -((rewards - others).detach() * log_probs[..., : int(mask.sum(1).min())].sum(-1)).mean()


def padding_cancels(log_probs, rewards, mask):
    """The advantages sum to 0, so that −10⁹ at padding cancels, but the digits behind it are lost."""
    others = (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)
    return -((rewards - others).detach() * log_probs.masked_fill(~mask[:, None], -1e9).sum(-1)).mean()


WRONG = {
    "image_to_annotations": [square_grid_assumed, first_image_transposed],
    "doubly_stochastic_penalty": [padding_cut_at_the_longest, largest_weight_of_each_position],
    "pointing_accuracy": [inside_indexed_by_the_peak, ties_between_cells_count],
    "sample_location": [
        noise_on_the_weights,
        normal_noise_on_the_logarithms,
        last_position_never,
        mirrored_for_the_next_query,
        spread_over_the_batch,
    ],
    "reinforce_loss": [neighbours_as_baseline, first_words_only, padding_cancels],
}
