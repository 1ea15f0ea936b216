"""REINFORCE: its formula, and its baselines."""

import pytest
import torch

from attnbook.training.reinforce import MovingBaseline, leave_one_out_baseline, reinforce_loss, reward_to_go


def test_reward_to_go_adds_what_comes_later():
    assert reward_to_go(torch.tensor([[1.0, 2.0, 4.0]])).tolist() == [[7.0, 6.0, 4.0]]


def test_leave_one_out_is_the_mean_of_the_others():
    rewards = torch.tensor([[1.0, 2.0, 6.0], [3.0, 3.0, 3.0]])
    assert leave_one_out_baseline(rewards).tolist() == [[4.0, 3.5, 1.5], [3.0, 3.0, 3.0]]
    by_step = torch.stack([rewards, 2 * rewards], dim=-1)  # (B, N, T)
    assert leave_one_out_baseline(by_step)[0].tolist() == [[4.0, 8.0], [3.5, 7.0], [1.5, 3.0]]


@pytest.mark.parametrize("shape", [(3,), (3, 1), (2, 1, 3)])
def test_leave_one_out_needs_others(shape):
    with pytest.raises(ValueError, match="N of at least 2"):
        leave_one_out_baseline(torch.ones(shape))


def test_a_moving_baseline_knows_only_earlier_batches():
    baseline = MovingBaseline()
    assert baseline.update(torch.tensor([[2.0], [4.0]])).tolist() == [0.0]
    assert baseline.update(torch.tensor([[13.0]])).tolist() == [3.0]
    assert baseline.update(torch.tensor([[0.0]])).item() == pytest.approx(0.9 * 3 + 0.1 * 13)


def test_reinforce_follows_its_formula_and_no_gradient_flows_through_the_reward():
    log_probs = torch.tensor([[-1.0, -2.0], [-3.0, 0.0]], requires_grad=True)
    rewards = torch.tensor([[5.0], [1.0]], requires_grad=True)
    loss = reinforce_loss(log_probs, rewards, 2.0)
    assert loss.item() == pytest.approx(-((5 - 2) * -3 + (1 - 2) * -3) / 2)
    loss.backward()
    assert log_probs.grad.tolist() == [[-1.5, -1.5], [0.5, 0.5]]
    assert rewards.grad is None


@pytest.mark.parametrize("shapes", [((2, 3), (2,), ()), ((2, 3), (2, 1), (4,)), ((2,), (2,), ())])
def test_rewards_that_do_not_fit_are_refused(shapes):
    log_probs, rewards, baseline = map(torch.ones, shapes)
    with pytest.raises(ValueError, match="must fit log_probs"):
        reinforce_loss(log_probs, rewards, baseline)
