"""Looking inside a language model, against what can be said about tiny ones."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from attnbook.measure.inside import (
    added_at_end,
    attentions_of,
    cache_bytes,
    contributions,
    first_position_share,
    logit_lens,
    read_on,
    read_under,
    residuals,
    sinks_and_window,
    surprises,
    without_each_block,
    without_heads,
)
from attnbook.models import LanguageModel, TransformerConfig

WORDS = torch.tensor([[5, 6, 7, 5, 6, 5], [1, 2, 3, 4, 5, 4]])
CONFIG = TransformerConfig(d_model=8, heads=4, layers=2, d_ff=12, key_value_heads=2)


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = LanguageModel(9, CONFIG)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval().requires_grad_(False)


def test_surprise_is_the_logarithm_of_the_next_words_probability():
    logits = torch.randn(2, 6, 9, generator=torch.Generator().manual_seed(0))
    found = surprises(logits, WORDS)
    assert found.shape == (2, 5)
    for row, t in ((0, 0), (1, 4)):
        wanted = -logits[row, t].softmax(dim=-1)[WORDS[row, t + 1]].log()
        torch.testing.assert_close(found[row, t], wanted)


def test_the_share_of_the_first_position_is_a_mean_over_later_queries():
    weights = torch.zeros(1, 2, 4, 4)
    weights[0, 0, :, 0] = 1.0
    weights[0, 1] = torch.eye(4)
    assert first_position_share(weights, after=1).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="after must lie between 1 and 3, got 4"):
        first_position_share(weights, after=4)


def test_a_window_counts_the_present_word_and_sinks_never_show_the_future():
    assert sinks_and_window(5, 2, 1)[4].tolist() == [True, False, False, True, True]
    assert sinks_and_window(5, 2, 0)[4].tolist() == [False, False, False, True, True]
    assert sinks_and_window(5, 2, 4)[0].tolist() == [True, False, False, False, False]


def test_with_the_usual_mask_it_is_the_usual_model(model):
    assert torch.allclose(read_under(model, WORDS, sinks_and_window(6, 6, 0)), model(WORDS)[0])
    assert not torch.allclose(read_under(model, WORDS, sinks_and_window(6, 2, 0)), model(WORDS)[0])


def test_a_model_that_goes_on_from_any_block_gives_the_same_answer(model):
    whole = model(WORDS)[0]
    for block, x in enumerate(residuals(model, WORDS)):
        assert torch.allclose(read_on(model, x, block), whole)
        assert torch.allclose(read_on(model, x, block, since=-1), whole[:, -1:])
    assert not torch.allclose(read_on(model, residuals(model, WORDS)[0], 1), whole)


def test_a_reading_with_the_first_blocks_ends_where_the_whole_one_passes(model):
    whole = residuals(model, WORDS)
    for blocks in range(3):
        some = residuals(model, WORDS, blocks=blocks)
        assert len(some) == blocks + 1
        assert all(torch.equal(a, b) for a, b in zip(some, whole, strict=False))


def test_the_last_layer_of_the_lens_is_the_models_answer(model):
    seen, lens = residuals(model, WORDS), logit_lens(model, WORDS)
    assert len(seen) == len(lens) == 3
    assert torch.equal(seen[0], model.embed(WORDS))
    assert torch.allclose(lens[-1], model(WORDS)[0][:, -1])
    assert torch.allclose(lens[0], model.output(model.blocks.last_norm(model.embed(WORDS)))[:, -1])


def test_without_all_heads_a_layer_adds_only_its_bias(model):
    attentions = attentions_of(model)
    with without_heads(attentions, [(1, head) for head in range(4)]):
        found = model(WORDS)[0]
    attentions[1].project_output.weight.data.zero_()
    assert torch.equal(found, model(WORDS)[0])
    with pytest.raises(ValueError, match="layer must be from 0 to 1, got 2"), without_heads(attentions, [(2, 0)]):
        pass


def test_bytes_of_the_cache_are_those_that_it_holds(model):
    _, state, _ = model.float().read(WORDS[:1], model.start())
    held = sum(part.numel() * part.element_size() for heads in state.past for part in heads)
    assert held == cache_bytes(CONFIG) * WORDS.shape[1]
    assert cache_bytes(TransformerConfig(d_model=8, heads=4, layers=2), 2) == 2 * 2 * 8 * 2


@pytest.fixture
def summed():
    """As Llama has it: RMSNorm, so that the last norm subtracts nothing."""
    torch.manual_seed(0)
    model = LanguageModel(9, replace(CONFIG, normalisation="rms"))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval().requires_grad_(False)


def test_a_logit_is_the_sum_of_what_the_word_vector_and_each_sublayer_add(summed):
    direction = summed.output.weight[3] - summed.output.weight[5]
    found = contributions(summed, WORDS, direction)
    assert found.shape == (5, 2)  # the word vector, and two sublayers in each of two layers
    logits = summed(WORDS)[0][:, -1]
    torch.testing.assert_close(found.sum(dim=0), logits[:, 3] - logits[:, 5])


def test_a_sublayer_that_writes_nothing_contributes_nothing(summed):
    summed.blocks.layers[1].self_attention.project_output.weight.zero_()
    summed.blocks.layers[1].self_attention.project_output.bias.zero_()
    found = contributions(summed, WORDS, summed.output.weight[3])
    assert found[3].abs().max() < 1e-12
    assert found[4].abs().min() > 1e-6
    assert not summed.blocks.layers[0].norm_feed_forward._forward_pre_hooks  # nothing is left behind


def test_a_norm_that_subtracts_a_mean_gives_no_such_sum(model):
    with pytest.raises(ValueError, match="must be an RMSNorm, got LayerNorm"):
        contributions(model, WORDS, torch.zeros(8))


def test_without_a_block_its_input_goes_on_unchanged(model):
    found = without_each_block(model, WORDS)
    assert found.shape == (3,)
    torch.testing.assert_close(found[0], surprises(model(WORDS)[0], WORDS).mean())
    between = residuals(model, WORDS)
    skipped = model.output(model.blocks.last_norm(between[1]))  # without the second and last block
    torch.testing.assert_close(found[2], surprises(skipped, WORDS).mean())
    assert abs(found[1] - found[0]) > 1e-4


def test_a_vector_is_added_at_the_end_and_nowhere_else(model):
    vector = torch.arange(8).double()
    before = residuals(model, WORDS)
    with added_at_end(model, 1, vector):
        after = residuals(model, WORDS)
    assert torch.equal(after[0], before[0])
    torch.testing.assert_close(after[1][:, -1], before[1][:, -1] + vector)
    assert torch.equal(after[2][:, :-1], before[2][:, :-1])
    assert not torch.allclose(after[2][:, -1], before[2][:, -1])
    assert torch.equal(residuals(model, WORDS)[1], before[1])


@pytest.mark.parametrize("block", [0, 3])
def test_a_block_that_is_not_there_is_refused(model, block):
    with pytest.raises(ValueError, match="block must be from 1 to 2"), added_at_end(model, block, torch.zeros(8)):
        pass
