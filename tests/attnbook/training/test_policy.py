"""Policy gradients: unbiased by enumeration, with signs that raise what earned more than was expected."""

import itertools

import pytest
import torch
from torch import nn

from attnbook.seeding import generator
from attnbook.training.policy import Played, PolicyLoss, actor_critic_loss, play

ACTIONS, STEPS = 2, 2
FIRST = torch.tensor([0.3, -0.2], dtype=torch.float64)  # what the first action earns
SECOND = torch.tensor([[1.0, -1.5], [0.4, 2.0]], dtype=torch.float64)  # what the second one does, after the first


class TwoSteps:
    """Two actions, one after the other; an observation is the last action, one-hot, or "none yet"."""

    actions, steps = ACTIONS, STEPS

    def __init__(self, count):
        self.count, self.first = count, None

    def begin(self):
        return one_hot(torch.full((self.count,), ACTIONS))

    def act(self, action):
        reward = FIRST[action] if self.first is None else SECOND[self.first, action]
        self.first = action if self.first is None else self.first
        return one_hot(action), reward


def one_hot(action):
    return nn.functional.one_hot(action, ACTIONS + 1).double()


class Table(nn.Module):
    """Logits and expected reward by the last observation."""

    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(ACTIONS + 1, ACTIONS + 1, generator=generator(0), dtype=torch.float64))

    def forward(self, seen):
        return seen @ self.rows, None


@pytest.fixture
def policy():
    return Table()


def paths():
    """Every way through :class:`TwoSteps`, in one batch."""
    actions = torch.tensor(list(itertools.product(range(ACTIONS), repeat=STEPS)))  # (4, 2)
    world = TwoSteps(len(actions))
    seen, rewards = [world.begin()], []
    for action in actions.unbind(dim=1):
        after, reward = world.act(action)
        seen.append(after)
        rewards.append(reward)
    return Played(torch.stack(seen[:-1], dim=1), actions, torch.stack(rewards, dim=1))


def probability(policy, played):
    """Of each path, (4,)."""
    log_probs = policy(played.seen)[0][..., :ACTIONS].log_softmax(dim=-1)
    return log_probs.gather(-1, played.actions[..., None])[..., 0].sum(dim=1).exp()


def gradient(policy, scalar):
    return torch.autograd.grad(scalar, policy.rows)[0]


# ---- the loss


def expected_gradient(policy, **weights):
    """The mean of the loss's gradient over all paths, each with its probability."""
    played = paths()
    chance = probability(policy, played).detach()
    assert chance.sum().item() == pytest.approx(1)
    parts = []
    for i, share in enumerate(chance):
        one = Played(*(tensor[i : i + 1] for tensor in played))
        parts.append(share * gradient(policy, actor_critic_loss(policy(one.seen)[0], one, **weights)))
    return sum(parts)


def test_the_gradient_is_on_average_that_of_the_expected_reward(policy):
    """The loss is a mean over the steps, so the gradient is divided by them."""
    played = paths()
    expected = (probability(policy, played) * played.rewards.sum(dim=1)).sum()
    wanted = -gradient(policy, expected) / STEPS
    torch.testing.assert_close(expected_gradient(policy, entropy=0.0, value=0.0), wanted)


def test_the_baseline_changes_the_mean_of_the_gradient_not_at_all(policy):
    before = expected_gradient(policy, entropy=0.0, value=0.0)
    with torch.no_grad():
        policy.rows[:, -1] += torch.tensor([5.0, -3.0, 2.0])
    torch.testing.assert_close(expected_gradient(policy, entropy=0.0, value=0.0), before)


def test_drawn_episodes_give_the_same_gradient_but_for_noise(policy):
    world = TwoSteps(40_000)
    played = play(policy, world, generator(1))
    drawn = gradient(policy, actor_critic_loss(policy(played.seen)[0], played, entropy=0.0, value=0.0))
    torch.testing.assert_close(drawn, expected_gradient(policy, entropy=0.0, value=0.0), rtol=0, atol=0.02)


def one_step(rewards):
    """One action each, in a world that never changes."""
    count = len(rewards)
    return Played(torch.zeros(count, 1, 1), torch.zeros(count, 1, dtype=torch.long), torch.tensor(rewards)[:, None])


@pytest.mark.parametrize("earned, sign", [(2.0, 1), (0.5, -1)])
def test_an_action_gets_likelier_if_it_earned_more_than_was_expected(earned, sign):
    output = torch.tensor([[[0.0, 0.0, 0.0, 1.0]]], requires_grad=True)  # three actions, 1 expected
    actor_critic_loss(output, one_step([earned]), entropy=0.0, value=0.0).backward()
    step = -output.grad[0, 0]
    assert step[0].sign() == sign
    assert (step[1:3].sign() == -sign).all()
    assert step[3] == 0  # nothing flows through the baseline


@pytest.mark.parametrize("earned, sign", [(2.0, 1), (0.5, -1), (1.0, 0)])
def test_the_expected_reward_moves_towards_what_was_earned(earned, sign):
    output = torch.tensor([[[0.0, 0.0, 1.0]]], requires_grad=True)
    actor_critic_loss(output, one_step([earned]), entropy=0.0).backward()
    assert -output.grad[0, 0, -1].sign() == sign


def test_the_bonus_makes_a_decided_policy_less_decided():
    output = torch.tensor([[[2.0, 0.0, 1.0]]], requires_grad=True)
    actor_critic_loss(output, one_step([1.0]), entropy=1.0).backward()  # earned as expected: only the bonus is left
    step = -output.grad[0, 0]
    assert step[0] < 0 < step[1]


def test_the_loss_by_hand():
    output = torch.tensor([[[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]], dtype=torch.float64)
    played = Played(torch.zeros(1, 2, 1), torch.tensor([[0, 1]]), torch.tensor([[1.0, 2.0]], dtype=torch.float64))
    log_2 = torch.tensor(2.0, dtype=torch.float64).log()
    wanted = log_2 * (2.5 + 2) / 2 + 0.5 * (2.5**2 + 2**2) / 2 - 0.1 * log_2  # earned 3 and 2, expected 0.5 and 0
    torch.testing.assert_close(actor_critic_loss(output, played, entropy=0.1), wanted)


# ---- playing


def test_actions_are_drawn_with_the_policys_probabilities(policy):
    played = play(policy, TwoSteps(20_000), generator(0))
    assert played.seen.shape == (20_000, STEPS, ACTIONS + 1)
    assert played.actions.shape == played.rewards.shape == (20_000, STEPS)
    every = paths()
    for actions, wanted in zip(every.actions, probability(policy, every), strict=True):
        share = (played.actions == actions).all(dim=1).double().mean()
        assert share.item() == pytest.approx(wanted.item(), abs=0.015)


def test_observations_are_those_before_the_action_and_rewards_those_after_it(policy):
    played = play(policy, TwoSteps(50), generator(0))
    assert torch.equal(played.seen[:, 0], one_hot(torch.full((50,), ACTIONS)))
    assert torch.equal(played.seen[:, 1], one_hot(played.actions[:, 0]))
    assert torch.equal(played.rewards[:, 0], FIRST[played.actions[:, 0]])
    assert torch.equal(played.rewards[:, 1], SECOND[played.actions[:, 0], played.actions[:, 1]])
    assert not played.seen.requires_grad


def test_a_greedy_play_takes_the_likeliest_action_and_never_the_expected_reward(policy):
    with torch.no_grad():
        policy.rows[:, -1] = 100.0
    played = play(policy, TwoSteps(5), generator(0), greedy=True)
    assert torch.equal(played.actions, policy(played.seen)[0][..., :ACTIONS].argmax(dim=-1))


def test_a_seed_fixes_a_play(policy):
    one, same, other = (play(policy, TwoSteps(50), generator(seed)).actions for seed in (5, 5, 6))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


# ---- the loss of a step of training


def test_the_draws_of_a_step_depend_on_seed_and_step_alone(policy):
    def at(seed, step):
        return PolicyLoss(lambda batch, draw: TwoSteps(batch), 0.01, seed).at(step)(policy, 30)

    assert at(0, 3).item() == at(0, 3).item()
    assert len({at(seed, step).item() for seed in (0, 1) for step in (3, 4)}) == 4
    assert gradient(policy, at(0, 3)).abs().sum() > 0


def test_a_world_is_made_anew_of_each_batch_with_the_draws_of_the_step(policy):
    made = []

    def world_of(batch, draw):
        made.append((batch, draw.initial_seed()))
        return TwoSteps(batch)

    loss = PolicyLoss(world_of, 0.01, seed=1)
    loss.at(7)(policy, 3)
    loss.at(8)(policy, 3)
    assert made == [(3, 2 * 1_000_003 + 7), (3, 2 * 1_000_003 + 8)]


def test_training_finds_the_best_two_actions(policy):
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.1)
    loss = PolicyLoss(lambda batch, draw: TwoSteps(batch), 0.01, seed=0)
    for step in range(60):
        optimiser.zero_grad()
        loss.at(step)(policy, 200).backward()
        optimiser.step()
    played = play(policy, TwoSteps(1), generator(0), greedy=True)
    assert played.actions.tolist() == [[1, 1]]  # −0.2 first, then 2.0: the first step alone would say 0
