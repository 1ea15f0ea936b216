"""Bandits: regret by its definition, players by their rules, and the best player by trying every policy."""

import itertools
import math

import pytest
import torch

from attnbook.data.worlds import bandits
from attnbook.data.worlds.bandits import (
    at_random,
    bandit_arms,
    bayes_optimal,
    best_arm,
    best_value,
    greedy_mean,
    play,
    pull,
    regret,
    thompson,
    upper_confidence,
)
from attnbook.seeding import generator

PLAYERS = [at_random, thompson, upper_confidence, greedy_mean, bayes_optimal]

# ---- arms, payments, regret


def test_probabilities_are_uniform_and_fixed_by_the_seed():
    arms = bandit_arms(4000, seed=1)
    assert arms.shape == (4000, 5)
    assert torch.equal(arms, bandit_arms(4000, seed=1))
    assert not torch.equal(arms, bandit_arms(4000, seed=2))
    shares = torch.histc(arms, bins=10, min=0, max=1) / arms.numel()
    assert (shares - 0.1).abs().max() < 0.01


@pytest.mark.parametrize("count, arms", [(0, 5), (3, 0)])
def test_no_bandits_and_no_arms_are_refused(count, arms):
    with pytest.raises(ValueError, match=f"count and arms must be at least 1, got {count} and {arms}"):
        bandit_arms(count, arms=arms)


def test_an_arm_pays_as_often_as_its_probability_says():
    probabilities = torch.tensor([[0.2, 0.9]]).expand(20_000, -1)
    for arm, wanted in enumerate((0.2, 0.9)):
        paid = pull(probabilities, torch.full((20_000,), arm), generator(0))
        assert set(paid.tolist()) == {0.0, 1.0}
        assert paid.mean().item() == pytest.approx(wanted, abs=0.01)


def test_regret_by_hand():
    probabilities = torch.tensor([[0.2, 0.9, 0.5], [0.4, 0.1, 0.3]], dtype=torch.float64)
    pulled = torch.tensor([[0, 1, 2, 1], [0, 0, 0, 0]])
    wanted = torch.tensor([0.7 + 0 + 0.4 + 0, 0], dtype=torch.float64)
    torch.testing.assert_close(regret(probabilities, pulled), wanted)


@pytest.mark.parametrize("player", PLAYERS)
def test_regret_is_what_the_best_arm_earns_on_average_beyond_the_pulled_arms_and_never_negative(player):
    arms = bandit_arms(200, seed=3)
    pulled, _ = play(arms, player)
    assert (regret(arms, pulled) >= 0).all()
    earned = torch.stack([arms[i, pulled[i]].sum() for i in range(200)])
    torch.testing.assert_close(regret(arms, pulled), 10 * arms.max(dim=1).values - earned, rtol=1e-4, atol=1e-5)


# ---- playing


@pytest.mark.parametrize("player", PLAYERS)
def test_a_play_has_its_pulls_and_a_seed_fixes_it(player):
    arms = bandit_arms(50)
    pulled, paid = play(arms, player, seed=4)
    assert pulled.shape == paid.shape == (50, 10)
    assert 0 <= pulled.min() <= pulled.max() < 5
    again = play(arms, player, seed=4)
    assert torch.equal(pulled, again[0])
    assert torch.equal(paid, again[1])
    assert not torch.equal(paid, play(arms, player, seed=5)[1])


@pytest.mark.parametrize("player", PLAYERS)
def test_the_first_pull_knows_nothing_of_the_arms_even_with_their_seed(player):
    arms = bandit_arms(5000, seed=0)
    pulled, paid = play(arms, player, seed=0, pulls=1)
    assert arms.gather(1, pulled).mean().item() == pytest.approx(0.5, abs=0.02)
    assert paid.mean().item() == pytest.approx(0.5, abs=0.03)


def test_each_seed_of_bandits_is_a_seed_of_a_play():
    arms, paid = play(bandit_arms(2, 2**32 - 1), thompson, 2**32 - 1)
    assert arms.shape == paid.shape == (2, 10)


def test_a_player_is_given_what_was_pulled_and_what_it_paid():
    given = []

    def watch(pulls, wins, generator):
        given.append((pulls, wins))
        return torch.randint(5, (len(pulls),), generator=generator)

    pulled, paid = play(bandit_arms(30), watch, pulls=6)
    for t, (pulls, wins) in enumerate(given):
        for b in range(30):
            tried = pulled[b, :t].tolist()
            assert pulls[b].tolist() == [tried.count(k) for k in range(5)]
            assert wins[b].tolist() == [
                sum(p for a, p in zip(tried, paid[b].tolist(), strict=False) if a == k) for k in range(5)
            ]


# ---- the rules of the players


def test_a_random_player_pulls_all_arms_equally_often():
    arm = at_random(torch.zeros(20_000, 4), torch.zeros(20_000, 4), generator(0))
    assert (arm.bincount(minlength=4) / 20_000 - 0.25).abs().max() < 0.015


def test_thompson_pulls_an_arm_as_often_as_it_is_the_best_of_its_posterior():
    # three wins of three against an arm never tried: Beta(4, 1) against Beta(1, 1), and ∫ x⁴ dx = 1/5
    pulls, wins = (torch.tensor([[3.0, 0.0]]).expand(20_000, -1) for _ in range(2))
    arm = thompson(pulls, wins, generator(0))
    assert arm.double().mean().item() == pytest.approx(1 / 5, abs=0.01)


def test_thompson_counts_losses_too():
    # one loss of one, Beta(1, 2), against Beta(1, 1): the tried arm is better with probability ∫ (1 − x)² dx = 1/3
    pulls, wins = torch.tensor([[1.0, 0.0]]).expand(20_000, -1), torch.zeros(20_000, 2)
    arm = thompson(pulls, wins, generator(0))
    assert arm.double().mean().item() == pytest.approx(2 / 3, abs=0.015)


def test_gamma_variables_have_their_mean_and_variance():
    shape = torch.tensor([[1.0, 4.0, 11.0]]).expand(20_000, -1)
    numbers = bandits._gamma(shape, generator(0))
    torch.testing.assert_close(numbers.mean(dim=0), shape[0], rtol=0.03, atol=0)
    torch.testing.assert_close(numbers.var(dim=0), shape[0], rtol=0.06, atol=0)


def test_ucb1_tries_each_arm_once_and_then_the_largest_bound():
    pulled, _ = play(bandit_arms(20), upper_confidence, pulls=5)
    assert (pulled.sort(dim=1).values == torch.arange(5)).all()
    pulls, wins = torch.tensor([[4.0, 1.0, 5.0]]), torch.tensor([[3.0, 0.0, 3.0]])
    bounds = [w / n + math.sqrt(2 * math.log(10) / n) for w, n in ((3, 4), (0, 1), (3, 5))]
    assert upper_confidence(pulls, wins, generator(0)).item() == bounds.index(max(bounds)) == 1


def test_the_greedy_player_takes_the_largest_posterior_mean():
    pulls, wins = torch.tensor([[4.0, 0.0, 5.0], [3.0, 0.0, 1.0]]), torch.tensor([[1.0, 0.0, 4.0], [1.0, 0.0, 0.0]])
    assert greedy_mean(pulls, wins, generator(0)).tolist() == [2, 1]  # means 2/6, 1/2, 5/7 and 2/5, 1/2, 1/3


# ---- the best possible player


def chance_of(history):
    """How likely these payments are if probabilities are uniform: per arm ∫ pʷ (1 − p)ˡ dp = w! l! / (w + l + 1)!."""
    chance = 1.0
    for arm in {arm for arm, _ in history}:
        paid = [reward for pulled, reward in history if pulled == arm]
        wins, losses = sum(paid), len(paid) - sum(paid)
        chance *= math.factorial(wins) * math.factorial(losses) / math.factorial(wins + losses + 1)
    return chance


def value_of_policy(policy, horizon):
    """The expected reward of a table from what was paid so far to the next arm, over all sequences of payments."""
    value = 0.0
    for paid in itertools.product((0, 1), repeat=horizon):
        history = [(policy[paid[:t]], paid[t]) for t in range(horizon)]
        value += chance_of(history) * sum(paid)
    return value


@pytest.mark.parametrize("arms, horizon", [(2, 1), (2, 2), (2, 3), (3, 2)])
def test_the_best_value_is_that_of_the_best_of_all_policies(arms, horizon):
    situations = [paid for t in range(horizon) for paid in itertools.product((0, 1), repeat=t)]
    tables = itertools.product(range(arms), repeat=len(situations))
    best = max(value_of_policy(dict(zip(situations, table, strict=True)), horizon) for table in tables)
    assert best_value(((0, 0),) * arms, horizon) == pytest.approx(best, abs=1e-12)


def test_the_best_value_of_one_pull_is_the_largest_posterior_mean_and_of_none_0():
    assert best_value(((4, 1), (0, 0), (5, 4)), 1) == pytest.approx(5 / 7)
    assert best_value(((4, 1), (0, 0)), 0) == 0


def test_the_order_of_the_arms_does_not_matter_and_of_equal_arms_the_first_is_pulled():
    assert best_value(((2, 1), (0, 0), (3, 3)), 4) == pytest.approx(best_value(((3, 3), (2, 1), (0, 0)), 4))
    assert best_arm(((0, 0), (3, 3), (3, 3)), 4) == 1
    assert best_arm(((0, 0),) * 5, 10) == 0


def test_the_best_player_explores_while_pulls_are_left_and_exploits_at_the_end():
    # the tried arm has the larger mean, 3/5 against 1/2, but less is known about the other
    arms = ((3, 2), (0, 0))
    assert best_arm(arms, 1) == 0
    assert best_arm(arms, 9) == 1


def test_the_best_player_earns_its_value_and_more_than_the_others():
    arms = bandit_arms(4000)
    earned = {player.__name__: play(arms, player)[1].sum(dim=1) for player in PLAYERS}
    optimal = earned.pop("bayes_optimal")
    assert optimal.mean().item() == pytest.approx(best_value(((0, 0),) * 5, 10), abs=0.15)
    assert all(optimal.mean() > other.mean() for other in earned.values())


def test_the_best_player_plans_for_ten_pulls_and_says_so_after_them():
    with pytest.raises(ValueError, match="pulls must be fewer than 10 before another one, for which it plans, got 10"):
        play(bandit_arms(3), bayes_optimal, pulls=11)
