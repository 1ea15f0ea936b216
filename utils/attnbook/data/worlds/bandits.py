"""Bandits: arms that pay with unknown probabilities, and players, from a random to the best possible one (chapter 15).

A player sees which arms it pulled and what they paid. Its regret is how much more the best arm would have paid on
average than the arms that it pulled.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from attnbook.seeding import generator

ARMS, PULLS = 5, 10
PLAYS = 1_000_000_007  # the first of the seeds with which bandits are played; those of the arms are smaller
Player = Callable[[Tensor, Tensor, torch.Generator], Tensor]  # (pulls, wins (B, K), generator) -> arm (B,)


def bandit_arms(count: int, seed: int = 0, arms: int = ARMS) -> Tensor:
    """Probabilities ``(B, K)``, drawn uniformly between 0 and 1, with which the arms pay 1; otherwise they pay 0.

    Raises:
        ValueError: if ``count`` or ``arms`` is not positive.

    Source: Duan et al. 2016; Mishra et al. 2018, section 5.2.1.
    """
    if count < 1 or arms < 1:
        raise ValueError(f"count and arms must be at least 1, got {count} and {arms}")
    return torch.rand(count, arms, generator=generator(seed))


def pull(probabilities: Tensor, arm: Tensor, generator: torch.Generator) -> Tensor:
    """What the ``arm (B,)`` of each bandit pays, 0 or 1: ``(B,)``."""
    return probabilities.gather(1, arm[:, None])[:, 0].bernoulli(generator=generator)


def regret(probabilities: Tensor, arms: Tensor) -> Tensor:
    """How much more the best arm would have paid on average than the pulled ``arms (B, N)``, over all pulls: ``(B,)``.

    It is counted with the true ``probabilities (B, K)`` and not with the payments, so luck does not enter.
    """
    best = probabilities.amax(dim=1, keepdim=True)  # (B, 1)
    return (best - probabilities.gather(1, arms)).sum(dim=1)


# ---- players that follow a fixed rule; each is given how often each arm was pulled and paid, (B, K)


def at_random(pulls: Tensor, wins: Tensor, generator: torch.Generator) -> Tensor:
    """Any arm, each with the same probability."""
    return torch.randint(pulls.shape[1], (len(pulls),), generator=generator)


def thompson(pulls: Tensor, wins: Tensor, generator: torch.Generator) -> Tensor:
    """Draw each arm's probability from its posterior, Beta(wins + 1, losses + 1), and pull the arm with the largest.

    Source: Thompson 1933.
    """
    # If G and L are gamma variables with shapes wins + 1 and losses + 1, then G / (G + L) has that beta distribution.
    rows = torch.stack([_gamma(1 + wins, generator), _gamma(1 + pulls - wins, generator)])  # (2, B, K)
    return (rows[0] / rows.sum(dim=0)).argmax(dim=1)


def upper_confidence(pulls: Tensor, wins: Tensor, generator: torch.Generator) -> Tensor:
    """UCB1: the arm with the largest mean + √(2 ln n / pulls) after n pulls in all; each arm is tried once first.

    Source: Auer, Cesa-Bianchi and Fischer 2002, figure 1.
    """
    total = pulls.sum(dim=1, keepdim=True).clamp(min=1)
    bound = wins / pulls + (2 * total.log() / pulls).sqrt()
    return bound.masked_fill(pulls == 0, torch.inf).argmax(dim=1)


def greedy_mean(pulls: Tensor, wins: Tensor, generator: torch.Generator) -> Tensor:
    """The arm with the largest posterior mean, (wins + 1) / (pulls + 2); it never explores on purpose."""
    return ((wins + 1) / (pulls + 2)).argmax(dim=1)


def _gamma(shape: Tensor, generator: torch.Generator) -> Tensor:
    """Gamma variables with whole-numbered shapes: each is a sum of that many exponential variables."""
    most = int(shape.max())
    exponentials = -torch.rand(*shape.shape, most, generator=generator).clamp(min=1e-12).log()
    return (exponentials * (torch.arange(most) < shape[..., None])).sum(dim=-1)


def play(probabilities: Tensor, player: Player, seed: int = 0, pulls: int = PULLS) -> tuple[Tensor, Tensor]:
    """Let a player pull ``pulls`` times at each bandit ``(B, K)``: the arms ``(B, N)`` and what they paid ``(B, N)``.

    The draws are others than those of :func:`bandit_arms` with the same seed. Were they the same, the first numbers
    that a player draws would be the very probabilities that it should not know.
    """
    draw, tried = generator((PLAYS + seed) % 2**32), torch.zeros_like(probabilities)
    wins, arms, paid = torch.zeros_like(tried), [], []
    for _ in range(pulls):
        arm = player(tried, wins, draw)  # (B,)
        reward = pull(probabilities, arm, draw)
        one = torch.nn.functional.one_hot(arm, tried.shape[1])
        tried, wins = tried + one, wins + one * reward[:, None]
        arms.append(arm)
        paid.append(reward)
    return torch.stack(arms, dim=1), torch.stack(paid, dim=1)


# ---- the best possible player


@cache
def best_value(arms: tuple[tuple[int, int], ...], left: int) -> float:
    """The largest expected reward of the ``left`` pulls that remain, for arms given as (pulls, wins).

    It follows from Bellman's equation: the best arm now is the one after which the best policy earns most. The order
    of the arms does not matter, so they are sorted, and equal situations are computed once.
    """
    if left == 0:
        return 0.0
    return max(_value_of(arms, which, left) for which in _different(arms))


def best_arm(arms: tuple[tuple[int, int], ...], left: int) -> int:
    """The arm that the best player pulls, for ``arms`` in any order; of equal ones the first."""
    return max(range(len(arms)), key=lambda which: (_value_of(arms, which, left), -which))


def bayes_optimal(pulls: Tensor, wins: Tensor, generator: torch.Generator) -> Tensor:
    """The player with the largest expected reward in ``PULLS`` pulls, if the arms' probabilities are uniform.

    Raises:
        ValueError: if it is asked for more pulls than that, because it plans for ``PULLS``.
    """
    states, which = torch.stack([pulls, wins], dim=-1).long().unique(dim=0, return_inverse=True)  # (S, K, 2), (B,)
    left = PULLS - int(pulls[0].sum())
    if left < 1:
        raise ValueError(f"pulls must be fewer than {PULLS} before another one, for which it plans, got {PULLS - left}")
    return torch.tensor([best_arm(tuple((n, w) for n, w in arms), left) for arms in states.tolist()])[which]


def _different(arms: tuple[tuple[int, int], ...]) -> list[int]:
    return [arms.index(arm) for arm in set(arms)]


def _value_of(arms: tuple[tuple[int, int], ...], which: int, left: int) -> float:
    pulls, wins = arms[which]
    chance = (wins + 1) / (pulls + 2)  # the posterior mean: Laplace's rule of succession
    won = best_value(_after(arms, which, 1), left - 1)
    lost = best_value(_after(arms, which, 0), left - 1)
    return chance * (1 + won) + (1 - chance) * lost


def _after(arms: tuple[tuple[int, int], ...], which: int, won: int) -> tuple[tuple[int, int], ...]:
    pulls, wins = arms[which]
    return tuple(sorted((*arms[:which], (pulls + 1, wins + won), *arms[which + 1 :])))
