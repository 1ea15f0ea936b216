"""Learning to act: play episodes with a policy, and make more likely what brought more than was expected (chapter 15)."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention.hard import reward_to_go
from attnbook.seeding import generator


class World(Protocol):
    """Tasks to act in, a batch of them; each step sees something, acts, and is paid."""

    actions: int
    steps: int

    def begin(self) -> Tensor:
        """What is seen before the first action, ``(B, F)``."""

    def act(self, action: Tensor) -> tuple[Tensor, Tensor]:
        """Do ``action (B,)``: what is seen next ``(B, F)``, and the reward ``(B,)``."""


class Played(NamedTuple):
    """What happened: ``seen (B, T, F)``, ``actions (B, T)`` and ``rewards (B, T)`` of each step."""

    seen: Tensor
    actions: Tensor
    rewards: Tensor


@torch.no_grad()
def play(policy: nn.Module, world: World, draw: torch.Generator, greedy: bool = False) -> Played:
    """Act in ``world``, each action drawn with the policy's probabilities, or the likeliest one if ``greedy``.

    Args:
        policy: ``(B, T, F) -> (B, T, actions + 1)``, logits of the actions and, last, the reward expected from here on.
    """
    seen, actions, rewards = [world.begin()], [], []
    for _ in range(world.steps):
        logits = policy(torch.stack(seen, dim=1))[:, -1, : world.actions]  # (B, actions)
        action = logits.argmax(-1) if greedy else logits.softmax(-1).multinomial(1, generator=draw)[:, 0]
        after, reward = world.act(action)
        seen.append(after)
        actions.append(action)
        rewards.append(reward)
    return Played(torch.stack(seen[:-1], dim=1), torch.stack(actions, dim=1), torch.stack(rewards, dim=1))


def actor_critic_loss(output: Tensor, played: Played, entropy: float, value: float = 0.5) -> Tensor:
    """REINFORCE whose baseline is the value that the policy expects; with a bonus for undecided actions.

    Args:
        output: ``(B, T, actions + 1)``, the policy's output for what was seen.
        entropy, value: weights of the bonus and of the squared error of the expected value.

    Returns:
        a scalar.

    Source: Williams 1992; Mnih et al. 2016, section 4, with whole episodes instead of a few steps.
    """
    log_probs, expected = output[..., :-1].log_softmax(dim=-1), output[..., -1]  # (B, T, A), (B, T)
    earned = reward_to_go(played.rewards)  # (B, T)
    surprise = (earned - expected).detach()
    chosen = log_probs.gather(-1, played.actions[..., None])[..., 0]  # (B, T)
    bonus = -(log_probs.exp() * log_probs).sum(dim=-1)
    return -(chosen * surprise).mean() + value * F.mse_loss(expected, earned) - entropy * bonus.mean()


class PolicyLoss:
    """The loss of a policy on a batch of tasks: play them, then :func:`actor_critic_loss`.

    Args:
        world_of: makes a :class:`World` of a batch. entropy: weight of the bonus. seed: of the actions drawn.
    """

    def __init__(self, world_of: Callable[..., World], entropy: float, seed: int) -> None:
        self.world_of, self.entropy, self.seed = world_of, entropy, seed

    def at(self, step: int) -> Callable[[nn.Module, NamedTuple], Tensor]:
        """The loss of this step; its draws depend on the step alone, so that a resumed training sees the same."""

        def loss(model: nn.Module, batch: NamedTuple) -> Tensor:
            draw = generator(1_000_003 * (self.seed + 1) + step)
            played = play(model, self.world_of(batch, draw), draw)
            return actor_critic_loss(model(played.seen), played, self.entropy)

        return loss
