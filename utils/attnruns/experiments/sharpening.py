"""How far content and position carry when scores are multiplied by β: at test time, or by length in training too."""

import math
from dataclasses import dataclass, replace
from typing import cast

from torch import nn

from attnbook.attention import Sharpened
from attnbook.data.batching import Task
from attnbook.measure.evaluation import accuracy
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.experiments import numbers
from attnruns.experiments.numbers import task
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

BETAS = (1.0, 1.5, 2.0, 3.0)
CHOICE = 10  # numbers in the lists on which β is chosen; what it is worth is read off the other sizes
SIZES = (8, CHOICE, 12, 16, 24, 32)
LISTS = 100  # of each size


def accuracy_by_beta(model: AttentionSeq2Seq) -> dict[str, dict[str, float]]:
    """Exact match by β and by size of list, ``{"2.0": {"12": …}}``; the model's score is put back afterwards."""
    score, found = model.score, {}
    lists = {size: task().longer[size][:LISTS] for size in SIZES}
    for beta in BETAS:
        model.score = Sharpened(score, beta)
        found[str(beta)] = {str(size): round(accuracy(model, task(), lists[size]), 4) for size in SIZES}
    model.score = score
    return found


def by_length(positions: int) -> float:
    """β = ln(positions) / ln 10: 1 at ten words, 2 at a hundred. A row of n equal rivals shares its weight n ways."""
    return math.log(positions) / math.log(10)


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model: how the experiment "numbers" builds it, and whether β grows with length."""

    base: numbers.Recipe
    by_length: bool = False
    kept: bool = False

    @property
    def steps(self) -> int:
        """Steps of the training."""
        return self.base.steps

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task."""
        model = self.base.build(task)
        if self.by_length:
            model.score = Sharpened(cast(AttentionSeq2Seq, model).score, by_length)
        return model


BASE = numbers.RECIPES["location_aware"]
RECIPES = {
    "location_aware": Recipe(BASE),
    "location_aware_64": Recipe(numbers.RECIPES["location_aware_64"]),
    "location_aware_long": Recipe(replace(BASE, steps=2400)),
    "location_aware_by_length": Recipe(BASE, by_length=True, kept=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str, other: Task | None = None) -> AttentionSeq2Seq:
    """A fresh model of this experiment, for its task or another one."""
    model = chosen(RECIPES, name).build(task() if other is None else other)
    return cast(AttentionSeq2Seq, model)  # each recipe here has a score


def run(job: Job) -> Outcome:
    """Train a model as the experiment "numbers" does, and measure it at each β."""
    seed_everything(job.seed)
    model = build(job.model)
    figures = train_and_measure(model, task(), job)
    kept = model if RECIPES[job.model].kept and job.seed == 0 else None
    return Outcome({**figures, "by_beta": accuracy_by_beta(model)}, kept)


EXPERIMENT = Experiment(
    "sharpening",
    STEPS,
    run,
    {"task": "number_lists()", "betas": list(BETAS), "lists": LISTS, "choice": CHOICE, **TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
