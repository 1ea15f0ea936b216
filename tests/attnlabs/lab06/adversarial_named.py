"""Answers that were refused with the words of another mistake, or with a bare difference; now each has its own name."""

import torch


def _thrown(weights, generator, *shape):
    return torch.rand(*(shape or (*weights.shape[:2], 1)), generator=generator, dtype=weights.dtype)


def argmin_of_the_sums_above(weights, generator):
    """Nearly always 0: the first sum that is not above the number."""
    return (weights.cumsum(-1) >= _thrown(weights, generator)).int().argmin(-1)


def argmax_of_the_sums_below(weights, generator):
    return (weights.cumsum(-1) < _thrown(weights, generator)).int().argmax(-1)


def sums_compared_and_not_counted(weights, generator):
    return weights.cumsum(-1) > _thrown(weights, generator)


def positions_in_single_precision(weights, generator):
    return weights.flatten(0, 1).multinomial(1, generator=generator).view(weights.shape[:2]).float()


def positions_in_double_precision(weights, generator):
    return (weights.cumsum(-1) <= _thrown(weights, generator)).double().sum(-1)


def the_largest_weight_itself(weights, generator):
    return weights.amax(-1)


def all_axes_joined(features):
    return features.reshape(features.shape[0], -1)


def mask_on_the_positions(weights, mask):
    received = torch.einsum("btk,bk->bk", weights, mask.to(weights))
    return ((1 - received) ** 2).sum(-1).mean()


def padding_at_minus_a_billion(weights, mask):
    received = torch.where(mask.unsqueeze(-1), weights, -1e9).sum(1)
    return (received - 1).square().sum(1).mean()


def padding_at_minus_infinity(weights, mask):
    received = torch.where(mask.unsqueeze(-1), weights, -torch.inf).sum(1)
    return (received - 1).square().sum(1).mean()


def mean_of_means_with_zeros(weights, inside):
    hits = inside.gather(-1, weights.argmax(-1, keepdim=True)).squeeze(-1).sum(-1)
    return (hits / inside.any(-1).sum(-1).clamp(min=1)).mean().item()


def without_the_first_word(weights, inside):
    weights, inside = weights[:, 1:], inside[:, 1:]
    hits = inside.gather(-1, weights.argmax(-1, keepdim=True))[..., 0]
    return hits[inside.any(-1)].double().mean().item()


def a_peak_for_each_caption(weights, inside):
    batch = torch.arange(len(weights))
    return inside.flatten(1)[batch, weights.flatten(1).argmax(-1)].double().mean().item()


def _advantage(rewards, count):
    return (rewards - (rewards.sum(1, keepdim=True) - rewards) / count).detach()


def mean_log_probability(log_probs, rewards, mask):
    words = mask.sum(1, keepdim=True).clamp(min=1)
    summed = log_probs.masked_fill(~mask[:, None], 0.0).sum(-1)
    return -(_advantage(rewards, rewards.shape[1] - 1) * summed / words).mean()


def probability(log_probs, rewards, mask):
    summed = log_probs.masked_fill(~mask[:, None], 0.0).sum(-1)
    return -(_advantage(rewards, rewards.shape[1] - 1) * torch.exp(summed)).mean()


def captions_with_words_only(log_probs, rewards, mask):
    summed = log_probs.masked_fill(~mask[:, None], 0.0).sum(-1)
    products = _advantage(rewards, rewards.shape[1] - 1) * summed
    return -products.sum() / mask.any(1).sum() / rewards.shape[1]


def batch_minus_one(log_probs, rewards, mask):
    return -(_advantage(rewards, len(rewards) - 1) * (log_probs * mask[:, None]).sum(-1)).mean()


def logarithm_of_masked_probabilities(log_probs, rewards, mask):
    summed = (log_probs.exp() * mask[:, None]).log().sum(-1)
    return -(_advantage(rewards, rewards.shape[1] - 1) * summed).mean()


def baseline_after_the_product(log_probs, rewards, mask):
    products = rewards.detach() * (log_probs * mask[:, None]).sum(-1)
    return -(products - (products.sum(1, keepdim=True) - products) / (products.shape[1] - 1)).mean()


def the_other_of_two(log_probs, rewards, mask):
    advantage = (rewards - torch.flip(rewards, dims=(1,))).detach()
    return -(advantage * (log_probs * mask[:, None]).sum(-1)).mean()


def too_small_twice(log_probs, rewards, mask):
    samples = rewards.shape[1]
    advantage = (1 - 1 / samples) * (rewards - rewards.mean(1, keepdim=True)).detach()
    return -(advantage * (log_probs * mask[:, None]).sum(-1)).mean()


def words_kept(log_probs, rewards, mask):
    summed = torch.einsum("bnt,bt->bt", log_probs, mask.to(log_probs))
    return -(_advantage(rewards, rewards.shape[1] - 1) * summed).mean()


NAMED = {
    argmin_of_the_sums_above: "nothing drawn, always position 0",
    argmax_of_the_sums_below: "nothing drawn, always position 0",
    sums_compared_and_not_counted: "truth values",
    positions_in_single_precision: "decimal type",
    positions_in_double_precision: "decimal type",
    the_largest_weight_itself: "the weight that was drawn",
    all_axes_joined: "features joined, too",
    padding_at_minus_a_billion: "padding filled with a large negative number",
    padding_at_minus_infinity: "padding filled with minus infinity",
    mask_on_the_positions: "mask along the positions",
    mean_of_means_with_zeros: "mean of the captions' means, 0 for empty ones",
    without_the_first_word: "the first word left out",
    a_peak_for_each_caption: "one peak per caption",
    mean_log_probability: "averaged over the words",
    probability: "probability instead of its logarithm",
    captions_with_words_only: "captions without words left out",
    batch_minus_one: "divided by the number of other images",
    logarithm_of_masked_probabilities: "padding filled with minus infinity",
    baseline_after_the_product: "means before the product",
    the_other_of_two: "the mirrored draw's reward",
    too_small_twice: "corrected by the inverse factor",
    words_kept: "summed over the draws",
}
WRONG = {
    "image_to_annotations": [all_axes_joined],
    "doubly_stochastic_penalty": [mask_on_the_positions, padding_at_minus_a_billion, padding_at_minus_infinity],
    "pointing_accuracy": [mean_of_means_with_zeros, without_the_first_word, a_peak_for_each_caption],
    "sample_location": [
        argmin_of_the_sums_above,
        argmax_of_the_sums_below,
        sums_compared_and_not_counted,
        positions_in_single_precision,
        positions_in_double_precision,
        the_largest_weight_itself,
    ],
    "reinforce_loss": [
        mean_log_probability,
        probability,
        captions_with_words_only,
        batch_minus_one,
        logarithm_of_masked_probabilities,
        baseline_after_the_product,
        the_other_of_two,
        too_small_twice,
        words_kept,
    ],
}
