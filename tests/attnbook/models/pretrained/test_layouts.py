"""Matrices in another order: the same products, and a refusal where they would not be the same."""

import copy

import pytest
import torch
from torch import nn

from attnbook.models.block import SwiGLU
from attnbook.models.pretrained import load
from attnbook.models.pretrained.layouts import JoinedSwiGLU, PackedLinear, has_kernels, lay_out_by_columns, packed

WORDS = torch.tensor([[3, 14, 15, 9, 26]])


def test_by_columns_shapes_and_numbers_stay():
    wide, narrow = nn.Linear(3, 5), nn.Linear(5, 3)
    model = nn.Sequential(wide, narrow)
    before = copy.deepcopy(model.state_dict())
    lay_out_by_columns(model)
    torch.testing.assert_close(dict(model.state_dict()), dict(before), rtol=0, atol=0)
    assert wide.weight.stride() == (1, 5)
    assert narrow.weight.stride() == (5, 1)


@pytest.mark.parametrize("dtype, atol", [(torch.float32, 1e-5), (torch.bfloat16, 0.1)])
@pytest.mark.parametrize("length", [1, 5])
def test_a_packed_model_says_what_it_said(tiny, dtype, atol, length):
    model = load(tiny, dtype).model
    before, _ = model(WORDS[:, :length])
    after, _ = packed(model)(WORDS[:, :length])
    torch.testing.assert_close(after, before, rtol=0, atol=atol)
    assert after.dtype == dtype
    layers = [part for part in model.modules() if isinstance(part, nn.Linear)]
    assert all(isinstance(layer, PackedLinear) == has_kernels(dtype) for layer in layers)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(2, 3), (2, 4, 3), (2, 1, 3)])
@pytest.mark.parametrize("dtype, atol", [(torch.float32, 1e-6), (torch.bfloat16, 0.02)])
def test_a_packed_layer_is_that_layer(bias, shape, dtype, atol):
    layer = nn.Linear(3, 5, bias=bias).to(dtype).requires_grad_(False)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    expected = layer(x)
    torch.testing.assert_close(packed(layer)(x), expected, rtol=0, atol=atol)


def test_float32_weights_stay_where_they_are_but_for_two_that_become_one(tiny):
    model = load(tiny).model
    before = dict(model.named_parameters())
    places = {name: weight.data_ptr() for name, weight in before.items()}
    after = dict(packed(model).named_parameters())
    assert {name: after[name].data_ptr() for name in places.keys() & after.keys()} == {
        name: place for name, place in places.items() if not name.endswith(("gate.weight", "widen.weight"))
    }
    both = "blocks.layers.0.feed_forward.both.weight"
    parts = [before[both.replace("both", part)] for part in ("gate", "widen")]
    assert torch.equal(after[both], torch.cat(parts))


def test_a_joined_swiglu_is_the_same_with_biases():
    layer = SwiGLU(3, 5).requires_grad_(False)
    x = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(JoinedSwiGLU(layer)(x), layer(x))


def test_a_model_elsewhere_is_refused_by_name_and_stays_as_it_was():
    model = nn.Sequential(nn.Linear(3, 4, device="meta")).requires_grad_(False)
    with pytest.raises(ValueError, match="0 must be on the CPU, whose kernels these are, got meta"):
        packed(model)
    assert type(model[0]) is nn.Linear


@pytest.mark.parametrize("change, message", [
    (lambda layer: layer.double(), "0 must be float32 or bfloat16 and no longer trained, got torch.float64$"),
    (lambda layer: layer.requires_grad_(), "0 must be .* got torch.float32, trained$"),
])  # fmt: skip
def test_other_weights_are_refused_before_anything_is_changed(change, message):
    model = nn.Sequential(change(nn.Linear(3, 3).requires_grad_(False)), nn.Linear(3, 3).requires_grad_(False))
    with pytest.raises(ValueError, match=message):
        packed(model)
    assert not any(isinstance(layer, PackedLinear) for layer in model)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_without_the_kernels_a_model_stays_as_it_is(monkeypatch, dtype):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    layer = nn.Linear(3, 3).to(dtype).requires_grad_(False)
    assert type(packed(layer)) is nn.Linear
    assert layer.weight.layout == torch.strided
