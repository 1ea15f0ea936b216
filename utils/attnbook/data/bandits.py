"""Bandits: arms that pay with unknown probabilities, and ways to pull them, from chance to the best possible (chapter 15).

A player sees what it pulled and what it got. Its reward is what it got in all pulls; its regret, what the best arm
would have brought more, on average.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from attnbook.seeding import generator

ARMS, PULLS = 5, 10
PLAYS = 1_000_000_007  # the first of the seeds with which bandits are played; those of the arms are smaller
Player = Callable[[Tensor, Tensor, torch.Generator], Tensor]  # (pulls, wins (B, K), draw) -> arm (B,)


def bandit_arms(count: int, seed: int = 0, arms: int = ARMS) -> Tensor:
    """Probabilities ``(B, K)`` with which the arms pay 1, each uniform between 0 and 1; else they pay 0.

    Raises:
        ValueError: if ``count`` or ``arms`` is not positive.

    Source: Duan et al. 2016, section 3.2; Mishra et al. 2018, section 5.2.1.
    """
    if count < 1 or arms < 1:
        raise ValueError(f"count and arms must be at least 1, got {count} and {arms}")
    return torch.rand(count, arms, generator=generator(seed))


def pull(probabilities: Tensor, arm: Tensor, draw: torch.Generator) -> Tensor:
    """What the ``arm (B,)`` of each bandit pays, 0 or 1: ``(B,)``."""
    return probabilities.gather(1, arm[:, None])[:, 0].bernoulli(generator=draw)


def regret(probabilities: Tensor, arms: Tensor) -> Tensor:
    """What the best arm would have brought more than the pulled ``arms (B, N)``, on average, in all pulls: ``(B,)``."""
    best = probabilities.amax(dim=1, keepdim=True)  # (B, 1)
    return (best - probabilities.gather(1, arms)).sum(dim=1)


# ---- players that know the rules and learn nothing


def at_random(pulls: Tensor, wins: Tensor, draw: torch.Generator) -> Tensor:
    """Any arm."""
    return torch.randint(pulls.shape[1], (len(pulls),), generator=draw)


def thompson(pulls: Tensor, wins: Tensor, draw: torch.Generator) -> Tensor:
    """Draw each arm's probability from what is believed of it, a beta distribution, and take the largest.

    Source: Thompson 1933.
    """
    rows = torch.stack([_gamma(1 + wins, draw), _gamma(1 + pulls - wins, draw)])  # two gammas make a beta
    return (rows[0] / rows.sum(dim=0)).argmax(dim=1)


def upper_confidence(pulls: Tensor, wins: Tensor, draw: torch.Generator) -> Tensor:
    """UCB1: the mean plus √(2 ln n / pulls), so that what was seldom tried is tried again.

    Source: Auer, Cesa-Bianchi and Fischer 2002, figure 1.
    """
    total = pulls.sum(dim=1, keepdim=True).clamp(min=1)
    bound = wins / pulls + (2 * total.log() / pulls).sqrt()
    return bound.masked_fill(pulls == 0, torch.inf).argmax(dim=1)


def greedy_mean(pulls: Tensor, wins: Tensor, draw: torch.Generator) -> Tensor:
    """The arm with the largest believed mean, (wins + 1) / (pulls + 2), with nothing tried for the sake of knowing."""
    return ((wins + 1) / (pulls + 2)).argmax(dim=1)


def _gamma(shape: Tensor, draw: torch.Generator) -> Tensor:
    """Gamma variables with whole-numbered shapes up to ``PULLS + 1``: sums of that many exponential ones."""
    most = int(shape.max())
    exponentials = -torch.rand(*shape.shape, most, generator=draw).clamp(min=1e-12).log()
    return (exponentials * (torch.arange(most) < shape[..., None])).sum(dim=-1)


def play(probabilities: Tensor, player: Player, seed: int = 0, pulls: int = PULLS) -> tuple[Tensor, Tensor]:
    """Let a player pull ``pulls`` times at each bandit ``(B, K)``: the arms ``(B, N)`` and what they paid ``(B, N)``.

    The draws are others than those of :func:`bandit_arms` with the same seed. Were they the same, the first numbers
    that a player draws would be the very probabilities that it should not know.
    """
    draw, tried = generator(PLAYS + seed), torch.zeros_like(probabilities)
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
    """The largest expected reward in the ``left`` pulls that remain, for arms of (pulls, wins) each.

    Every policy is tried, by Bellman's equation; the order of the arms does not matter, so they are sorted.
    """
    if left == 0:
        return 0.0
    return max(_value_of(arms, which, left) for which in _different(arms))


def best_arm(arms: tuple[tuple[int, int], ...], left: int) -> int:
    """The arm that the best player pulls, for ``arms`` in any order; of equal ones the first."""
    return max(range(len(arms)), key=lambda which: (_value_of(arms, which, left), -which))


def bayes_optimal(pulls: Tensor, wins: Tensor, draw: torch.Generator) -> Tensor:
    """The player with the largest expected reward, if the arms' probabilities are uniform and pulls are ``PULLS``."""
    states, which = torch.stack([pulls, wins], dim=-1).long().unique(dim=0, return_inverse=True)  # (S, K, 2), (B,)
    left = PULLS - int(pulls[0].sum())
    return torch.tensor([best_arm(tuple((n, w) for n, w in arms), left) for arms in states.tolist()])[which]


def _different(arms: tuple[tuple[int, int], ...]) -> list[int]:
    return [arms.index(arm) for arm in set(arms)]


def _value_of(arms: tuple[tuple[int, int], ...], which: int, left: int) -> float:
    pulls, wins = arms[which]
    chance = (wins + 1) / (pulls + 2)  # what is believed of the arm after so many wins (Laplace's rule)
    won = best_value(_after(arms, which, 1), left - 1)
    lost = best_value(_after(arms, which, 0), left - 1)
    return chance * (1 + won) + (1 - chance) * lost


def _after(arms: tuple[tuple[int, int], ...], which: int, won: int) -> tuple[tuple[int, int], ...]:
    pulls, wins = arms[which]
    return tuple(sorted((*arms[:which], (pulls + 1, wins + won), *arms[which + 1 :])))
