"""Learning to explore: bandits, and mazes that are walked twice, by SNAIL and by an LSTM (chapter 15)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.worlds import bandits, mazes
from attnbook.data.worlds.bandits import ARMS, PULLS, bandit_arms
from attnbook.data.worlds.mazes import MOVES, Mazes, random_mazes
from attnbook.device import best_device, device_of
from attnbook.models import LSTMTagger
from attnbook.models.snail import Snail, SnailSizes
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnbook.training.policy import Played, PolicyLoss, play
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

WALK = 20  # steps of a walk; the goal may be found twice in it
A_STEP, A_GOAL = -0.02, 1.0  # rewards in a maze
TESTS, TEST_SEED = 10_000, 0  # bandits of the test; training begins at 1,000,003
TEST_MAZES = 2000
TRAINING: dict[str, Any] = {"learning_rate": 1e-2, "warmup": 50, "max_grad_norm": 1.0}
PLAYERS = {
    "random": bandits.at_random,
    "thompson": bandits.thompson,
    "ucb1": bandits.upper_confidence,
    "greedy_mean": bandits.greedy_mean,
    "optimal": bandits.bayes_optimal,
}


class BanditWorld:
    """Bandits to be pulled ten times. An observation is the last arm, one-hot, and what it paid."""

    actions, steps = ARMS, PULLS

    def __init__(self, probabilities: Tensor, generator: torch.Generator) -> None:
        self.probabilities, self.draw = probabilities, generator

    def begin(self) -> Tensor:
        """Nothing was pulled yet: zeros ``(B, 6)``."""
        return self.probabilities.new_zeros(len(self.probabilities), ARMS + 1)

    def act(self, action: Tensor) -> tuple[Tensor, Tensor]:
        """Pull ``action (B,)``: that arm and its payment ``(B, 6)``, and the payment again, ``(B,)``."""
        reward = bandits.pull(self.probabilities, action, self.draw)
        return torch.cat([F.one_hot(action, ARMS).float(), reward[:, None]], dim=1), reward


class MazeWorld:
    """Mazes to be walked until the goal was found twice; each step costs a little."""

    actions, steps = MOVES, WALK

    def __init__(self, batch: Mazes, generator: torch.Generator | None = None) -> None:
        self.mazes, self.walk = batch, mazes.enter(batch)
        self.goals: list[Tensor] = []

    def begin(self) -> Tensor:
        """The walls of the first cell, ``(B, 9)``."""
        return mazes.view(self.mazes, self.walk)

    def act(self, action: Tensor) -> tuple[Tensor, Tensor]:
        """Move: the next observations ``(B, 9)`` and the rewards ``(B,)``, which are 0 after the second goal."""
        walking = self.walk.goals < 2  # (B,)
        self.walk = mazes.move(self.mazes, self.walk, action)
        self.goals.append(self.walk.goals)
        reward = walking * (A_STEP + A_GOAL * self.walk.found)
        return mazes.view(self.mazes, self.walk), reward


class Bandits:
    """The task, as ``train`` asks for it."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Tensor:
        """The bandits of a step."""
        return bandit_arms(batch_size, seed_of_step(seed, step))


class Walks:
    """The task, as ``train`` asks for it."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Mazes:
        """The mazes of a step."""
        return random_mazes(batch_size, seed_of_step(seed, step))


def bandit_figures(policy: nn.Module) -> dict[str, Any]:
    """Mean reward and regret of ten pulls over the bandits of the test, with actions drawn, and with the likeliest."""
    arms, found = bandit_arms(TESTS, TEST_SEED).to(device_of(policy)), {}
    for name, greedy in (("", False), ("_greedy", True)):
        draw = generator(TEST_SEED, device_of(policy))
        played = play(policy, BanditWorld(arms, draw), draw, greedy)
        found["reward" + name] = rounded_mean(played.rewards.sum(dim=1))
        found["regret" + name] = rounded_mean(bandits.regret(arms, played.actions))
    return found


def reference_figures() -> dict[str, dict[str, float]]:
    """Mean reward and regret of the players with a fixed rule, on the same bandits."""
    arms, found = bandit_arms(TESTS, TEST_SEED), {}
    for name, player in PLAYERS.items():
        pulled, paid = bandits.play(arms, player)
        found[name] = {"reward": rounded_mean(paid.sum(dim=1)), "regret": rounded_mean(bandits.regret(arms, pulled))}
    return found


def walk(policy: nn.Module, batch: Mazes, seed: int = TEST_SEED) -> tuple[Played, Tensor]:
    """Walk mazes with a policy: what happened, and how many goals were found after each step, ``(B, T)``."""
    world = MazeWorld(batch.to(device_of(policy)))
    played = play(policy, world, generator(seed, device_of(policy)))
    return played, torch.stack(world.goals, dim=1)


def maze_figures(policy: nn.Module) -> dict[str, Any]:
    """Mean steps of both rounds, in the mazes where both were finished, beside the shortest way in these mazes.

    Also the shares of mazes where the goal was found at least once and at least twice, and the mean goals, two at most.
    """
    batch = random_mazes(TEST_MAZES, TEST_SEED, held_out=True)
    goals = walk(policy, batch)[1].cpu()
    first, second = mazes.steps_per_round(goals)  # (B,) each, NaN where not finished
    both = ~second.isnan()
    shortest = mazes.distances(batch.open, batch.start).gather(1, batch.goal[:, None])[:, 0].double()
    return {
        "found_once": rounded_mean(~first.isnan()),
        "found_twice": rounded_mean(both),
        "first_round": rounded_mean(first[both]) if both.any() else None,
        "second_round": rounded_mean(second[both]) if both.any() else None,
        "shortest": rounded_mean(shortest[both]) if both.any() else None,
        "goals": rounded_mean(goals[:, -1].clamp(max=2)),
    }


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a policy.

    Fields:
        task: ``"bandit"`` or ``"maze"``. blocks: of a :class:`~attnbook.models.snail.Snail`, or ``"lstm"``.
        steps: of training.
        batch: tasks per step.
        entropy: weight of the bonus that keeps the policy exploring.
        kept: whether the weights of seed 0 are kept.
    """

    task: str
    blocks: tuple[str, ...] | str
    steps: int
    batch: int
    entropy: float = 0.01
    kept: bool = False


SNAIL = ("convolutions", "convolutions", "attention")  # the order that the paper's appendix C has for tabular MDPs
RECIPES = {
    "bandit_snail": Recipe("bandit", SNAIL, 600, 128, kept=True),
    "bandit_lstm": Recipe("bandit", "lstm", 3000, 128),
    "maze_snail": Recipe("maze", SNAIL, 400, 64, kept=True),
    "maze_lstm": Recipe("maze", "lstm", 2000, 64),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}
SEEN = {"bandit": ARMS + 1, "maze": 2 * MOVES + 1}  # features of what is seen
ACTIONS, LENGTHS = {"bandit": ARMS, "maze": MOVES}, {"bandit": PULLS, "maze": WALK}
SIZES = SnailSizes(filters=16, key=16, value=16)


def build(name: str) -> nn.Module:
    """A fresh policy of this experiment: logits of the actions, then the expected sum of the rewards to come."""
    recipe = chosen(RECIPES, name)
    inputs, outputs = SEEN[recipe.task], ACTIONS[recipe.task] + 1
    if recipe.blocks == "lstm":
        return LSTMTagger(inputs, outputs, hidden=64)
    return Snail(inputs, outputs, LENGTHS[recipe.task], recipe.blocks, SIZES)


TASKS: dict[str, tuple[Any, Callable, Callable]] = {
    "bandit": (Bandits(), BanditWorld, bandit_figures),
    "maze": (Walks(), MazeWorld, maze_figures),
}


def run(job: Job) -> Outcome:
    """Train and measure one policy."""
    seed_everything(job.seed)
    recipe, policy = chosen(RECIPES, job.model), build(job.model).to(best_device())
    task, world, measured = TASKS[recipe.task]
    loss = PolicyLoss(world, recipe.entropy, job.seed)
    history, figures = train(policy, task, job, {**TRAINING, "batch": recipe.batch}, loss=loss)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures |= {"untrained": measured(fresh(job).to(best_device()))} | measured(policy)
    if recipe.task == "bandit":
        figures["references"] = reference_figures()
    return Outcome(figures, policy if recipe.kept and job.seed == 0 else None)


def fresh(job: Job) -> nn.Module:
    """The policy as it was before training."""
    seed_everything(job.seed)
    return build(job.model)


EXPERIMENT = Experiment(
    "acting",
    STEPS,
    run,
    {
        "task": {
            "bandit": {"arms": ARMS, "pulls": PULLS, "tests": TESTS},
            "maze": {"steps": WALK, "step": A_STEP, "goal": A_GOAL, "tests": TEST_MAZES},
        },
        "batch": {recipe.task: recipe.batch for recipe in RECIPES.values()},
        **TRAINING,
    },
    build=build,
)
trained = EXPERIMENT.trained
