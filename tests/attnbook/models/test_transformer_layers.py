"""The layers equal torch's own, outputs and gradients, pre- and post-norm."""

import pytest
import torch
from torch import nn
from torch_layers import copy_layer

from attnbook.attention import LinearBias, Rotary, ScaledDot, Sharpened, causal_mask
from attnbook.models.transformer_layers import Around, DecoderLayer, EncoderLayer, FeedForward, TransformerConfig

DIM, HEADS, HIDDEN, B, T, TK = 12, 3, 20, 2, 5, 7


def config(norm="post", **changes):
    return TransformerConfig(dim=DIM, heads=HEADS, hidden=HIDDEN, norm=norm, positions="none", **changes)


def theirs(layer, norm):
    return layer(DIM, HEADS, HIDDEN, dropout=0.0, batch_first=True, norm_first=norm == "pre").double()


def shaken(layer):
    """The same layer with every parameter random, so that a forgotten bias or gain can't hide."""
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer.double()


@pytest.fixture
def words():
    return torch.randn(B, TK, DIM, dtype=torch.float64)


@pytest.fixture
def padding():
    return torch.arange(TK) < torch.tensor([[TK], [TK - 3]])  # (B, Tk), True = a real word


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("training", [True, False])
def test_encoder_layer_equals_torchs_in_output_and_gradient(norm, training, words, padding):
    ours, other = shaken(EncoderLayer(config(norm))).train(training), theirs(nn.TransformerEncoderLayer, norm)
    copy_layer(ours, other.train(training))
    mine, yours = words.clone().requires_grad_(), words.clone().requires_grad_()
    out, weights = ours(mine, padding[:, None])
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
    ours, other = shaken(DecoderLayer(config(norm))), theirs(nn.TransformerDecoderLayer, norm)
    copy_layer(ours, other)
    target = torch.randn(B, T, DIM, dtype=torch.float64)
    results, gradients = [], []
    for run in (
        lambda x, memory: ours(
            x, None, ours.cross_attention.remember(memory, memory), causal_mask(T), padding[:, None]
        )[0],
        lambda x, memory: other(x, memory, tgt_mask=~causal_mask(T), memory_key_padding_mask=~padding),
    ):
        x, memory = target.clone().requires_grad_(), words.clone().requires_grad_()
        results.append(run(x, memory))
        gradients.append(torch.autograd.grad((results[-1] * torch.arange(DIM)).sum(), (x, memory)))
    torch.testing.assert_close(*results, rtol=0, atol=1e-10)
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)


def test_decoder_layer_word_by_word_equals_all_at_once(words, padding):
    layer, target = shaken(DecoderLayer(config("pre"))), torch.randn(B, T, DIM, dtype=torch.float64)
    memory = layer.cross_attention.remember(words, words)
    whole, _, (own, across) = layer(target, None, memory, causal_mask(T), padding[:, None])
    past, parts = None, []
    for word in target.split(1, dim=1):
        part, past, _ = layer(word, past, memory, None, padding[:, None])
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    assert past.key.shape == (B, HEADS, T, DIM // HEADS)
    assert own.shape == (B, HEADS, T, T)
    assert across.shape == (B, HEADS, T, TK)


def test_feed_forward_treats_each_place_alike():
    layer, x = FeedForward(DIM, HIDDEN), torch.randn(B, T, DIM)
    torch.testing.assert_close(layer(x)[:, 2], layer(x[:, 2]))


def test_post_norm_normalises_the_sum_and_pre_norm_what_goes_in():
    x, double = torch.randn(B, T, DIM), lambda y: 2 * y
    post, pre = Around(config("post")), Around(config("pre"))
    torch.testing.assert_close(post(x, double), nn.functional.layer_norm(3 * x, (DIM,)))
    torch.testing.assert_close(pre(x, double), x + 2 * nn.functional.layer_norm(x, (DIM,)))


def test_without_norm_or_residual_the_sublayer_is_alone():
    x = torch.randn(B, T, DIM)
    torch.testing.assert_close(Around(config("none", residual=False))(x, torch.neg), -x)


def test_dropout_stands_after_the_sublayer_and_not_on_the_way_around():
    around, x = Around(config("none", dropout=0.5)).train(), torch.full((B, T, DIM), 3.0)
    change = around(x, torch.ones_like) - x
    assert set(change.flatten().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("changes", "own", "across"),
    [
        ({"positions": "rotary"}, Rotary, Rotary),
        ({"positions": "rotary", "cross_positions": "none"}, Rotary, ScaledDot),
        ({"positions": "linear_bias"}, LinearBias, LinearBias),
        ({"positions": "sinusoidal"}, ScaledDot, ScaledDot),
        ({"positions": "learned", "cross_positions": "linear_bias"}, ScaledDot, LinearBias),
        ({"positions": "none"}, ScaledDot, ScaledDot),
        ({"positions": "rotary", "scale": False}, Sharpened, Sharpened),
    ],
)
def test_the_configuration_chooses_the_scores(changes, own, across):
    chosen = TransformerConfig(**changes)
    assert type(chosen.self_score()) is own
    assert type(chosen.cross_score()) is across


CHOICES = [("norm", "batch"), ("positions", "absolute"), ("cross_positions", "sinusoidal")]


@pytest.mark.parametrize(("field", "value"), CHOICES)
def test_an_unknown_choice_is_named_beside_the_known_ones(field, value):
    with pytest.raises(ValueError, match=f"{field} must be one of .* got '{value}'"):
        TransformerConfig(**{field: value})


def test_only_towards_the_source_slopes_are_learnt():
    chosen = TransformerConfig(positions="linear_bias")
    assert not list(chosen.self_score().parameters())
    assert [parameter.shape for parameter in chosen.cross_score().parameters()] == [(chosen.heads,)]
    assert chosen.cross_score().slopes.tolist() == [1.0] * chosen.heads


def test_without_scale_the_scores_are_plain_dots():
    chosen = TransformerConfig(dim=DIM, heads=HEADS, positions="none", scale=False)
    query, key = torch.randn(B, HEADS, T, DIM // HEADS), torch.randn(B, HEADS, TK, DIM // HEADS)
    torch.testing.assert_close(chosen.self_score()(query, key), query @ key.mT)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": 0}, "layers must be at least 1, got 0"),
        ({"fused": True, "scale": False}, "fused=True knows only scaled dots"),
        ({"fused": True, "positions": "linear_bias"}, "fused=True knows only scaled dots"),
    ],
)
def test_choices_that_do_not_go_together_are_named_at_once(changes, message):
    with pytest.raises(ValueError, match=message):
        TransformerConfig(**changes)
