"""Uniform weights: each position receives the same, the mean of all values."""

import torch

from attnbook.models.sagan import FeatureMapAttention
from attnruns.shared.mean_attention import MeanAttention


def layers():
    """The layer with uniform weights, and attention with the same four matrices."""
    torch.manual_seed(0)
    mean, attention = MeanAttention(8, gamma=0.5, normalised=False), FeatureMapAttention(8, gamma=0.5, normalised=False)
    attention.load_state_dict(mean.state_dict())
    return mean, attention


def test_weights_are_uniform_and_each_position_receives_the_mean_of_the_values():
    mean, _ = layers()
    x = torch.randn(2, 8, 3, 5)
    y, weights = mean.attended(x)
    assert torch.equal(weights, torch.full_like(weights, 1 / 15))
    received = mean.output(mean.value(x).mean(dim=(2, 3), keepdim=True))  # (B, C, 1, 1)
    torch.testing.assert_close(y, x + 0.5 * received)
    torch.testing.assert_close(mean(x), y)


def test_attention_with_the_same_matrices_receives_something_else():
    mean, attention = layers()
    x = 3 * torch.randn(2, 8, 3, 5)
    assert not torch.allclose(mean(x), attention(x), atol=1e-3)
