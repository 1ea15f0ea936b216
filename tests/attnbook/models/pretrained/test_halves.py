"""Matrices in half precision say nearly the same, word by word and all at once."""

import pytest
import torch
from torch import nn

from attnbook.models.pretrained import load
from attnbook.models.pretrained.halves import HalfLinear, in_halves

WORDS = torch.tensor([[3, 14, 15, 9, 26]])


def test_logits_stay_within_what_rounding_does(tiny):
    expected, _ = load(tiny).model(WORDS)
    model = in_halves(load(tiny).model)
    logits, _ = model(WORDS)
    scale = expected.abs().max()
    assert 0 < (logits - expected).abs().max() < 0.01 * scale
    state, stepped = model.start(), []
    for token in WORDS.unbind(dim=1):
        step, state, _ = model.step(token, state)
        stepped.append(step)
    assert (torch.stack(stepped, dim=1) - expected).abs().max() < 0.01 * scale


def test_matrices_take_half_and_a_bias_is_added(tiny):
    model = in_halves(load(tiny).model)
    layers = [part for part in model.modules() if isinstance(part, nn.Linear)]
    assert all(type(layer) is HalfLinear and layer.weight.dtype == torch.float16 for layer in layers)
    assert model.embed.words.weight.dtype == torch.float32
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 2))
    x = torch.randn(4, 1, 3)
    expected = plain(x).detach()
    torch.testing.assert_close(in_halves(plain)(x), expected, rtol=0, atol=5e-3)


@pytest.mark.parametrize("change", [nn.Module.bfloat16, lambda layer: layer.weight.data.fill_(1e6)])
def test_weights_that_are_no_floats_or_too_large_are_refused_and_left_alone(change):
    layers = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    change(layers[1])
    with pytest.raises(ValueError, match="1 must be float32 and below 65,505, got torch"):
        in_halves(layers)
    assert type(layers[0]) is nn.Linear
