"""Masked softmaxes that are right on small, tame scores and nowhere else; and `proper`, which is right."""

import torch


def renormalised(s, mask):
    w = s.softmax(-1) if mask is None else s.softmax(-1) * mask
    return w / w.sum(-1, keepdim=True).clamp(1e-30)


def filled_with_ten_thousand(s, mask):
    return s.softmax(-1) if mask is None else s.masked_fill(~mask, -1e4).softmax(-1) * mask


def filled_beyond_float32(s, mask):
    return s.softmax(-1) if mask is None else s.masked_fill(~mask, -1e300).softmax(-1) * mask


def adds_a_little_to_the_sum(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(~mask, -torch.inf)
    e = (s - s.amax(-1, keepdim=True).clamp(min=-1e30)).exp()
    return e / (e.sum(-1, keepdim=True) + 1e-60)


def exp_as_it_is(s, mask):
    if mask is None:
        return s.softmax(-1)
    e = s.exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(1e-30)


def cut_to_thirty(s, mask):
    return s.softmax(-1) if mask is None else s.clamp(-30, 30).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)


def largest_of_all(s, mask):
    if mask is None:
        return s.softmax(-1)
    e = (s - s.max()).exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(1e-300)


def proper(s, mask):
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


ODD = [
    renormalised,
    filled_with_ten_thousand,
    filled_beyond_float32,
    adds_a_little_to_the_sum,
    exp_as_it_is,
    cut_to_thirty,
    largest_of_all,
]
