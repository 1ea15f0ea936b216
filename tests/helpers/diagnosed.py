"""Small exercises whose wrong answers the tests of the explanations share."""

import torch

from attnlabs import Exercise


def dot(query, key):
    return query @ key.mT  # (B, Tq, Tk)


def soft(scores, mask, gain=1.0):
    weights = (gain * scores).masked_fill(~mask, float("-inf")).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def apart(x):
    return (x - x.mean(-1, keepdim=True)).square()


def pairs(draw):
    batch, queries, keys, dim = draw.sizes(4)
    yield draw.normal(batch, queries, dim), draw.normal(batch, keys, dim)


def masked(draw):
    batch, queries, keys = draw.sizes(3)
    yield draw.normal(batch, queries, keys), draw.mask(batch, queries, keys), draw.uniform(1, low=2.0, high=3.0).item()


DOT = Exercise(dot, pairs, [])


SOFT = Exercise(soft, masked, [])


CAUSAL = Exercise(causal, lambda draw: [(draw.integer(3, 8),), (draw.integer(8, 12),)], [], gradients=False)


def scored(query, key, value):
    return (query @ key.mT).softmax(-1) @ value + key.mean(1, keepdim=True)
