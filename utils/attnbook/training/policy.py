"""Policy gradients: play episodes, then make actions likelier that earned more than was expected (chapter 15)."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_of_step
from attnbook.training.losses import ChangingLoss
from attnbook.training.reinforce import reward_to_go


class World(Protocol):
    """A batch of tasks to act in. Each has ``steps`` steps with ``actions`` possible actions."""

    actions: int
    steps: int

    def begin(self) -> Tensor:
        """The observations before the first action, ``(B, F)``."""

    def act(self, action: Tensor) -> tuple[Tensor, Tensor]:
        """Do ``action (B,)``: the next observations ``(B, F)`` and the rewards ``(B,)``."""


class Played(NamedTuple):
    """What happened at each step.

    Fields:
        seen: ``(B, T, F)``, the observations before each action.
        actions: ``(B, T)`` long.
        rewards: ``(B, T)``, what each action earned.
    """

    seen: Tensor
    actions: Tensor
    rewards: Tensor


@evaluating
def play(policy: nn.Module, world: World, generator: torch.Generator, greedy: bool = False) -> Played:
    """Act in ``world``: each action is drawn with the policy's probabilities, or is the likeliest one if ``greedy``.

    Args:
        policy: ``(B, T, F) -> ((B, T, actions + 1), weights)``: logits of the actions, then the expected rewards to
            come.
        world: a fresh one, because acting changes it.
        generator: of the random numbers with which actions are drawn.
    """
    return _episode(policy, world, generator, greedy)


@torch.no_grad()
def _episode(policy: nn.Module, world: World, generator: torch.Generator, greedy: bool = False) -> Played:
    """As :func:`play`, in the mode that the policy is in."""
    seen, actions, rewards = [world.begin()], [], []
    for _ in range(world.steps):
        logits = policy(torch.stack(seen, dim=1))[0][:, -1, : world.actions]  # (B, actions)
        action = logits.argmax(-1) if greedy else logits.softmax(-1).multinomial(1, generator=generator)[:, 0]
        after, reward = world.act(action)
        seen.append(after)
        actions.append(action)
        rewards.append(reward)
    return Played(torch.stack(seen[:-1], dim=1), torch.stack(actions, dim=1), torch.stack(rewards, dim=1))


def actor_critic_loss(output: Tensor, played: Played, entropy: float, value: float = 0.5) -> Tensor:
    """REINFORCE with the expected reward as its baseline, and an entropy bonus that keeps the policy exploring.

    Args:
        output: ``(B, T, actions + 1)``, the policy's output for ``played.seen``.
        entropy: weight of the bonus.
        value: weight of the squared error of the expected rewards.

    Returns:
        a scalar, the mean over all steps.

    Source: Williams 1992; Mnih et al. 2016, section 4, with whole episodes instead of a few steps. Mishra et al. 2018
    train with trust region policy optimisation instead.
    """
    log_probs, expected = output[..., :-1].log_softmax(dim=-1), output[..., -1]  # (B, T, A), (B, T)
    earned = reward_to_go(played.rewards)  # (B, T)
    advantage = (earned - expected).detach()  # a baseline changes no gradient's mean, so nothing flows through it
    chosen = log_probs.gather(-1, played.actions[..., None])[..., 0]  # (B, T)
    bonus = -(log_probs.exp() * log_probs).sum(dim=-1)
    return -(chosen * advantage).mean() + value * F.mse_loss(expected, earned) - entropy * bonus.mean()


class PolicyLoss(ChangingLoss):
    """The loss of a policy on a batch of tasks: play them, then :func:`actor_critic_loss`.

    Args:
        world_of: ``(batch, draw) -> World``, a fresh one for each step of training.
        entropy: weight of the bonus.
        seed: of the draws.
    """

    def __init__(self, world_of: Callable[..., World], entropy: float, seed: int) -> None:
        self.world_of, self.entropy, self.seed = world_of, entropy, seed

    def at(self, step: int) -> Callable[[nn.Module, NamedTuple], Tensor]:
        """The loss of one step; its draws depend on seed and step alone, so a resumed training repeats them."""

        def loss(model: nn.Module, batch: NamedTuple) -> Tensor:
            draw = generator(seed_of_step(self.seed, step), next(model.parameters()).device)
            played = _episode(model, self.world_of(batch, draw), draw)  # by the policy whose gradient is wanted
            return actor_critic_loss(model(played.seen)[0], played, self.entropy)

        return loss
