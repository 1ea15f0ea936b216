"""Round trips of 20 cities without labels: REINFORCE with a greedy rollout, beside labels, at equal time (chapter 14).

The network is the Transformer of ``pointing``. Labels are those of an iterated 2-opt; ``seconds`` counts the steps of a
training alone, without the time that it took to make the labels. Sources: Kool et al. 2019, Bello et al. 2017.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from attnbook.data.batching import Batch
from attnbook.data.points.geometry import random_points
from attnbook.data.points.pointing import batch_of
from attnbook.device import best_device, device_of
from attnbook.models.pointer import PointerNetwork, pointer_loss
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnbook.training import fit
from attnbook.training.rollout import Challenge, RolloutLoss, RolloutPolicy, greedy_lengths
from attnruns.experiments.pointing import BEAM, TEST_SEED, reference_figures, tour_figures
from attnruns.shared.recipes import chosen
from attnruns.shared.resume import checkpoint_of, digest_of
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means
from attnruns.shared.solved_tours import POOL, pooled_batch, solved_batch

CITIES, BATCH, HIDDEN, TESTS = 20, 128, 128, 1000
VALIDATION_SEED, HELD_OUT = 7, 500  # instances for the learning curve, or to challenge the baseline with
EVERY = 50  # steps from one such validation to the next
TRAINING: dict[str, Any] = {"warmup": 100, "max_grad_norm": 1.0}


@dataclass(frozen=True)
class Recipe:
    """How the network learns: from labels, or from the lengths of trips that it draws; and for how many steps.

    Steps are chosen so that the trainings take the same CPU time, except for ``reinforce_draws_long``, which takes
    three times as long. A step of ``reinforce`` takes 1.85 times as long as one with labels, one with eight draws 1.4
    times.
    ``draws``, ``greedy`` and ``warmup`` are those of :class:`~attnbook.training.rollout.RolloutLoss`; ``first`` that of
    :class:`~attnbook.models.pointer.PointerNetwork`.
    """

    labels: bool
    steps: int
    learning_rate: float = 1e-3
    draws: int = 1
    first: int | None = 0
    greedy: bool | None = None
    warmup: int = 0


RECIPES = {
    "labels": Recipe(True, 5550),
    "reinforce": Recipe(False, 3000),
    "reinforce_slower": Recipe(False, 3000, 3e-4),
    "reinforce_free": Recipe(False, 3000, 3e-4, first=None),
    "reinforce_free_warm": Recipe(False, 3000, 3e-4, first=None, warmup=500),
    "reinforce_free_draws": Recipe(False, 3900, 3e-4, 8, first=None, greedy=True),
    "reinforce_draws": Recipe(False, 3900, 3e-4, 8),
    "reinforce_draws_slower": Recipe(False, 3900, 1e-4, 8),
    "reinforce_draws_free": Recipe(False, 3900, 3e-4, 8, first=None),
    "reinforce_draws_long": Recipe(False, 11_700, 3e-4, 8),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> PointerNetwork:
    """A fresh network of this experiment."""
    return PointerNetwork(2, HIDDEN, "transformer", first=chosen(RECIPES, name).first)


def labelled_at(step: int, seed: int) -> Batch:
    """Instances of a step with their labels."""
    return pooled_batch(CITIES, BATCH, seed_of_step(seed, step))


def unlabelled_at(step: int, seed: int) -> Batch:
    """Instances of a step; the target is empty of meaning."""
    points = random_points(CITIES, BATCH, generator(seed_of_step(seed, step)))
    return batch_of(points, torch.zeros(BATCH, 1, dtype=torch.long))


def held_out_length(model: PointerNetwork) -> float:
    """Minus the mean length of greedy trips through held-out instances."""
    points = random_points(CITIES, HELD_OUT, generator(VALIDATION_SEED)).to(device_of(model))
    return -greedy_lengths(model, points).mean().item()


def training_of(recipe: Recipe, policy: PointerNetwork, seed: int) -> tuple[nn.Module, dict[str, Any]]:
    """What is trained, and what :func:`~attnbook.training.fit` is told: batches, loss and validation."""
    if recipe.labels:
        told = {"batch_at": lambda step: labelled_at(step, seed), "loss": pointer_loss, "validate": held_out_length}
        return policy, told
    return RolloutPolicy(policy), {
        "batch_at": lambda step: unlabelled_at(step, seed),
        "loss": RolloutLoss(seed, recipe.draws, recipe.greedy, recipe.warmup),
        "validate": Challenge(CITIES, HELD_OUT, VALIDATION_SEED),
    }


def measured(policy: PointerNetwork) -> dict[str, float]:
    """Lengths and gaps on the test instances, greedily and with a beam, and those of simple rules."""
    batch = solved_batch(CITIES, TESTS, TEST_SEED)
    with torch.no_grad():
        return tour_figures(policy, batch.to(device_of(policy))) | reference_figures(batch)


def run(job: Job) -> Outcome:
    """Train and measure one network; goes on from its checkpoint if there is one."""
    recipe = chosen(RECIPES, job.model)
    seed_everything(job.seed)
    policy = build(job.model)
    model, told = training_of(recipe, policy, job.seed)
    model.to(best_device())
    checkpoint = checkpoint_of(EXPERIMENT.name, job, digest_of(recipe, later=("greedy", "warmup")))
    history = fit(
        model, steps=job.steps, learning_rate=recipe.learning_rate, validate_every=EVERY, checkpoint=checkpoint,
        progress=False, **told, **TRAINING,
    )  # fmt: skip
    figures = {
        "parameters": sum(parameter.numel() for parameter in policy.parameters()),
        "seconds": round(history.cpu_seconds, 1),
        "examples": job.steps * BATCH,
        "lengths_while_training": [round(-result, 4) for _, result in history.validations],
        "losses": chunk_means(history.losses, EVERY, digits=4),
        **measured(policy),
    }
    checkpoint.unlink(missing_ok=True)
    return Outcome(figures, policy if job.seed == 0 else None)


EXPERIMENT = Experiment(
    "pointing_reinforce",
    STEPS,
    run,
    {
        "task": "labelled_tours",
        "cities": CITIES,
        "batch": BATCH,
        "hidden": HIDDEN,
        "tests": TESTS,
        "beam": BEAM,
        "pool": POOL,
        "learning_rate": {name: recipe.learning_rate for name, recipe in RECIPES.items()},
        "draws": {name: recipe.draws for name, recipe in RECIPES.items()},
        "steps_before_the_greedy_baseline": {name: recipe.warmup for name, recipe in RECIPES.items() if recipe.warmup},
        "validation": {"instances": HELD_OUT, "every": EVERY},
        **TRAINING,
    },
    build=build,
)
trained = EXPERIMENT.trained
