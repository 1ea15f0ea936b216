"""Masked softmaxes that are right on small, tame scores and nowhere else; and `proper`, which is right."""

import torch


def renormalised(s, mask):
    w = s.softmax(-1) if mask is None else s.softmax(-1) * mask
    return w / w.sum(-1, keepdim=True).clamp(1e-30)


def filled_with_ten_thousand(s, mask):
    return s.softmax(-1) if mask is None else s.masked_fill(~mask, -1e4).softmax(-1) * mask


def filled_beyond_float32(s, mask):
    return s.softmax(-1) if mask is None else s.masked_fill(~mask, -1e300).softmax(-1) * mask


def cut_to_thirty(s, mask):
    return s.softmax(-1) if mask is None else s.clamp(-30, 30).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)


def proper(s, mask):
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


ODD = [renormalised, filled_with_ten_thousand, filled_beyond_float32, cut_to_thirty]
