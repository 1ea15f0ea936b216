"""A block equals torch's own layers, with and without cross-attention, in outputs and gradients, pre- and post-norm."""

import pytest
import torch
from torch import nn
from torch_layers import copy_layer

from attnbook.attention import LinearBias, NoPositions, Rotary, causal_mask
from attnbook.models.block import BLOCKS, Block, FeedForward, PostNormBlock, SwiGLU, TransformerConfig

D_MODEL, HEADS, D_FF, B, T, TK = 12, 3, 20, 2, 5, 7


def config(norm="post", **changes):
    sizes = {"d_model": D_MODEL, "heads": HEADS, "d_ff": D_FF, "positions": "none"}
    return TransformerConfig(**{**sizes, "norm": norm, **changes})


def block(norm="post", cross=False, **changes):
    return BLOCKS[norm](config(norm, **changes), cross)


def theirs(layer, norm):
    return layer(D_MODEL, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=norm == "pre").double()


def shaken(layer):
    """The same layer with every parameter random, so that a forgotten bias or gain can't hide."""
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer.double()


@pytest.fixture
def words():
    return torch.randn(B, TK, D_MODEL, dtype=torch.float64)


@pytest.fixture
def padding():
    return torch.arange(TK) < torch.tensor([[TK], [TK - 3]])  # (B, Tk), True = a real word


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("training", [True, False])
def test_encoder_layer_equals_torchs_in_output_and_gradient(norm, training, words, padding):
    ours, other = shaken(block(norm)).train(training), theirs(nn.TransformerEncoderLayer, norm)
    copy_layer(ours, other.train(training))
    mine, yours = words.clone().requires_grad_(), words.clone().requires_grad_()
    out, _, weights, cross_weights = ours(mine, padding[:, None])
    assert cross_weights is None
    wanted = other(yours, src_key_padding_mask=~padding)
    real = padding[..., None]  # torch's fast path leaves padding at zero
    torch.testing.assert_close(out * real, wanted * real, rtol=0, atol=1e-10)
    assert weights.shape == (B, HEADS, TK, TK)
    push = torch.randn_like(out) * real
    for result in (out, wanted):
        (result * push).sum().backward()
    torch.testing.assert_close(mine.grad, yours.grad, rtol=0, atol=1e-10)
    torch.testing.assert_close(ours.feed_forward.widen.weight.grad, other.linear1.weight.grad, rtol=0, atol=1e-10)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_decoder_layer_equals_torchs_in_output_and_gradient(norm, words, padding):
    ours, other = shaken(block(norm, cross=True)), theirs(nn.TransformerDecoderLayer, norm)
    copy_layer(ours, other)
    target = torch.randn(B, T, D_MODEL, dtype=torch.float64)
    results, gradients = [], []
    for run in (
        lambda x, memory: ours(x, causal_mask(T), memory=ours.project_memory(memory, padding[:, None])).x,
        lambda x, memory: other(x, memory, tgt_mask=~causal_mask(T), memory_key_padding_mask=~padding),
    ):
        x, memory = target.clone().requires_grad_(), words.clone().requires_grad_()
        results.append(run(x, memory))
        gradients.append(torch.autograd.grad((results[-1] * torch.arange(D_MODEL)).sum(), (x, memory)))
    torch.testing.assert_close(*results, rtol=0, atol=1e-10)
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)


@pytest.mark.parametrize("positions", ["none", "rotary", "linear_bias"])
def test_word_by_word_a_block_reads_the_same_as_all_at_once(words, padding, positions):
    layer, target = (
        shaken(block("pre", cross=True, positions=positions)),
        torch.randn(B, T, D_MODEL, dtype=torch.float64),
    )
    memory = layer.project_memory(words, padding[:, None])
    whole, heads, weights, cross_weights = layer(target, causal_mask(T), memory=memory)
    past, parts = None, []
    for number, word in enumerate(target.split(1, dim=1)):
        part, past, _, _ = layer(word, None, past, memory, at=torch.tensor([number]))
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    torch.testing.assert_close(past.key, heads.key)
    assert past.key.shape == (B, HEADS, T, D_MODEL // HEADS)
    assert weights.shape == (B, HEADS, T, T)
    assert cross_weights.shape == (B, HEADS, T, TK)


def test_kept_keys_of_rotary_positions_are_turned_already():
    layer, x = shaken(block("pre", positions="rotary")), torch.randn(B, T, D_MODEL, dtype=torch.float64)
    kept = layer(x).heads.key
    projected = layer.self_attention.project_key(layer.norm_self(x)).view(B, T, HEADS, -1).transpose(1, 2)
    torch.testing.assert_close(kept[:, :, 0], projected[:, :, 0])
    torch.testing.assert_close(kept, layer.self_attention.positions.rotate(projected, torch.arange(T)))
    assert not torch.allclose(kept[:, :, 1:], projected[:, :, 1:])


def test_feed_forward_treats_each_place_alike():
    layer, x = FeedForward(D_MODEL, D_FF), torch.randn(B, T, D_MODEL)
    torch.testing.assert_close(layer(x)[:, 2], layer(x[:, 2]))


def silenced(layer):
    """The block with sublayers whose output is a constant c: 1 for attention, 2 for feed-forward."""
    for part, value in ((layer.self_attention.project_output, 1.0), (layer.feed_forward.narrow, 2.0)):
        nn.init.zeros_(part.weight)
        nn.init.constant_(part.bias, value)
    return layer


def test_post_norm_normalises_the_sum_and_pre_norm_what_goes_in():
    x = torch.randn(B, T, D_MODEL)
    torch.testing.assert_close(silenced(block("pre"))(x).x, x + 3)

    def normalised(y):
        return nn.functional.layer_norm(y, (D_MODEL,))

    torch.testing.assert_close(silenced(block("post"))(x).x, normalised(normalised(x + 1) + 2))


def test_dropout_stands_after_the_sublayers_and_not_on_the_residual_connection():
    layer, x = silenced(block("pre", dropout=0.5)).train(), torch.full((B, T, D_MODEL), 3.0)
    change = (layer(x).x - x).round(decimals=4)
    assert set(change.flatten().tolist()) == {0.0, 2.0, 4.0, 6.0}  # 1 / 0.5 and 2 / 0.5, each there or not


def test_only_a_block_with_cross_attention_has_its_parameters():
    alone, cross = (sum(p.numel() for p in block(cross=cross).parameters()) for cross in (False, True))
    assert cross - alone == 4 * (D_MODEL * D_MODEL + D_MODEL) + 2 * D_MODEL


def test_the_configuration_chooses_the_block():
    assert {"pre": Block, "post": PostNormBlock} == BLOCKS


@pytest.mark.parametrize(
    ("changes", "own", "cross"),
    [
        ({"positions": "rotary"}, Rotary, Rotary),
        ({"positions": "rotary", "cross_positions": "none"}, Rotary, NoPositions),
        ({"positions": "linear_bias"}, LinearBias, LinearBias),
        ({"positions": "sinusoidal"}, NoPositions, NoPositions),
        ({"positions": "learned", "cross_positions": "linear_bias"}, NoPositions, LinearBias),
        ({"positions": "none"}, NoPositions, NoPositions),
    ],
)
def test_the_configuration_chooses_the_positions(changes, own, cross):
    chosen = TransformerConfig(**changes)
    assert type(chosen.self_attention().positions) is own
    assert type(chosen.cross_attention().positions) is cross


CHOICES = [("norm", "batch"), ("positions", "absolute"), ("cross_positions", "sinusoidal")]
CHOICES += [("normalisation", "batch"), ("feed_forward", "tanh")]


@pytest.mark.parametrize(("field", "value"), CHOICES)
def test_an_unknown_choice_is_named_beside_the_known_ones(field, value):
    with pytest.raises(ValueError, match=f"{field} must be one of .* got '{value}'"):
        TransformerConfig(**{field: value})


def test_only_towards_the_source_slopes_are_learnt():
    chosen = TransformerConfig(positions="linear_bias")
    assert not list(chosen.self_attention().positions.parameters())
    cross = chosen.cross_attention().positions
    assert [parameter.shape for parameter in cross.parameters()] == [(chosen.heads,)]
    assert cross.slopes.tolist() == [1.0] * chosen.heads


def test_no_layers_are_refused():
    with pytest.raises(ValueError, match="layers must be at least 1, got 0"):
        TransformerConfig(layers=0)


# ---- the modern block


def test_rms_norm_divides_by_the_root_mean_square_and_multiplies_by_a_gain():
    norm, x = config(normalisation="rms").make_norm().double(), torch.randn(B, T, D_MODEL, dtype=torch.float64)
    nn.init.normal_(norm.weight)
    wanted = norm.weight * x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(norm(x), wanted)
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


def test_swiglu_is_its_formula():
    layer, x = SwiGLU(D_MODEL, 7).double(), torch.randn(B, T, D_MODEL, dtype=torch.float64)
    gate = x @ layer.gate.weight.T + layer.gate.bias
    wide = x @ layer.widen.weight.T + layer.widen.bias
    wanted = (gate / (1 + (-gate).exp()) * wide) @ layer.narrow.weight.T + layer.narrow.bias
    torch.testing.assert_close(layer(x), wanted)


def test_swiglu_has_as_many_weights_as_the_feed_forward_sublayer_in_whose_place_it_stands():
    plain, gated = (config(d_ff=24, feed_forward=kind, bias=False).make_feed_forward() for kind in ("relu", "swiglu"))
    assert type(plain) is FeedForward
    assert sum(p.numel() for p in gated.parameters()) == sum(p.numel() for p in plain.parameters())


@pytest.mark.parametrize("normalisation", ["layer", "rms"])
@pytest.mark.parametrize("feed_forward", ["relu", "swiglu"])
def test_without_biases_a_block_has_none(normalisation, feed_forward):
    layer = block("pre", cross=True, bias=False, normalisation=normalisation, feed_forward=feed_forward)
    assert [name for name, _ in layer.named_parameters() if "bias" in name] == []


def test_what_is_modern_is_left_out_unless_it_is_asked_for():
    usual = TransformerConfig()
    assert (usual.normalisation, usual.feed_forward, usual.key_value_heads, usual.bias) == ("layer", "relu", None, True)
    names = {name for name, _ in Block(usual).named_parameters()}
    assert not any("gate" in name for name in names)
    assert {"norm_self.bias", "feed_forward.widen.bias", "self_attention.project_key.bias"} <= names


MODERN = [
    {"normalisation": "rms"}, {"feed_forward": "swiglu"}, {"key_value_heads": 1}, {"bias": False},
    {"normalisation": "rms", "feed_forward": "swiglu", "key_value_heads": 1, "bias": False},
]  # fmt: skip


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("changes", MODERN, ids=lambda changes: "-".join(changes))
def test_word_by_word_a_modern_block_reads_the_same_as_all_at_once(norm, changes):
    layer = shaken(block(norm, positions="rotary", **changes))
    x = torch.randn(B, T, D_MODEL, dtype=torch.float64)
    whole, heads, _, _ = layer(x, causal_mask(T))
    past, parts = None, []
    for word in x.split(1, dim=1):
        part, past, _, _ = layer(word, None, past)
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    torch.testing.assert_close(past.key, heads.key)
    assert past.key.shape == (B, changes.get("key_value_heads", HEADS), T, D_MODEL // HEADS)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_what_a_block_remembers_is_what_it_would_keep_after_reading(norm):
    layer, x = shaken(block(norm, positions="rotary")), torch.randn(B, T, D_MODEL, dtype=torch.float64)
    past = layer(x[:, :2], causal_mask(2)).heads
    torch.testing.assert_close(layer.remember(x[:, 2:], past), layer(x, causal_mask(T)).heads)


@pytest.mark.parametrize("groups", [0, 2, 6])
def test_heads_that_groups_do_not_divide_are_refused(groups):
    with pytest.raises(ValueError, match=f"key_value_heads must divide heads = 3, got {groups}"):
        config(key_value_heads=groups)
