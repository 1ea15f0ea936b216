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


def cuts_at_the_key(query, key, W, v):
    left, right = W[:, : key.shape[-1]], W[:, key.shape[-1] :]
    return (torch.tanh(query.matmul(left.T).unsqueeze(2) + key.matmul(right.T).unsqueeze(1)) * v).sum(-1)


def gives_the_key_the_first_columns(query, key, W, v):
    left, right = W.split([key.shape[-1], query.shape[-1]], dim=1)
    return torch.tanh((query @ right.T).unsqueeze(2) + (key @ left.T).unsqueeze(1)) @ v


def lists_the_pairs_key_by_key(query, key, W, v):
    pairs = torch.cat([query.repeat_interleave(key.shape[1], 1), key.repeat_interleave(query.shape[1], 1)], -1)
    return ((pairs @ W.T).tanh() @ v).view(len(query), query.shape[1], key.shape[1])


def trusts_every_length(query, key, eps=1e-8):
    lengths = query.pow(2).sum(-1).sqrt().unsqueeze(2) * key.pow(2).sum(-1).sqrt().unsqueeze(1)
    return torch.bmm(query, key.mT) / lengths


def trusts_every_key(query, key, eps=1e-8):
    return query @ (key / key.norm(dim=-1, keepdim=True)).mT / query.norm(dim=-1).clamp(min=eps)[..., None]


def clamps_the_squares(query, key, eps=1e-8):
    query, key = (x * x.square().sum(-1, keepdim=True).clamp(min=eps).rsqrt() for x in (query, key))
    return query @ key.mT


def has_no_cosine_below_eps(query, key, eps=1e-8):
    lengths = [x.norm(dim=-1, keepdim=True) for x in (query, key)]
    cosines = query @ key.mT / (lengths[0] * lengths[1].mT)
    return torch.where((lengths[0] > eps) & (lengths[1] > eps).mT, cosines, 0.0)


def forgets_what_the_fill_returns(query, key, value, mask=None):
    scores = scaled(query, key)
    if mask is not None:
        scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ value, weights


def sums_before_the_zeros(query, key, value, mask=None):
    weights = scaled(query, key) if mask is None else scaled(query, key).masked_fill(~mask, float("-inf"))
    weights = weights.softmax(-1)
    context = weights @ value
    return context, weights if mask is None else weights.nan_to_num(0.0)


def clamps_at_a_thousandth(weights):
    return -(weights * weights.clamp(min=1e-3).log()).sum(-1)


fills_with_a_hundred = weights_by(lambda s, mask: s.masked_fill(~mask, -100.0).softmax(-1) * mask)
adds_zero_times_infinity = weights_by(lambda s, mask: (s + ~mask * float("-inf")).softmax(-1))
adds_the_mask = weights_by(lambda s, mask: torch.softmax(s + mask, -1))
divides_by_what_is_left = weights_by(lambda s, mask: (s.softmax(-1) * mask) / (s.softmax(-1) * mask).sum(-1)[..., None])
adds_the_logarithm_of_the_mask = weights_by(lambda s, mask: (s + mask.to(s.dtype).log()).softmax(-1).nan_to_num(0))
WRONG = {
    "cosine_score": [trusts_every_length, trusts_every_key, clamps_the_squares, has_no_cosine_below_eps],
    "concat_score": [cuts_at_the_key, gives_the_key_the_first_columns, lists_the_pairs_key_by_key],
    "scaled_dot_attention": {
        "rounds the root": rounds_the_root,
        "scales the query itself": scales_the_query_itself,
        "always causal": always_causal,
        "skips a closed mask": with_mask(lambda mask: mask if mask.any() else ~mask),
        "takes two axes for padding": with_mask(lambda mask: mask[:, None] if mask.dim() == 2 else mask),
        "squeezes the mask": with_mask(lambda mask: mask.squeeze(1) if mask.dim() == 3 else mask),
        "adds the logarithm of the mask": adds_the_logarithm_of_the_mask,
        "forgets what the fill returns": forgets_what_the_fill_returns,
        "sums before the zeros": sums_before_the_zeros,
        "fills with a hundred": fills_with_a_hundred,
        "adds the mask": adds_the_mask,
        "adds zero times infinity": adds_zero_times_infinity,
        "divides by what is left": divides_by_what_is_left,
        "fills with ten thousand": weights_by(lambda s, mask: s.masked_fill(~mask, -1e4).softmax(-1) * mask),
    },
    "attention_entropy": [normalises_again, asks_xlogy, leaves_small_ones_out, squeezes, clamps_at_a_thousandth],
}
NAMED = {
    trusts_every_length: "no guard against zero",
    trusts_every_key: "no guard for the keys",
    clamps_the_squares: "squares clamped at eps",
    has_no_cosine_below_eps: "0 below eps",
    cuts_at_the_key: "W cut after Dk columns",
    gives_the_key_the_first_columns: "key before query",
    lists_the_pairs_key_by_key: "keys repeated one by one",
    rounds_the_root: "scaled by a rounded root",
    forgets_what_the_fill_returns: "mask without effect",
    sums_before_the_zeros: "NaN in the context",
    fills_with_a_hundred: "a number not small enough",
    adds_zero_times_infinity: "0 · ∞ everywhere",
    adds_the_mask: "mask added to the scores",
    divides_by_what_is_left: "0 / 0 where no weight is left",
    clamps_at_a_thousandth: "1e-3 as a floor",
    scales_the_query_itself: "changes its input",
    adds_the_logarithm_of_the_mask: "gradient is not a number",
    normalises_again: "no finite gradient at 0",
    asks_xlogy: "no finite gradient at 0",
}
