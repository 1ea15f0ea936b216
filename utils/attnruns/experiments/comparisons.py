"""Small models that chapters compare with one that their reader trains: the same training, done beforehand.

Those of chapter 03's evidence differ in their score, those of chapter 05 in their depth, and chapter 07 asks whether
an LSTM that trains three times as long learns a gap of 20. A job trains for so many steps as the chapter does.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from torch import nn

from attnbook.attention import Additive, Location, Score
from attnbook.data import number_lists
from attnbook.data.batching import Task
from attnbook.data.symbols.recall import recall_batch
from attnbook.measure.evaluation import accuracy
from attnbook.models import GNMT, AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.experiments import distance
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

GAP = 20  # between the letter and the question
TRAINING: dict[str, Any] = {"batch": 32, "learning_rate": 5e-3, "warmup": 50, "max_grad_norm": 1.0}


@dataclass(frozen=True)
class Recipe:
    """A translator of lists of numbers, and how it trains.

    Fields:
        build: makes a fresh model of the sizes of source and target vocabulary.
        task: the arguments of :func:`~attnbook.data.symbols.numbers.number_lists`.
        training: batch and whatever else :func:`~attnbook.training.fit` takes. steps: of it.
    """

    build: Callable[[int, int], nn.Module]
    task: dict[str, Any]
    training: dict[str, Any] = field(default_factory=lambda: TRAINING)
    steps: int = 320


def with_score(score: Callable[[], Score], source_size: int, target_size: int) -> AttentionSeq2Seq:
    """The translator of chapter 03, with 64 features and another score."""
    return AttentionSeq2Seq(source_size, target_size, hidden=64, score=score())


def deep(layers: int, residual: bool, source_size: int, target_size: int) -> GNMT:
    """The translator of chapter 05, with 48 features and so many layers."""
    return GNMT(source_size, target_size, embedding=32, hidden=48, layers=layers, residual=residual)


def constant(step: int) -> float:
    """The learning rate of chapter 05."""
    return 5e-3


SCORES = Recipe(
    partial(with_score, partial(Additive, 64, 64, hidden=32)),
    {"validation": 50, "test_per_size": 50, "longest": 3, "longer": (6,), "longer_per_size": 50},
)
CONSTANT = {"batch": 64, "schedule": constant, "max_grad_norm": 1.0}
DEPTHS = Recipe(partial(deep, 4, False), {"longest": 2, "longer": (3, 4)}, CONSTANT, 300)
RECIPES = {
    "content": SCORES,
    "location": replace(SCORES, build=partial(with_score, partial(Location, 64, max_length=64))),
    "four_layers": DEPTHS,
    "two_layers": replace(DEPTHS, build=partial(deep, 2, False)),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()} | {"patient_lstm": 3000}


@cache
def task(name: str) -> Task:
    """The lists that a model trains on, as its chapter makes them."""
    return number_lists(train=20_000, **chosen(RECIPES, name).task)


def build(name: str) -> nn.Module:
    """A fresh model whose weights are kept."""
    recipe, lists = chosen(RECIPES, name), task(name)
    return recipe.build(len(lists.source_vocabulary), len(lists.target_vocabulary))


def translator(job: Job) -> Outcome:
    """Train one of the translators, and count the lists of the trained sizes that it gets right."""
    seed_everything(job.seed)
    model, lists = build(job.model), task(job.model)
    _, figures = train(model, lists, job, RECIPES[job.model].training)
    return Outcome(figures | {"exact_match": round(accuracy(model, lists, lists.test), 4)}, model)


def patient_lstm(job: Job) -> Outcome:
    """Train an LSTM at one gap, and ask it for the letters of strings that it was not trained on."""
    start = time.process_time()
    seed_everything(job.seed)
    model = distance.build("lstm")
    distance.train(model, GAP, job.steps, job.seed)
    right = distance.share_right(model, recall_batch(GAP, distance.TESTS))
    return Outcome({"right": round(right, 4), "seconds": round(time.process_time() - start, 1)})


def run(job: Job) -> Outcome:
    """Train and measure one model; the weights of the translators are kept."""
    return patient_lstm(job) if job.model == "patient_lstm" else translator(job)


EXPERIMENT = Experiment(
    "comparisons",
    STEPS,
    run,
    {
        "task": "number_lists(train=20_000); patient_lstm: recall_batch(20) as in distance",
        **TRAINING,
        "four_layers, two_layers": "batch 64, the rate does not change",
    },
    build=build,
)
trained = EXPERIMENT.trained
