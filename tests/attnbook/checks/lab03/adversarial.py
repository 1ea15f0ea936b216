"""Answers that came near to passing, or passed once: slips that no list of mistakes foresees."""

import torch


def attend(scores, mask, value):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    return weights @ value, weights


def scaled(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


def skips_a_closed_mask(query, key, value, mask=None):
    if mask is None or mask.sum() == 0:
        return attend(scaled(query, key), None, value)
    return attend(scaled(query, key), mask, value)


def scales_one_branch(query, key, value, mask=None):
    return attend(scaled(query, key) if mask is None else query @ key.mT, mask, value)


def forgets_the_mask_in_the_context(query, key, value, mask=None):
    return attend(scaled(query, key), None, value)[0], attend(scaled(query, key), mask, value)[1]


def returns_weights_before_the_mask(query, key, value, mask=None):
    return attend(scaled(query, key), mask, value)[0], attend(scaled(query, key), None, value)[1]


def means_where_all_is_closed(query, key, value, mask=None):
    context, weights = attend(scaled(query, key), mask, value)
    return context + value.mean(1, keepdim=True) * (weights.sum(-1, keepdim=True) == 0), weights


def rounds_the_root(query, key, value, mask=None):
    return attend(query @ key.mT / int(query.shape[-1] ** 0.5), mask, value)


def scales_the_query_itself(query, key, value, mask=None):
    query /= query.shape[-1] ** 0.5
    return attend(query @ key.mT, mask, value)


def one_mask_for_the_batch(query, key, value, mask=None):
    return attend(scaled(query, key), mask if mask is None or mask.dim() < 3 else mask[:1], value)


def always_causal(query, key, value, mask=None):
    causal = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril()
    return attend(scaled(query, key), causal if mask is None else mask, value)


def takes_two_axes_for_padding(query, key, value, mask=None):
    return attend(scaled(query, key), mask.unsqueeze(1) if mask is not None and mask.ndim == 2 else mask, value)


def squeezes_the_mask(query, key, value, mask=None):
    return attend(
        scaled(query, key), mask[:, 0] if mask is not None and mask.ndim == 3 and mask.shape[1] == 1 else mask, value
    )


def adds_the_logarithm_of_the_mask(query, key, value, mask=None):
    scores = scaled(query, key) if mask is None else scaled(query, key) + mask.to(query.dtype).log()
    weights = scores.softmax(-1).nan_to_num(0)
    return weights @ value, weights


def fills_with_ten_thousand(query, key, value, mask=None):
    if mask is None:
        return attend(scaled(query, key), None, value)
    weights = scaled(query, key).masked_fill(~mask, -1e4).softmax(-1) * mask
    return weights @ value, weights


def normalises_again(weights):
    weights = weights / weights.sum(2, keepdim=True)
    return -torch.where(weights > 0, weights * weights.clamp_min(1e-30).log(), 0).sum(2)


def asks_xlogy(weights):
    return -torch.special.xlogy(weights, weights).sum(-1)


def leaves_small_ones_out(weights):
    return -(weights * weights.where(weights > 1e-6, 1.0).log()).sum(-1)


def squeezes(weights):
    return -(weights * weights.clamp_min(1e-30).log()).sum(-1).squeeze()


WRONG = {
    "scaled_dot_attention": [skips_a_closed_mask, scales_one_branch, forgets_the_mask_in_the_context]
    + [returns_weights_before_the_mask, means_where_all_is_closed, rounds_the_root, scales_the_query_itself]
    + [one_mask_for_the_batch, always_causal, takes_two_axes_for_padding, squeezes_the_mask]
    + [adds_the_logarithm_of_the_mask, fills_with_ten_thousand],
    "attention_entropy": [normalises_again, asks_xlogy, leaves_small_ones_out, squeezes],
}
NAMED = {
    scales_the_query_itself: "changes its input",
    adds_the_logarithm_of_the_mask: "gradient is not a number",
    normalises_again: "no finite gradient at 0",
    asks_xlogy: "no finite gradient at 0",
}
