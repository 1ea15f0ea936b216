"""Hard attention: draws follow the weights, nothing flows through them, and REINFORCE is unbiased (by enumeration)."""

import math
from itertools import product

import pytest
import torch

from attnbook.attention import attend, dot
from attnbook.attention.hard import (
    gumbel_noise,
    hard_attend,
    location_log_probs,
    sample_location,
    straight_through_attend,
    value_at,
)
from attnbook.training.reinforce import MovingBaseline, reinforce_loss

READS = [hard_attend, straight_through_attend]


@pytest.fixture
def asked(draw):
    """A query, keys and values: ``B, Tq, Tk, D = 2, 3, 4, 5``."""
    return draw(2, 3, 5), draw(2, 4, 5), draw(2, 4, 6)


# ---- draws


def test_positions_are_drawn_as_often_as_their_weights_say(device):
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3], device=device).expand(1, 20_000, -1)
    location = sample_location(weights, torch.Generator(device).manual_seed(0))
    assert location.shape == (1, 20_000)
    shares = location.flatten().bincount(minlength=4) / 20_000
    assert torch.allclose(shares, weights[0, 0], atol=0.015)
    assert shares[1] == 0


def test_adding_gumbel_noise_and_taking_the_largest_is_a_draw_from_the_weights(device):
    weights = torch.tensor([0.1, 0.6, 0.3], device=device)
    log_weights = weights.log().expand(40_000, -1)
    noisy = log_weights + gumbel_noise(log_weights, torch.Generator(device).manual_seed(0))
    assert torch.allclose(noisy.argmax(-1).bincount() / 40_000, weights, atol=0.015)


@pytest.mark.parametrize("weights", [torch.ones(2, 3), torch.tensor([[[0.5, 0.5], [0.0, 0.0]]])])
def test_weights_that_cannot_be_drawn_from_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        sample_location(weights)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("sample", [True, False])
def test_the_context_is_the_value_at_one_position_and_the_weights_those_of_soft_attention(read, sample, asked, close):
    query, key, value = asked
    context, weights, location = read(query, key, value, score=dot, sample=sample)
    close(weights, attend(query, key, value, score=dot)[1])
    assert location.shape == (2, 3)
    for b, q in product(range(2), range(3)):
        close(context[b, q], value[b, location[b, q]])
    if not sample:
        assert torch.equal(location, weights.argmax(dim=-1))


@pytest.mark.parametrize("read", READS)
def test_the_same_generator_draws_the_same_positions(read, asked, device):
    first, again = (read(*asked, score=dot, generator=torch.Generator(device).manual_seed(3))[2] for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("sample", [True, False])
def test_nothing_is_drawn_where_the_mask_is_closed(read, sample, asked, close):
    query, key, value = asked
    mask = torch.tensor([[[True, False, True, False]], [[False, True, False, False]]], device=query.device)
    _, weights, location = read(query, key, value, mask, score=dot, sample=sample)
    close(weights, attend(query, key, value, mask, score=dot)[1])
    assert mask.expand_as(weights).gather(-1, location[..., None]).all()


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("sample", [True, False])
def test_a_query_that_may_attend_to_nothing_has_no_position_to_draw(read, sample):
    query, key = torch.ones(2, 3, 5), torch.ones(2, 4, 5)
    with pytest.raises(ValueError, match="weights has a row of zeros: a query that may attend to nothing"):
        read(query, key, key, torch.zeros(2, 3, 1, dtype=torch.bool), sample=sample)


@pytest.mark.parametrize("read", READS)
def test_shapes_that_do_not_fit_are_refused(read, asked):
    query, key, value = asked
    with pytest.raises(ValueError):
        read(query, key[:, :3], value)


def test_a_temperature_that_is_not_positive_is_refused(asked):
    with pytest.raises(ValueError, match="temperature must be positive, got 0"):
        straight_through_attend(*asked, temperature=0)


def test_no_gradient_goes_through_a_draw_but_one_through_straight_through(asked):
    query, key, value = asked
    query.requires_grad_()
    value.requires_grad_()
    hard_attend(query, key, value, score=dot)[0].sum().backward()
    assert query.grad is None
    assert value.grad.sum().item() == pytest.approx(2 * 3 * 6)  # each context is one value
    straight_through_attend(query, key, value, score=dot)[0].square().sum().backward()
    assert query.grad.abs().sum() > 0


def test_straight_through_has_the_gradient_of_the_softmax(asked, close):
    query, key, value = asked
    query.requires_grad_()
    (ours,) = torch.autograd.grad(straight_through_attend(query, key, value, score=dot, sample=False)[0].sum(), query)
    (soft,) = torch.autograd.grad(attend(query, key, value, score=dot)[0].sum(), query)
    close(ours, soft)


def test_value_at_takes_rows(draw, close):
    value = draw(2, 4, 3)
    close(value_at(value, torch.tensor([[3], [0]], device=value.device))[:, 0], torch.stack([value[0, 3], value[1, 0]]))


# ---- rewards and baselines


def test_log_probabilities_of_what_was_drawn():
    weights = torch.tensor([[[0.25, 0.75], [1.0, 0.0]]])
    assert location_log_probs(weights, torch.tensor([[1, 1]]))[0, 0].item() == pytest.approx(math.log(0.75))
    assert location_log_probs(weights, torch.tensor([[1, 1]])).isfinite().all()


def test_no_rewards_are_refused_and_spoil_no_baseline():
    with pytest.raises(ValueError, match="log_probs holds no caption"):
        reinforce_loss(torch.ones(0, 3), torch.ones(0, 3))
    baseline = MovingBaseline()
    baseline.update(torch.ones(2, 3))
    with pytest.raises(ValueError, match="rewards must hold one at least"):
        baseline.update(torch.ones(0, 3))
    assert baseline.update(torch.ones(2, 3)).tolist() == [1, 1, 1]


def test_near_temperature_0_the_choice_is_one_hot_and_its_gradient_is_a_number():
    query, key, value = torch.randn(1, 2, 3, requires_grad=True), torch.randn(1, 4, 3), torch.randn(1, 4, 5)
    context, _, location = straight_through_attend(query, key, value, sample=False, temperature=1e-39)
    torch.testing.assert_close(context, value_at(value, location))
    context.sum().backward()
    assert query.grad.isfinite().all()
