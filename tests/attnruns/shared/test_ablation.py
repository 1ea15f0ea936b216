"""Transformers with a part taken away: what is missing is missing, and all the rest is as it was."""

import pytest
import torch
from torch import nn

from attnbook.models import Block, Transformer, TransformerConfig
from attnruns.shared.ablation import (
    ItemCounting,
    UnscaledAttention,
    WithoutDecoderSelfAttention,
    WithoutEncoderSelfAttention,
    WithoutFeedForward,
    WithoutNorm,
    WithoutResidual,
    WithoutSelfAttention,
    switched_off,
)

SIZES = {"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12}
B, T, D = 2, 4, 8


def built(kind, cross=True, **changes) -> Block:
    torch.manual_seed(0)
    return kind(TransformerConfig(**SIZES, positions="none", **changes), cross=cross)


def read(block, x, memory):
    return block(x, memory=block.project_memory(memory)).x


@pytest.fixture
def x():
    return torch.randn(B, T, D, generator=torch.Generator().manual_seed(1))


def test_without_any_residual_connection_only_the_last_sublayer_is_left(x):
    block = built(WithoutResidual)
    nn.init.zeros_(block.feed_forward.narrow.weight)
    nn.init.constant_(block.feed_forward.narrow.bias, 2.0)
    assert read(block, x, x).eq(2).all()


@pytest.mark.parametrize("sublayer", ["self", "cross", "feed_forward"])
def test_a_single_residual_connection_can_be_left_out(x, sublayer):
    block, whole = built(WithoutResidual), built(Block)
    block.without = frozenset()
    torch.testing.assert_close(read(block, x, x), read(whole, x, x))
    block.without = frozenset({sublayer})
    assert not torch.allclose(read(block, x, x), read(whole, x, x), atol=1e-3)


def test_without_self_attention_words_of_one_sequence_never_meet(x):
    other = x.clone()
    other[:, 1:] = x[:, 1:].flip(-1)
    memory = x.flip(1)
    outputs = {
        kind: [read(built(kind), given, memory)[:, 0] for given in (x, other)] for kind in (WithoutSelfAttention, Block)
    }
    assert torch.equal(*outputs[WithoutSelfAttention])
    assert not torch.allclose(*outputs[Block], atol=1e-3)


@pytest.mark.parametrize("kind, cross", [(WithoutEncoderSelfAttention, False), (WithoutDecoderSelfAttention, True)])
def test_self_attention_is_left_out_on_one_side_alone(x, kind, cross):

    def outputs(side):
        """Of this kind, of a block without self-attention, and of a whole one: in a decoder, or in an encoder."""
        blocks = [built(each, cross=side) for each in (kind, WithoutSelfAttention, Block)]
        return [read(block, x, x) if side else block(x).x for block in blocks]

    left_out, nothing, whole = outputs(cross)
    assert torch.equal(left_out, nothing)
    assert not torch.allclose(left_out, whole, atol=1e-3)
    kept, nothing, whole = outputs(not cross)
    assert torch.equal(kept, whole)
    assert not torch.allclose(kept, nothing, atol=1e-3)


def test_without_norm_nothing_is_normalised_anywhere(x):
    model = Transformer(9, 9, TransformerConfig(**SIZES), WithoutNorm)
    assert not any(isinstance(part, nn.LayerNorm) for part in model.modules())
    block = built(WithoutNorm)
    out, _ = block.self_attention(x, x, x)
    by_hand = x + out
    crossed, _ = block.cross_attention(by_hand, x, x)
    by_hand = by_hand + crossed
    torch.testing.assert_close(read(block, x, x), by_hand + block.feed_forward(by_hand))


def test_without_feed_forward_only_attention_adds_to_the_stream(x):
    block, whole = built(WithoutFeedForward), built(Block)
    lost = {name for name, _ in whole.named_parameters()} - {name for name, _ in block.named_parameters()}
    assert {name.partition(".")[0] for name in lost} == {"feed_forward", "norm_feed_forward"}
    nn.init.zeros_(whole.feed_forward.narrow.weight)
    nn.init.zeros_(whole.feed_forward.narrow.bias)
    torch.testing.assert_close(read(block, x, x), read(whole, x, x))


def test_unscaled_scores_are_plain_dots(x):
    block, scaled = built(UnscaledAttention), built(Block)
    query = scaled.self_attention.project_query(x) * (D / 2) ** 0.5  # √(D/H)
    with torch.no_grad():
        scaled.self_attention.project_query.weight *= (D / 2) ** 0.5
        scaled.self_attention.project_query.bias *= (D / 2) ** 0.5
    torch.testing.assert_close(scaled.self_attention.project_query(x), query)
    torch.testing.assert_close(block.self_attention(x, x, x)[0], scaled.self_attention(x, x, x)[0])


def test_positions_towards_the_source_count_items():
    config = TransformerConfig(**SIZES, cross_positions="linear_bias")
    model = ItemCounting(9, 9, config, separators=(5, 6))
    source = torch.tensor([[3, 5, 4, 5, 7]])
    assert model.count_source(source).tolist() == [[0, 1, 1, 2, 2]]
    at, written = model.count_target(torch.tensor([[1, 3, 6, 4]]), torch.tensor([1]))
    assert at.tolist() == [[1, 1, 2, 2]]
    assert written.tolist() == [2]


def test_item_counting_word_by_word_equals_all_at_once():
    torch.manual_seed(0)
    model = ItemCounting(9, 9, TransformerConfig(**SIZES, cross_positions="linear_bias"), (5, 6)).eval()
    source, lengths = torch.tensor([[3, 5, 4, 5, 7], [4, 3, 0, 0, 0]]), torch.tensor([5, 2])
    read = torch.tensor([[1, 3, 6, 4], [1, 6, 6, 3]])
    state, stepped = model.start(source, lengths), []
    for token in read.unbind(dim=1):
        logits, state, _ = model.step(token, state)
        stepped.append(logits)
    torch.testing.assert_close(torch.stack(stepped, dim=1), model(source, lengths, read)[0])


# --- switched off, in a model that was trained with the part ---------------------------------------

PARTS = [
    "positions", "self-attention", "encoder self-attention", "decoder self-attention", "cross-attention",
    "feed-forward", "residual connections", "layer norm",
]  # fmt: skip
LENGTHS = torch.tensor([4])


def logits_of(model, source, target):
    with torch.no_grad():
        return model(source, LENGTHS, target)[0]


@pytest.fixture
def whole():
    torch.manual_seed(0)
    return Transformer(9, 9, TransformerConfig(**SIZES)).eval()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_missing_inside_the_with_and_back_behind_it(whole, part):
    source, target = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 7, 8]])
    before = logits_of(whole, source, target)
    with switched_off(whole, part):
        assert not torch.allclose(logits_of(whole, source, target), before, atol=1e-3)
    torch.testing.assert_close(logits_of(whole, source, target), before)


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal"])
def test_without_positions_the_order_of_the_source_makes_no_difference(positions):
    torch.manual_seed(0)
    model = Transformer(9, 9, TransformerConfig(**SIZES, positions=positions)).eval()
    target = torch.tensor([[1, 7, 8]])
    with switched_off(model, "positions"):
        one, other = (logits_of(model, torch.tensor([source]), target) for source in ([3, 4, 5, 6], [6, 3, 5, 4]))
    torch.testing.assert_close(one, other)


def test_without_cross_attention_the_source_makes_no_difference(whole):
    target = torch.tensor([[1, 7, 8]])
    with switched_off(whole, "cross-attention"):
        one, other = (logits_of(whole, torch.tensor([source]), target) for source in ([3, 4, 5, 6], [8, 8, 2, 4]))
    assert torch.equal(one, other)


def test_both_kinds_of_self_attention_are_those_of_encoder_and_decoder(whole):
    source, target = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 7, 8]])
    with switched_off(whole, "self-attention"):
        both = logits_of(whole, source, target)
    with switched_off(whole, "encoder self-attention"), switched_off(whole, "decoder self-attention"):
        torch.testing.assert_close(logits_of(whole, source, target), both)


def test_a_part_that_is_not_there_cannot_be_switched_off(whole):
    with pytest.raises(ValueError, match="got 'dropout'"), switched_off(whole, "dropout"):
        pass
