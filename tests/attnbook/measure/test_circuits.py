"""Circuits of two heads, against what can be said about tiny models."""

import pytest
import torch
from torch import nn

from attnbook.measure.circuits import ExchangedPaths, KeyComposition, contexts_of, copying_scores, written_by
from attnbook.measure.induction import mean_contexts, prefix_matching_score
from attnbook.measure.inside import attentions_of, residuals, without_heads
from attnbook.models import LanguageModel, TransformerConfig

WORDS = torch.tensor([[5, 6, 7, 5, 6, 7], [1, 2, 3, 1, 2, 3]])
CONFIG = TransformerConfig(d_model=8, heads=4, layers=2, d_ff=12, key_value_heads=2, bias=False)


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = LanguageModel(9, CONFIG)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.double().eval().requires_grad_(False)


def test_what_the_heads_write_is_together_what_attention_adds(model):
    contexts, layer = contexts_of(model, WORDS), model.blocks.layers[0]
    x = residuals(model, WORDS)[0]
    added, _ = layer.self_attention(*[layer.norm_self(x)] * 3, torch.ones(6, 6, dtype=torch.bool).tril())
    written = sum(written_by(layer.self_attention, contexts[0], head) for head in range(4))
    torch.testing.assert_close(written, added)
    torch.testing.assert_close(contexts[0].mean(dim=(0, 1)), mean_contexts(layer.self_attention, model, WORDS))


def test_with_all_writes_the_score_is_that_of_the_models_own_weights(model):
    measured = KeyComposition(model, WORDS, layer=1)
    torch.testing.assert_close(measured.scores(), prefix_matching_score(model.maps(WORDS)[1], WORDS))


def test_a_head_that_writes_nothing_is_not_missed_in_the_keys(model):
    attention = attentions_of(model)[0]
    attention.project_output.weight.data[:, 2:4] = 0  # of head 1
    measured = KeyComposition(model, WORDS, layer=1)
    torch.testing.assert_close(measured.scores((0, 1)), measured.scores())
    assert (measured.scores((0, 0)) - measured.scores()).abs().max() > 1e-3


def test_a_head_is_missed_in_the_keys_alone(model):
    layer, head = 1, (0, 2)
    block, x = model.blocks.layers[layer], residuals(model, WORDS)[layer]
    reduced = block.norm_self(x - written_by(attentions_of(model)[0], contexts_of(model, WORDS)[0], 2))
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    _, weights = block.self_attention(block.norm_self(x), reduced, reduced, mask)  # values do not change the weights
    found = KeyComposition(model, WORDS, layer).scores(head)
    torch.testing.assert_close(found, prefix_matching_score(weights, WORDS))


def test_only_an_earlier_head_can_be_left_out(model):
    with pytest.raises(ValueError, match="layer must be from 0 to 1, got 2"):
        KeyComposition(model, WORDS, layer=2)
    with pytest.raises(ValueError, match="a layer from 0 to 0, got 1"):
        KeyComposition(model, WORDS, layer=1).scores((1, 0))


def test_a_head_whose_matrices_pass_a_word_on_copies_it_and_one_that_turns_it_round_does_not():
    one = TransformerConfig(d_model=16, heads=1, layers=1, d_ff=12, positions="none", normalisation="rms", bias=False)
    model = LanguageModel(12, one).double().eval().requires_grad_(False)
    torch.nn.init.orthogonal_(model.embed.words.weight)
    attention = attentions_of(model)[0]
    attention.project_value.weight.data = torch.eye(16).double()
    words = torch.tensor([[0, 3, 4, 5]])
    for sign, score in ((1, 1.0), (-1, 0.0)):
        attention.project_output.weight.data = sign * torch.eye(16).double()
        assert copying_scores(model, words, range(12), best=1).tolist() == [[score]]
    with pytest.raises(ValueError, match="not among the candidates"):
        copying_scores(model, words, [3, 4])


def test_grouped_heads_share_their_values(model):
    attention = attentions_of(model)[0]
    attention.project_output.weight.data[:, 2:4] = attention.project_output.weight[:, 0:2]  # heads 0 and 1 write alike
    found = copying_scores(model, WORDS, range(9), best=3)
    assert found.shape == (2, 4)
    assert found[0, 0] == found[0, 1]


def test_a_mean_in_place_of_zeros(model):
    attentions = attentions_of(model)
    means = mean_contexts(attentions[1], model, WORDS)
    with without_heads(attentions, [(1, 0)], [means[0]]):
        contexts = contexts_of(model, WORDS)
        changed = model(WORDS)[0]
    assert (changed - model(WORDS)[0]).abs().max() > 1e-6
    assert len(contexts) == 2
    with pytest.raises(ValueError, match="one value per head, 1, got 0"), without_heads(attentions, [(1, 0)], []):
        pass


HEADS = [(layer, head) for layer in range(2) for head in range(4)]


def test_without_a_reader_an_exchange_changes_nothing(model):
    logits, maps = ExchangedPaths(model, WORDS, [(0, 1), (0, 2)]).read()
    torch.testing.assert_close(logits, model(WORDS)[0])
    torch.testing.assert_close(maps, list(model.maps(WORDS)))


def test_all_paths_together_are_the_head_with_what_it_found_in_the_other_sequence(model):
    found = contexts_of(model, WORDS)[0][:, :, 2].roll(1, dims=0)
    with without_heads(attentions_of(model), [(0, 2)], [found]):
        wanted, weights = model(WORDS)[0], model.maps(WORDS)
    paths = ExchangedPaths(model, WORDS, [(0, 2)])
    logits, maps = paths.read(HEADS, HEADS, HEADS, feed_forward=(0, 1), output=True)
    torch.testing.assert_close(logits, wanted)
    torch.testing.assert_close(maps[1], weights[1])
    assert (logits - model(WORDS)[0]).abs().max() > 1e-3


def test_other_writers_are_exchanged_as_if_they_had_been_named_at_first(model):
    paths = ExchangedPaths(model, WORDS, [(0, 2)])
    before, _ = paths.read(keys=[(1, 1)])
    other, _ = paths.with_writers([(0, 0), (0, 3)]).read(keys=[(1, 1)])
    wanted, _ = ExchangedPaths(model, WORDS, [(0, 0), (0, 3)]).read(keys=[(1, 1)])
    torch.testing.assert_close(other, wanted)
    assert (other - before).abs().max() > 1e-5
    torch.testing.assert_close(paths.read(keys=[(1, 1)])[0], before)  # the first ones are as they were


def test_only_the_keys_of_the_named_head_read_the_exchange(model):
    (writer, reader), attention = ((0, 2), (1, 1)), model.blocks.layers[1].self_attention
    paths = ExchangedPaths(model, WORDS, [writer])
    _, maps = paths.read(keys=[reader])
    usual = model.maps(WORDS)[1]
    torch.testing.assert_close(maps[1][:, [0, 2, 3]], usual[:, [0, 2, 3]])
    norm, x = model.blocks.layers[1].norm_self, residuals(model, WORDS)[1]
    wrote = written_by(attentions_of(model)[0], contexts_of(model, WORDS)[0], 2)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    _, weights = attention(norm(x), norm(x - wrote + wrote.roll(1, dims=0)), norm(x), mask)
    torch.testing.assert_close(maps[1][:, 1], weights[:, 1])
    assert (maps[1][:, 1] - usual[:, 1]).abs().max() > 1e-3


def test_one_sequence_has_no_other_to_exchange_with(model):
    with pytest.raises(ValueError, match="two sequences or more"):
        ExchangedPaths(model, WORDS[:1], [(0, 1)])
