"""The experiment about acting: its worlds do what they say, and its figures are what they are called."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.data.worlds import mazes
from attnbook.data.worlds.bandits import bandit_arms, regret
from attnbook.data.worlds.mazes import random_mazes
from attnbook.seeding import generator
from attnruns.experiments import acting
from attnruns.experiments.acting import BanditWorld, MazeWorld
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few tests, small batches."""
    monkeypatch.setattr(acting, "TESTS", 60)
    monkeypatch.setattr(acting, "TEST_MAZES", 20)
    for name, recipe in acting.RECIPES.items():
        monkeypatch.setitem(acting.RECIPES, name, replace(recipe, batch=4))


@pytest.mark.parametrize("name, best", once_on_the_card(acting.STEPS), indirect=["best"])
def test_a_run_trains_and_measures_the_policy_of_its_name(name, best, tmp_path):
    figures = checked_run(acting, Job(name, 0, 2), tmp_path, best, kept=name.endswith("snail"))
    measured = {"reward", "regret", "reward_greedy", "regret_greedy"}
    if name.startswith("maze"):
        measured = {"found_once", "found_twice", "first_round", "second_round", "shortest", "goals"}
    assert {"parameters", "seconds", "loss", "losses", "untrained"} | measured <= figures.keys()
    assert figures["untrained"].keys() == measured
    assert ("references" in figures) == name.startswith("bandit")


# ---- bandits


def test_a_bandit_shows_the_arm_and_its_payment():
    world = BanditWorld(torch.tensor([[1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0]]), generator(0))
    assert world.begin().tolist() == [[0] * 6] * 2
    seen, reward = world.act(torch.tensor([0, 4]))
    assert seen.tolist() == [[1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0]]
    assert reward.tolist() == [1, 0]


def test_players_with_a_fixed_rule_stand_in_their_order(monkeypatch):
    monkeypatch.setattr(acting, "TESTS", 2000)
    found = acting.reference_figures()
    assert found.keys() == {"random", "thompson", "ucb1", "greedy_mean", "optimal"}
    regrets = {name: figures["regret"] for name, figures in found.items()}
    assert min(regrets, key=regrets.get) == "optimal"
    assert max(regrets, key=regrets.get) == "random"
    best = bandit_arms(2000, acting.TEST_SEED).amax(dim=1).mean().item()
    for figures in found.values():  # what was earned is, but for luck, what the best arm would have, less the regret
        assert figures["reward"] == pytest.approx(10 * best - figures["regret"], abs=0.15)


class Always(nn.Module):
    """A policy that has one action in mind."""

    def __init__(self, action, actions):
        super().__init__()
        self.logits = 50 * nn.functional.one_hot(torch.tensor(action), actions + 1).float()

    def forward(self, seen):
        return self.logits.expand(*seen.shape[:2], -1), None


def test_the_figures_of_a_policy_that_always_pulls_one_arm():
    figures = acting.bandit_figures(Always(3, 5))
    arms = bandit_arms(60, acting.TEST_SEED)
    wanted = regret(arms, torch.full((60, 10), 3)).mean().item()
    assert figures["regret"] == figures["regret_greedy"] == pytest.approx(wanted, abs=1e-4)
    assert figures["reward"] == pytest.approx(10 * arms[:, 3].mean().item(), abs=0.6)


# ---- mazes


def walk_the_shortest_way(batch):
    """The rewards ``(B, T)`` and goals ``(B, T)`` of walkers that know the maze."""
    world, rewards = MazeWorld(batch), []
    to_goal = mazes.distances(batch.open, batch.goal)  # ways have two directions
    for _ in range(world.steps):
        cell = world.walk.cell
        after = [mazes.move(batch, world.walk, torch.full_like(cell, action)) for action in range(4)]
        left = torch.stack([to_goal.gather(1, w.cell[:, None])[:, 0] * ~w.found for w in after])  # (4, B)
        rewards.append(world.act(left.argmin(dim=0))[1])
    return torch.stack(rewards, dim=1), torch.stack(world.goals, dim=1)


def test_who_knows_the_maze_needs_the_shortest_way_twice_and_is_paid_for_two_goals():
    batch = random_mazes(30, seed=4, held_out=True)
    shortest = mazes.distances(batch.open, batch.start).gather(1, batch.goal[:, None])[:, 0]
    rewards, goals = walk_the_shortest_way(batch)
    in_time = 2 * shortest <= acting.WALK
    first, second = mazes.steps_per_round(goals)
    assert torch.equal(first, shortest.double())
    assert torch.equal(second[in_time], shortest[in_time].double())
    wanted = 2 * acting.A_GOAL + 2 * shortest * acting.A_STEP
    torch.testing.assert_close(rewards.sum(dim=1)[in_time], wanted[in_time].float())
    after = torch.arange(acting.WALK) >= 2 * shortest[:, None]
    assert (rewards[after] == 0).all()


def test_a_policy_that_walks_into_a_wall_finds_nothing():
    figures = acting.maze_figures(Always(mazes.STEP.index(-3), 4))  # north, again and again
    assert figures["found_twice"] == figures["goals"] - figures["found_once"]
    assert figures["found_once"] < 0.5
    none = {"first_round", "second_round", "shortest"}
    assert all((figures[name] is None) == (figures["found_twice"] == 0) for name in none)


def test_a_walk_has_an_observation_per_step_and_the_goals_after_it():
    batch = random_mazes(6)
    torch.manual_seed(0)
    played, goals = acting.walk(acting.build("maze_lstm").eval(), batch)
    assert played.seen.shape == (6, acting.WALK, 9)
    assert goals.shape == (6, acting.WALK)
    paid = played.rewards > 0
    assert torch.equal(paid.sum(dim=1), goals[:, -1].clamp(max=2))


def test_bandits_and_mazes_of_the_test_are_never_trained_on():
    train = acting.Bandits().batch_at(0, 4)
    assert torch.equal(train, bandit_arms(4, 1_000_003))
    assert not torch.equal(train, bandit_arms(4, acting.TEST_SEED))
    walls = acting.Walks().batch_at(0, 50).open.flatten(1)
    held_out = mazes.maze_pool()[: mazes.TESTS].flatten(1)
    assert not (walls[:, None] == held_out[None]).all(dim=-1).any()
