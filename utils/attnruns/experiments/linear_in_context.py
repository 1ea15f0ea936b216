"""Linear regression in context: what a causal Transformer predicts after k examples of a new function (chapter 15)."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.worlds.linear_functions import (
    DIM,
    LENGTH,
    NOISE,
    LinearSequences,
    Rule,
    least_squares,
    linear_functions,
    nearest_neighbour,
    predict_zero,
    ridge,
    softmax_neighbours,
)
from attnbook.device import device_of
from attnbook.models.block import TransformerConfig
from attnbook.models.vector_reader import VectorReader
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 1e-3, "warmup": 100, "max_grad_norm": 1.0}
TESTS, TEST_SEED = 2000, 0
SETTINGS: dict[str, dict[str, Any]] = {  # what the sequences of the test are like
    "as trained": {},
    "twice as large": {"scale": 2.0},
    "longer": {"length": 2 * LENGTH},
}
BETA = 1.0  # of attention by distance
RULES: dict[str, Rule] = {
    "predict zero": predict_zero,
    "nearest neighbour": nearest_neighbour,
    "attention by distance": softmax_neighbours(BETA),
    "least squares": least_squares,
    "ridge": ridge(NOISE**2 * DIM),
}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model: changes to :class:`TransformerConfig`, beside 64 features and rotary positions."""

    config: dict = field(default_factory=dict)
    steps: int = 3000
    kept: bool = False


WIDE = {"d_ff": 256, "feed_forward": "gelu"}
RECIPES = {"four_layers": Recipe({"layers": 4, **WIDE}, kept=True)}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


class Lines:
    """The lessons: every step new functions."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> LinearSequences:
        """The sequences of a step."""
        return linear_functions(batch_size, seed_of_step(seed, step))


def value_loss(model: nn.Module, batch: LinearSequences) -> Tensor:
    """Mean squared error of all predictions, with the noisy values."""
    return (model(batch.inputs)[0][..., 0] - batch.values).square().mean()


def held_out(setting: str) -> LinearSequences:
    """The sequences of the test."""
    return linear_functions(TESTS, TEST_SEED, **SETTINGS[setting])


def errors(predictions: Tensor, batch: LinearSequences) -> list[float]:
    """Mean squared error with the values without noise, by the number of examples before: ``T`` numbers."""
    each = (predictions.cpu().double() - batch.true.double()).square().mean(dim=0)
    return [round(error, 5) for error in each.tolist()]


@evaluating
def model_errors(model: VectorReader) -> dict[str, list[float]]:
    """:func:`errors` of a model, in each setting."""
    found = {}
    for setting in SETTINGS:
        batch = held_out(setting)
        found[setting] = errors(model(batch.inputs.to(device_of(model)))[0][..., 0], batch)
    return found


def rule_errors() -> dict[str, dict[str, list[float]]]:
    """:func:`errors` of each rule, in each setting."""
    batches = {setting: held_out(setting) for setting in SETTINGS}
    return {
        setting: {name: errors(rule(batch), batch) for name, rule in RULES.items()}
        for setting, batch in batches.items()
    }


def build(name: str) -> VectorReader:
    """A fresh model of this experiment."""
    return VectorReader(DIM + 1, 1, TransformerConfig(**chosen(RECIPES, name).config))


def run(job: Job) -> Outcome:
    """Train and measure one model; the rules are measured beside the first."""
    seed_everything(job.seed)
    model = build(job.model)
    lessons: Any = Lines()  # its batches are no pairs of sentences
    history, figures = train(model, lessons, job, TRAINING, loss=value_loss)
    figures["losses"] = chunk_means(history.losses, 100, digits=4)
    figures["errors"] = model_errors(model)
    if job.model == next(iter(RECIPES)) and job.seed == 0:
        with torch.no_grad():
            figures["rules"] = rule_errors()
    return Outcome(figures, model if RECIPES[job.model].kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "linear_in_context",
    STEPS,
    run,
    {"task": f"linear_functions(length={LENGTH}, dim={DIM}, noise={NOISE})", "tests": TESTS, **TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
