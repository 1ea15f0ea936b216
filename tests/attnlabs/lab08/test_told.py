"""What is said of answers that students of lab 8 have given, where it is not a known mistake's own sentence."""

import math

import pytest
import torch

from attnlabs.lab08 import check
from misread.judge import judge


def told(name, answer):
    verdict = judge(check.exercise(name), answer)
    assert not verdict.passed
    return " ".join(verdict.message.split())


def _angles(positions, dim, base=10000.0):
    return positions * base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


@pytest.mark.parametrize("base", [100000.0, math.e, 10000 ** math.log10(math.e)])
def test_another_base_is_told_to_look_at_the_number_and_the_exponent(base):
    def sinusoidal_positions(length, dim):
        angles = _angles(torch.arange(length)[:, None], dim, base)
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)

    assert "look at the number 10000 and at the exponent" in told("sinusoidal_positions", sinusoidal_positions)


def _rotation(angles):
    return torch.block_diag(*(torch.tensor([[b.cos(), -b.sin()], [b.sin(), b.cos()]]) for b in angles))


@pytest.mark.parametrize(
    "angles",
    [
        lambda dim, offset: _angles(offset, dim).deg2rad(),
        lambda dim, offset: _angles(offset % 10, dim),
        lambda dim, offset: _angles(offset, dim, 100000.0),
    ],
    ids=["degrees", "modulo", "another base"],
)
def test_other_angles_of_a_shift_are_told_the_right_ones(angles):
    def relative_shift(dim, offset):
        return _rotation(angles(dim, offset))

    assert "the cosine of offset / 10000^(2i/D) twice, on its diagonal" in told("relative_shift", relative_shift)


def test_a_number_that_is_added_and_not_small_enough_is_told_of_minus_infinity():
    def multi_head_attention(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
        pairs = ((query, W_q), (key, W_k), (value, W_v))
        split = ((x @ W).unflatten(-1, (heads, -1)).transpose(1, 2) for x, W in pairs)
        q, k, v = split
        scores = q @ k.mT / q.shape[-1] ** 0.5
        is_open = torch.ones_like(scores) if mask is None else mask[:, None].to(scores)
        weights = (scores - 100 * (1 - is_open)).softmax(-1) * is_open
        return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights

    said = told("multi_head_attention", multi_head_attention)
    assert "Close positions before the softmax, with a score of −∞" in said
