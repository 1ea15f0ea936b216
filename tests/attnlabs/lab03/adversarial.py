"""Answers that came near to passing, or passed once: slips that no list of mistakes foresees."""

import torch


def attend(scores, mask, value):
    closed = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask
    weights = scores.masked_fill(closed, -torch.inf).softmax(-1).masked_fill(closed, 0.0)
    return weights @ value, weights


def scaled(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


def with_mask(change):
    """Attention that is right, but for what it does to a mask."""
    return lambda query, key, value, mask=None: attend(
        scaled(query, key), None if mask is None else change(mask), value
    )


def weights_by(softmax):
    """Attention that is right without a mask; `softmax(scores, mask)` gives the weights with one."""

    def answer(query, key, value, mask=None):
        if mask is None:
            return attend(scaled(query, key), None, value)
        weights = softmax(scaled(query, key), mask)
        return weights @ value, weights

    return answer


def rounds_the_root(query, key, value, mask=None):
    return attend(query @ key.mT / int(query.shape[-1] ** 0.5), mask, value)


def scales_the_query_itself(query, key, value, mask=None):
    query /= query.shape[-1] ** 0.5
    return attend(query @ key.mT, mask, value)


def always_causal(query, key, value, mask=None):
    causal = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril()
    return attend(scaled(query, key), causal if mask is None else mask, value)


def normalises_again(weights):
    weights = weights / weights.sum(2, keepdim=True)
    return -torch.where(weights > 0, weights * weights.clamp_min(1e-30).log(), 0).sum(2)


def asks_xlogy(weights):
    return -torch.special.xlogy(weights, weights).sum(-1)


def leaves_small_ones_out(weights):
    return -(weights * weights.where(weights > 1e-6, 1.0).log()).sum(-1)


def squeezes(weights):
    return -(weights * weights.clamp_min(1e-30).log()).sum(-1).squeeze()


adds_the_logarithm_of_the_mask = weights_by(lambda s, mask: (s + mask.to(s.dtype).log()).softmax(-1).nan_to_num(0))
WRONG = {
    "scaled_dot_attention": {
        "rounds the root": rounds_the_root,
        "scales the query itself": scales_the_query_itself,
        "always causal": always_causal,
        "skips a closed mask": with_mask(lambda mask: mask if mask.any() else ~mask),
        "takes two axes for padding": with_mask(lambda mask: mask[:, None] if mask.dim() == 2 else mask),
        "squeezes the mask": with_mask(lambda mask: mask.squeeze(1) if mask.dim() == 3 else mask),
        "adds the logarithm of the mask": adds_the_logarithm_of_the_mask,
        "fills with ten thousand": weights_by(lambda s, mask: s.masked_fill(~mask, -1e4).softmax(-1) * mask),
    },
    "attention_entropy": [normalises_again, asks_xlogy, leaves_small_ones_out, squeezes],
}
NAMED = {
    scales_the_query_itself: "changes its input",
    adds_the_logarithm_of_the_mask: "gradient is not a number",
    normalises_again: "no finite gradient at 0",
    asks_xlogy: "no finite gradient at 0",
}
