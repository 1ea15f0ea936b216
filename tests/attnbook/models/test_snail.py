"""SNAIL: convolutions are their sums one by one, nothing depends on the future, and each block keeps its input."""

import pytest
import torch
from torch import nn

from attnbook.attention import Sinusoidal, causal_mask, scaled_dot
from attnbook.models.snail import (
    CausalAttentionBlock,
    CausalConvolution,
    DenseBlock,
    Snail,
    SnailSizes,
    TemporalConvolutions,
    causal_convolution,
    dilations_for,
    receptive_field,
)

B, T, D = 2, 7, 3
BLOCKS = {
    "snail": ("attention", "convolutions", "attention"),
    "convolutions": ("convolutions", "convolutions"),
    "attention": ("attention",) * 3,
}
SIZES = SnailSizes(filters=4, key=5, value=6)


@pytest.fixture(params=BLOCKS)
def model(request, device, dtype):
    """Each kind of network, with small blocks."""
    torch.manual_seed(0)
    return Snail(D, 2, T, BLOCKS[request.param], SIZES).to(device, dtype)


def dependence(network: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Row t, column s: whether the output at t depends on the input at s."""
    x = x.detach().requires_grad_()
    output = network(x)[0] if isinstance(network, Snail) else network(x)
    rows = [torch.autograd.grad(output[:, t].square().sum(), x, retain_graph=True)[0] for t in range(x.shape[1])]
    return torch.stack([row.abs().sum(dim=(0, 2)) > 0 for row in rows])


# ---- causal_convolution


def slow_convolution(x, weight, bias, dilation):
    """One position, one tap at a time."""
    taps = weight.shape[-1]
    outputs = []
    for t in range(x.shape[1]):
        total = bias.expand(len(x), -1)
        for k in range(taps):
            earlier = t - dilation * (taps - 1 - k)
            if earlier >= 0:
                total = total + x[:, earlier] @ weight[:, :, k].T
        outputs.append(total)
    return torch.stack(outputs, dim=1)


@pytest.mark.parametrize("taps, dilation", [(1, 1), (2, 1), (2, 4), (3, 2), (2, 10)])
def test_a_causal_convolution_is_a_sum_over_shifted_inputs(taps, dilation, draw, close):
    x, weight, bias = draw(B, T, D), draw(5, D, taps, seed=1), draw(5, seed=2)
    found = causal_convolution(x, weight, bias, dilation)
    assert found.shape == (B, T, 5)
    close(found, slow_convolution(x, weight, bias, dilation))
    close(causal_convolution(x, weight, None, dilation), found - bias)


@pytest.mark.parametrize("taps, dilation", [(2, 1), (2, 4), (3, 2)])
def test_a_causal_convolution_is_torchs_padded_on_the_left(taps, dilation, draw):
    layer = nn.Conv1d(D, 5, taps, dilation=dilation).double()
    x = draw(B, T, D).cpu().double()
    left = nn.ConstantPad1d((dilation * (taps - 1), 0), 0.0)
    wanted = layer(left(x.mT)).mT
    torch.testing.assert_close(causal_convolution(x, layer.weight, layer.bias, dilation), wanted)


def test_the_layer_is_the_function_with_its_own_weight(draw, device, dtype, close):
    layer = CausalConvolution(D, 5, dilation=2).to(device, dtype)
    x = draw(B, T, D)
    close(layer(x), causal_convolution(x, layer.convolution.weight, layer.convolution.bias, 2))


def test_the_input_of_a_convolution_is_not_changed(draw):
    x = draw(B, T, D)
    before = x.clone()
    causal_convolution(x, draw(5, D, 2))
    assert torch.equal(x, before)


# ---- the receptive field


@pytest.mark.parametrize("dilations, kernel", [([1], 2), ([1, 2, 4], 2), ([1, 1], 3), ([3, 1], 2)])
def test_the_receptive_field_by_formula_is_the_reach_of_the_gradient(dilations, kernel):
    field = receptive_field(dilations, kernel)
    x = torch.zeros(1, field + 3, 1, dtype=torch.float64, requires_grad=True)
    y = x
    for dilation in dilations:
        y = causal_convolution(y, torch.ones(1, 1, kernel, dtype=torch.float64), dilation=dilation)
    y[0, -1, 0].backward()
    reached = x.grad[0, :, 0].nonzero()[:, 0]
    assert reached.min() == len(x[0]) - field
    assert reached.max() == len(x[0]) - 1


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 8, 9, 48, 64])
def test_the_dilations_cover_the_length_with_as_few_layers_as_possible(length):
    dilations = dilations_for(length)
    assert dilations == [2**i for i in range(len(dilations))]
    assert receptive_field(dilations) >= length
    assert len(dilations) == 1 or receptive_field(dilations[:-1]) < length


def test_the_dilations_that_the_paper_prints_would_leave_out_every_second_position(draw):
    def stack(dilations):
        def network(x):
            for dilation in dilations:
                x = causal_convolution(x, draw(D, D, 2), dilation=dilation)
            return x

        return network

    reached = {
        name: dependence(stack(d), draw(1, 9, D)) for name, d in {"ours": [1, 2, 4], "printed": [2, 4, 8]}.items()
    }
    assert reached["ours"][-1].tolist() == [False] + [True] * 8
    assert reached["printed"][-1].tolist() == [True, False] * 4 + [True]


@pytest.mark.parametrize("length", [0, -3])
def test_a_length_without_positions_is_refused(length):
    with pytest.raises(ValueError, match=f"length must be at least 1, got {length}"):
        dilations_for(length)


# ---- the blocks


def test_a_dense_block_appends_its_gated_convolution(draw, device, dtype, close):
    block = DenseBlock(D, 4, dilation=2).to(device, dtype)
    x = draw(B, T, D)
    found = block(x)
    assert found.shape == (B, T, D + 4)
    assert torch.equal(found[..., :D], x)
    close(found[..., D:], torch.tanh(block.candidate(x)) * torch.sigmoid(block.gate(x)))
    assert not torch.equal(block.candidate.convolution.weight, block.gate.convolution.weight)


@pytest.mark.parametrize("length", [1, 2, 6, 48])
def test_temporal_convolutions_get_wider_from_block_to_block(length, draw, device, dtype):
    block = TemporalConvolutions(D, length, filters=4).to(device, dtype)
    count = len(dilations_for(length))
    assert [layer.candidate.convolution.in_channels for layer in block] == [D + 4 * i for i in range(count)]
    assert [layer.gate.dilation for layer in block] == dilations_for(length)
    x = draw(B, length, D)
    found = block(x)
    assert found.shape == (B, length, block.width)
    assert block.width == D + 4 * count
    assert torch.equal(found[..., :D], x)


def test_the_last_position_of_temporal_convolutions_depends_on_the_first(draw, device, dtype):
    block = TemporalConvolutions(D, 9, filters=4).to(device, dtype)
    assert dependence(block, draw(B, 9, D)).equal(causal_mask(9, "cpu").to(device))


def test_an_attention_block_appends_its_context(draw, device, dtype, close):
    block = CausalAttentionBlock(D, key=5, value=4).to(device, dtype)
    x = draw(B, T, D)
    query, key, value = block.project_query(x), block.project_key(x), block.project_value(x)
    scores = scaled_dot(query, key).masked_fill(~causal_mask(T, device), -torch.inf)
    weights = scores.softmax(dim=-1)  # over the keys, the last axis
    found = block(x)
    assert block.width == found.shape[-1] == D + 4
    assert torch.equal(found[..., :D], x)
    close(found[..., D:], weights @ value)
    close(block.attend(x)[1], weights)


def test_each_query_has_weights_that_sum_to_one_over_itself_and_earlier_keys(draw, device, dtype, close):
    weights = CausalAttentionBlock(D, 5, 4).to(device, dtype).attend(draw(B, T, D))[1]
    assert weights.shape == (B, T, T)
    close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert (weights[:, ~causal_mask(T, device)] == 0).all()


def test_queries_and_keys_begin_alike_and_are_trained_apart(draw):
    block = CausalAttentionBlock(D, 5, 4)
    assert torch.equal(block.project_query.weight, block.project_key.weight)
    assert torch.equal(block.project_query.bias, block.project_key.bias)
    assert block.project_query.weight.data_ptr() != block.project_key.weight.data_ptr()


# ---- the whole network


def test_no_output_depends_on_a_later_input(model, draw, device):
    found = dependence(model, draw(B, T, D))
    assert not found[~causal_mask(T, device)].any()


def test_every_output_depends_on_every_earlier_input(model, draw, device):
    assert dependence(model, draw(B, T, D))[causal_mask(T, device)].all()


def test_a_prefix_has_the_same_outputs_as_the_whole(model, draw, close):
    x = draw(B, T, D)
    close(model(x[:, :4])[0], model(x)[0][:, :4])


@pytest.mark.parametrize(
    "blocks, width", [(("attention",), 3 + 6), (("convolutions",), 3 + 3 * 4), (None, 3 + 6 + 12 + 6)]
)
def test_the_output_layer_reads_all_features(blocks, width):
    chosen = {} if blocks is None else {"blocks": blocks}
    model = Snail(D, 2, T, **chosen, sizes=SIZES)
    assert model.output.in_features == width
    assert model(torch.zeros(B, T, D))[0].shape == (B, T, 2)


def test_sizes_left_out_are_32():
    model = Snail(D, 2, T)
    assert model.output.in_features == D + 32 + 3 * 32 + 32


def test_there_is_a_map_per_block_of_attention(model, draw, close):
    x = draw(B, T, D)
    maps = model.maps(x)
    assert len(maps) == sum(isinstance(block, CausalAttentionBlock) for block in model.blocks)
    for weights in maps:
        assert weights.shape == (B, T, T)
        assert not weights.requires_grad
    _, last = model(x)
    assert (last is None) == (not maps)
    if maps:
        close(last.detach(), maps[-1])
    if isinstance(model.blocks[0], CausalAttentionBlock):
        close(maps[0], model.blocks[0].attend(x)[1].detach())


def test_attention_alone_treats_earlier_positions_as_a_set_and_positions_tell_them_apart(draw, device, dtype):
    x = draw(B, T, 6)
    exchanged = x[:, [1, 0, *range(2, T)]]
    torch.manual_seed(0)
    models = {
        "set": Snail(6, 2, T, ("attention",), SIZES),
        "positions": Snail(6, 2, T, ("attention",), SIZES, positions=Sinusoidal(6)),
        "convolutions": Snail(6, 2, T, ("convolutions",), SIZES),
    }
    same = {
        name: torch.allclose(m.to(device, dtype)(x)[0][:, -1], m(exchanged)[0][:, -1]) for name, m in models.items()
    }
    assert same == {"set": True, "positions": False, "convolutions": False}


@pytest.mark.parametrize("blocks", [(), ("attention", "pooling")])
def test_blocks_that_there_are_not_are_refused(blocks):
    with pytest.raises(ValueError, match="blocks must be some of convolutions, attention, at least one; got"):
        Snail(D, 2, T, blocks)
