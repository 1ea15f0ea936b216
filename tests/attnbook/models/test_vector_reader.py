"""A causal Transformer over vectors: nothing from the future, and how its keys start."""

import pytest
import torch

from attnbook.models.block import TransformerConfig
from attnbook.models.vector_reader import VectorReader


def small(keys_as_queries=False, **changes):
    torch.manual_seed(0)
    return VectorReader(3, 2, TransformerConfig(d_model=8, heads=2, d_ff=12, **changes), keys_as_queries)


@pytest.mark.parametrize("positions", ["none", "rotary", "linear_bias"])
def test_no_prediction_depends_on_a_later_vector_and_each_on_all_earlier_ones(positions, device):
    model, x = small(positions=positions).to(device), torch.randn(2, 6, 3).to(device).requires_grad_()
    predictions, weights = model(x)
    assert predictions.shape == (2, 6, 2)
    assert weights.shape == (2, 6, 6)
    assert not weights.triu(1).any()
    (gradient,) = torch.autograd.grad(predictions[:, 3].sum(), x)
    assert not gradient[:, 4:].any()
    assert gradient[:, :4].abs().sum(dim=(0, 2)).gt(0).all()


def test_maps_are_those_of_each_layer_and_the_last_is_what_forward_averages():
    model, x = small(layers=3), torch.randn(2, 5, 3)
    maps = model.maps(x)
    assert [tuple(layer.shape) for layer in maps] == [(2, 2, 5, 5)] * 3
    assert torch.allclose(model(x)[1], maps[-1].mean(dim=1))


def test_keys_start_as_queries_only_where_this_is_wanted():
    for wanted in (True, False):
        for layer in small(wanted).blocks.layers:
            attention = layer.self_attention
            assert torch.equal(attention.project_key.weight, attention.project_query.weight) == wanted


def test_added_positions_are_refused():
    with pytest.raises(ValueError, match="positions must be none, rotary or linear_bias, got 'sinusoidal'"):
        small(positions="sinusoidal")


@pytest.mark.parametrize("shape", [(2, 3), (2, 5, 4), (0, 5, 3)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"must have shape \(B, T, 3\)"):
        small()(torch.zeros(shape))
