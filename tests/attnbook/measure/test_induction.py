"""Scores of induction heads against slow loops, and what it means to take a head away."""

import pytest
import torch
from torch import nn

from attnbook.attention import NoPositions
from attnbook.measure.induction import (
    after_earlier_occurrences,
    mean_contexts,
    prefix_matching_score,
    previous_word_score,
    without_head,
)
from attnbook.models import LanguageModel, TransformerConfig

WORDS = torch.tensor([[5, 6, 7, 5, 6, 5], [1, 2, 3, 4, 5, 4]])


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = LanguageModel(9, TransformerConfig(d_model=8, heads=2, layers=2, d_ff=12))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def test_positions_after_an_earlier_occurrence_by_a_slow_loop():
    found = after_earlier_occurrences(WORDS)
    for row, words in zip(found.tolist(), WORDS.tolist(), strict=True):
        for t, word in enumerate(words):
            assert row[t] == [0 < s <= t and words[s - 1] == word for s in range(len(words))]


def test_the_prefix_matching_score_by_a_slow_loop(device, dtype, close):
    weights = torch.rand(2, 3, 6, 6, generator=torch.Generator().manual_seed(0)).tril().to(device, dtype)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    totals, count = torch.zeros(3).to(device, dtype), 0
    for row, words in enumerate(WORDS.tolist()):
        for t, word in enumerate(words):
            after = [s for s in range(1, t + 1) if words[s - 1] == word]
            if after:
                totals, count = totals + weights[row, :, t, after].sum(dim=-1), count + 1
    close(prefix_matching_score(weights, WORDS.to(device)), totals / count)


def test_a_perfect_induction_head_scores_one_and_one_that_attends_to_the_word_itself_nothing():
    perfect = after_earlier_occurrences(WORDS).float()
    perfect = perfect / perfect.sum(dim=-1, keepdim=True).clamp_min(1)
    both = torch.stack([perfect, torch.eye(6).expand(2, 6, 6)], dim=1)
    assert prefix_matching_score(both, WORDS).tolist() == pytest.approx([1, 0])


def test_the_previous_word_score_is_the_weight_one_to_the_left():
    before = torch.zeros(2, 1, 4, 4)
    before[:, :, torch.arange(1, 4), torch.arange(3)] = torch.tensor([0.5, 1.0])[:, None, None]
    assert previous_word_score(before).tolist() == [0.75]


def test_scores_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match=r"weights must have shape \(2, H, 6, 6\) for words \(2, 6\), got \(2, 6, 6\)"):
        prefix_matching_score(torch.zeros(2, 6, 6), WORDS)
    with pytest.raises(ValueError, match="words holds no word twice in a sentence"):
        prefix_matching_score(torch.zeros(1, 2, 3, 3), torch.tensor([[3, 4, 5]]))


@pytest.mark.parametrize("kind", ["zero", "mean"])
def test_without_a_head_its_context_is_replaced_and_the_other_heads_are_left_alone(model, kind):
    attention = model.blocks.layers[0].self_attention
    means = mean_contexts(attention, model, WORDS)
    instead = torch.zeros(4, dtype=torch.float64) if kind == "zero" else means[1]
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    attention.positions = NoPositions()
    query, heads = attention.project_query(x), attention.project(x, x, torch.arange(6))
    weights = (query.view(2, 6, 2, 4).transpose(1, 2) @ heads.key.mT / 2).softmax(dim=-1)
    contexts = weights @ heads.value  # (B, H, T, D/H)
    contexts[:, 1] = instead
    wanted = attention.project_output(contexts.transpose(1, 2).flatten(2))
    with without_head(attention, 1, instead):
        got, seen = attention(x, x, x)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(seen, weights)


def test_after_the_block_the_head_is_there_again_even_after_an_error(model):
    attention, (before, _) = model.blocks.layers[1].self_attention, model(WORDS)

    def interrupted():
        with without_head(attention, 0):
            assert not torch.allclose(model(WORDS)[0], before)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        interrupted()
    assert torch.equal(model(WORDS)[0], before)


def test_mean_contexts_are_means_of_what_goes_into_the_output_projection(model):
    attention, seen = model.blocks.layers[1].self_attention, []
    handle = attention.project_output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    model(WORDS)
    handle.remove()
    found = mean_contexts(attention, model, WORDS)
    assert found.shape == (2, 4)
    torch.testing.assert_close(found.flatten(), seen[0].mean(dim=(0, 1)))


@pytest.mark.parametrize("head", [-1, 2])
def test_a_head_that_is_not_there_is_refused(model, head):
    with (
        pytest.raises(ValueError, match=f"head must be from 0 to 1, got {head}"),
        without_head(model.blocks.layers[0].self_attention, head),
    ):
        pass


@pytest.mark.parametrize("shape", [(2, 3, 1, 1), (0, 3, 4, 4)])
def test_without_a_position_before_another_there_is_no_score(shape):
    with pytest.raises(ValueError, match=r"weights must be \(B, H, T, T\) with B > 0 and T > 1, got"):
        previous_word_score(torch.ones(shape))
