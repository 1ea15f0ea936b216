"""Answers that came near to passing: slips that no list of mistakes foresees."""

import torch
import torch.nn.functional as F

from attnlabs.lab15.convolution import causal_convolution
from attnlabs.lab15.episode import few_shot_episode


def two_taps_only(x, weight, dilation):
    moved = F.pad(x, (0, 0, dilation, 0))[:, : x.shape[1]]
    return x @ weight[..., -1].mT + moved @ weight[..., 0].mT


def never_before_the_beginning(x, weight, dilation):
    """Leaves whole windows out that begin before the sequence, instead of their early taps."""
    result, past = causal_convolution(x, weight, dilation), dilation * (weight.shape[-1] - 1)
    return result * (torch.arange(x.shape[1]) >= past)[:, None]


def gate_of_the_last_position(x, candidate, gate, dilation):
    found = causal_convolution(x, candidate, dilation).tanh()
    return torch.cat([x, found * causal_convolution(x, gate, dilation).sigmoid()[:, -1:]], dim=-1)


def next_power_of_two(dilations, kernel):
    return 1 + (kernel - 1) * (2 * dilations[-1] - 1) if dilations else 1


def largest_first(x, W_q, W_k, W_v):
    """exp without the maximum subtracted: overflows where scores are large."""
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    shares = (query @ key.mT / query.shape[-1] ** 0.5).exp().tril()
    weights = shares / shares.sum(-1, keepdim=True)
    return torch.cat([x, weights @ value], dim=-1), weights


def consecutive_numbers(images, labels, ways, shots, draw):
    """Classes are taken to have the numbers 0, 1, 2 …"""
    which, told = few_shot_episode(images, labels - labels.min(), ways, shots, draw)
    return which, told + (labels.min() > 12)


def a_torch_draw(images, labels, ways, shots, draw):
    return few_shot_episode(images, labels, ways, shots, torch.rand(2, len(labels)))


def least_pulled_arm_left_out(probabilities, arms):
    best = probabilities.amax(dim=1, keepdim=True)
    pulls = F.one_hot(arms, probabilities.shape[1]).sum(dim=1)  # (B, K)
    return ((best - probabilities) * pulls * (pulls > pulls.amin(dim=1, keepdim=True))).sum(dim=1)


WRONG = {
    "causal_convolution": [two_taps_only, never_before_the_beginning],
    "dense_block": [gate_of_the_last_position],
    "receptive_field": [next_power_of_two],
    "causal_attention_block": [largest_first],
    "few_shot_episode": [consecutive_numbers, a_torch_draw],
    "regret": [least_pulled_arm_left_out],
}
