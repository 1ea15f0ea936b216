"""Transformers with a part taken away: what is missing is missing, and all the rest is as it was."""

import pytest
import torch
from torch import nn

from attnbook.models import Block, Transformer, TransformerConfig
from attnruns.shared.ablation import (
    ItemCounting,
    UnscaledAttention,
    WithoutFeedForward,
    WithoutNorm,
    WithoutResidual,
    WithoutSelfAttention,
)

SIZES = {"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12}
B, T, D = 2, 4, 8


def built(kind, **changes) -> Block:
    torch.manual_seed(0)
    return kind(TransformerConfig(**SIZES, positions="none", **changes), cross=True)


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
