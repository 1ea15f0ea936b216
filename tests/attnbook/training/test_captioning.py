"""Losses of captioners; and that REINFORCE, with each baseline, has the exact gradient on average (by enumeration)."""

from itertools import product

import pytest
import torch
from torch import Tensor

from attnbook.attention import attention_weights
from attnbook.attention.hard import location_log_probs, value_at
from attnbook.data import shift_right
from attnbook.data.pictures.captions import WORDS, canvases
from attnbook.models.captioning import Captioner
from attnbook.training import sequence_loss
from attnbook.training.captioning import (
    CaptionLoss,
    HardCaptionLoss,
    advantage_parts,
    attention_entropy,
    doubly_stochastic_penalty,
    draw_locations,
    word_log_probs,
)
from attnbook.training.reinforce import MovingBaseline, leave_one_out_baseline, reinforce_loss, reward_to_go

# ---- the penalty


def test_the_penalty_follows_its_formula():
    weights = torch.tensor([[[0.5, 0.5, 0.0], [0.25, 0.0, 0.75]], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    first = (1 - 0.75) ** 2 + (1 - 0.5) ** 2 + (1 - 0.75) ** 2
    assert doubly_stochastic_penalty(weights).item() == pytest.approx((first + 3) / 2)


def test_padding_receives_no_attention_in_the_penalty():
    weights = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    assert doubly_stochastic_penalty(weights).item() == 0
    assert doubly_stochastic_penalty(weights, torch.tensor([[True, False]])).item() == 1


@pytest.mark.parametrize("shape, mask", [((2, 3), None), ((2, 3, 4), (2, 4))])
def test_shapes_that_do_not_fit_are_refused(shape, mask):
    with pytest.raises(ValueError, match=r"weights must be \(B, T, Tk\)"):
        doubly_stochastic_penalty(torch.ones(shape), None if mask is None else torch.ones(mask, dtype=torch.bool))


def test_entropy_counts_zero_as_zero():
    assert attention_entropy(torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).tolist() == pytest.approx([0.693147, 0])


# ---- losses


def model(attention: str) -> Captioner:
    torch.manual_seed(0)
    return Captioner(len(WORDS), attention, embedding=4, hidden=6)


def test_a_caption_loss_is_the_loss_of_words_and_the_penalty_per_word():
    batch, soft = canvases(3, 1), model("soft")
    out, real = soft(batch.image, shift_right(batch.target)), batch.target != 0
    words = sequence_loss(out.logits, batch.target)
    assert CaptionLoss()(soft, batch).item() == pytest.approx(words.item())
    penalty = 3 * doubly_stochastic_penalty(out.weights, real) / real.sum()
    assert CaptionLoss(2.0)(soft, batch).item() == pytest.approx((words + 2 * penalty).item())
    assert CaptionLoss(2.0)(model("mean"), batch).isfinite()  # no weights, no penalty


@pytest.mark.parametrize("loss", [HardCaptionLoss(), HardCaptionLoss(3, True, entropy=0.1), HardCaptionLoss(1, True)])
def test_a_hard_loss_gives_every_parameter_a_gradient(loss):
    hard = model("hard").train()
    loss(hard, canvases(3, 1)).backward()
    assert all(parameter.grad is not None for parameter in hard.parameters())
    assert hard.score.hidden_to_score.weight.grad.abs().sum() > 0


def test_without_reinforce_and_entropy_the_score_learns_nothing():
    hard = model("hard").train()
    HardCaptionLoss(weight=0.0)(hard, canvases(3, 1)).backward()
    assert hard.score.hidden_to_score.weight.grad.abs().sum() == 0


def test_draws_are_those_of_each_caption_read_anew():
    batch, hard = canvases(3, 1), model("hard").train()
    draws = draw_locations(hard, batch, samples=2)
    assert draws.words.shape == draws.locations.shape == draws.entropy.shape == (3, 2, 11)
    assert draws.real == 2 * (batch.target != 0).sum()
    padding = (batch.target == 0)[:, None].expand(-1, 2, -1)
    assert all((part[padding] == 0).all() for part in draws[:3])
    assert not torch.equal(draws.locations[:, 0], draws.locations[:, 1])


def test_rewards_and_baselines_by_recipe():
    draws = draw_locations(model("hard").train(), canvases(3, 1), samples=1)
    whole, zero = advantage_parts(draws, to_go=False, baseline=None)
    assert torch.equal(whole, draws.words.detach().sum(-1, keepdim=True))
    assert zero == 0.0
    to_go, first = advantage_parts(draws, to_go=True, baseline=MovingBaseline())
    assert torch.equal(to_go, reward_to_go(draws.words.detach()))
    assert first.tolist() == [0.0] * 11
    several = draw_locations(model("hard").train(), canvases(3, 1), samples=4)
    rewards, others = advantage_parts(several, to_go=True, baseline=MovingBaseline())
    assert torch.equal(others, leave_one_out_baseline(rewards))


# ---- unbiased: the mean over all draws, weighted by their probability, is the exact gradient


class Forced:
    """Reads the positions that it is given, one per step, in place of drawing them."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = iter(positions)

    def __call__(self, query, key, value, mask=None, *, score, sample=True):
        weights = attention_weights(query, key, mask, score=score)
        location = torch.full(query.shape[:2], next(self.positions))
        return value_at(value, location), weights, location


IMAGE = torch.rand(1, 1, 8, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)  # a grid of 2 × 2
TARGET = torch.tensor([[4, 2]])  # one word and the end symbol: two draws


@pytest.fixture
def enumerated():
    """All 16 sequences of two positions: log p of the words ``(16, 2)``, log α ``(16, 2)``, and the parameters."""
    hard = model("hard").double()
    words, locations = [], []
    for positions in product(range(4), repeat=2):
        hard.read = Forced(positions)
        out = hard(IMAGE, shift_right(TARGET))
        words.append(word_log_probs(out.logits, TARGET))
        locations.append(location_log_probs(out.weights, out.locations))
    words, locations = torch.cat(words), torch.cat(locations)
    parameters = list(hard.score.parameters())
    return words, locations, parameters


def gradient(loss: Tensor, parameters) -> Tensor:
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, parameters, retain_graph=True)])


def exact(words, locations, parameters) -> Tensor:
    """The gradient of E[log p(words)] for the attention, all sequences counted."""
    return gradient((locations.sum(dim=1).exp() * words.sum(dim=1)).sum(), parameters)


def estimates(locations, advantage, parameters) -> Tensor:
    """The estimate from each sequence alone: ``(16, number of parameters)``; minus, as a loss falls."""
    return -torch.stack([
        gradient(reinforce_loss(locations[i : i + 1], advantage[i : i + 1]), parameters) for i in range(len(locations))
    ])  # fmt: skip


def test_all_sequences_of_positions_are_counted(enumerated):
    _, locations, _ = enumerated
    assert locations.sum(dim=1).exp().sum().item() == pytest.approx(1.0)


@pytest.mark.parametrize("to_go", [False, True])
@pytest.mark.parametrize("baseline", [0.0, -3.0, 50.0])
def test_reinforce_is_unbiased_with_any_constant_baseline_and_with_reward_to_go(enumerated, to_go, baseline):
    words, locations, parameters = enumerated
    rewards = reward_to_go(words) if to_go else words.sum(dim=1, keepdim=True).expand_as(words)
    each = estimates(locations, (rewards - baseline).detach(), parameters)
    mean = (locations.sum(dim=1).exp().detach()[:, None] * each).sum(dim=0)
    assert torch.allclose(mean, exact(*enumerated), atol=1e-12)


def test_leave_one_out_is_unbiased_over_all_pairs_of_sequences(enumerated):
    words, locations, parameters = enumerated
    rewards, chance = reward_to_go(words).detach(), locations.sum(dim=1).exp().detach()
    mean = torch.zeros_like(exact(*enumerated))
    scores = torch.stack([  # ∇ log α of each sequence and step: (16, 2, parameters)
        torch.stack([gradient(locations[i, t], parameters) for t in range(2)]) for i in range(16)
    ])  # fmt: skip
    for i, j in product(range(16), repeat=2):
        pair = rewards[[i, j]][None]  # (1, 2, T)
        advantage = (pair - leave_one_out_baseline(pair))[0]  # (2, T)
        estimate = (advantage[..., None] * scores[[i, j]]).sum(dim=1).mean(dim=0)
        mean += chance[i] * chance[j] * estimate
    assert torch.allclose(mean, exact(*enumerated), atol=1e-12)


def test_a_baseline_lowers_the_variance_and_reward_to_go_does_too(enumerated):
    words, locations, parameters = enumerated
    chance = locations.sum(dim=1).exp().detach()[:, None]

    def variance(advantage):
        each = estimates(locations, advantage.detach(), parameters)
        return (chance * (each - exact(*enumerated)) ** 2).sum().item()

    whole, to_go = words.sum(dim=1, keepdim=True).expand_as(words), reward_to_go(words)
    assert variance(to_go) < variance(whole)
    assert variance(whole - (chance * whole).sum(dim=0)) < 0.5 * variance(whole)


def test_a_baseline_made_of_a_draws_own_reward_is_biased(enumerated):
    words, locations, parameters = enumerated
    rewards = words.sum(dim=1, keepdim=True).expand_as(words)
    each = estimates(locations, (rewards - 0.5 * rewards).detach(), parameters)
    mean = (locations.sum(dim=1).exp().detach()[:, None] * each).sum(dim=0)
    assert torch.allclose(mean, 0.5 * exact(*enumerated), atol=1e-12)


def test_a_model_without_attention_draws_nothing():
    with pytest.raises(ValueError, match="model must draw positions"):
        draw_locations(model("mean"), canvases(2, 1))


def test_the_penalty_of_no_caption_is_refused():
    with pytest.raises(ValueError, match="weights holds no caption"):
        doubly_stochastic_penalty(torch.ones(0, 2, 3))
