"""Lists of numbers, English to German: one vector against attention, by how many numbers are in the list."""

from dataclasses import dataclass
from functools import cache
from typing import cast

from torch import nn

from attnbook.attention import Alignment, LocationAware
from attnbook.data.batching import Task
from attnbook.data.symbols.numbers import number_lists
from attnbook.measure.evaluation import accuracy_by_size
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train, train_and_measure


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its training.

    Fields:
        steps: of the training.
        score: ``None`` for the plain model, which has one vector; "additive" or "location_aware" with attention.
        hidden: features of a state.
        context: when the plain model is shown its vector, "every" step or the "first" only.
        bidirectional: whether a model with attention reads both ways.
        sees: which earlier weights a location-aware score receives: of the step before, the sum, or both.
        kept: whether the weights of seed 0 are kept.
    """

    steps: int
    score: str | None = None
    hidden: int = 128
    context: str = "every"
    bidirectional: bool = True
    sees: tuple[str, ...] = Alignment._fields
    kept: bool = False

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task."""
        sizes = len(task.source_vocabulary), len(task.target_vocabulary)
        if self.score is None:
            return PlainSeq2Seq(*sizes, hidden=self.hidden, context=self.context)
        hidden = self.hidden
        aware = self.score == "location_aware"
        score = LocationAware(hidden, hidden, hidden // 2, sees=self.sees) if aware else None
        return AttentionSeq2Seq(*sizes, hidden=hidden, bidirectional=self.bidirectional, score=score)


# A step of the plain model costs less than one with attention, so it gets twice as many: no less time at 64 features
# (within a tenth), and more at 128. What it came to on one machine is measured: see "seconds" in the record.
RECIPES = {
    "plain": Recipe(2400, kept=True),
    "attention": Recipe(1200, "additive", kept=True),
    "location_aware": Recipe(1200, "location_aware", kept=True),
    "attention_one_way": Recipe(1200, "additive", bidirectional=False),
    "plain_first": Recipe(2400, context="first"),
    "plain_256": Recipe(1200, hidden=256, kept=True),
    "plain_64": Recipe(2400, hidden=64),
    "plain_32": Recipe(2400, hidden=32),
    "attention_64": Recipe(1200, "additive", hidden=64),
    "location_aware_64": Recipe(1200, "location_aware", hidden=64, kept=True),
    "location_aware_64_previous": Recipe(1200, "location_aware", hidden=64, sees=("previous",)),
    "location_aware_64_total": Recipe(1200, "location_aware", hidden=64, sees=("total",)),
    # four times as many steps: whether the size of the state or its training was the limit
    "plain_longer": Recipe(9600),
    # twice the state, with as many steps as "plain"
    "plain_256_as_long": Recipe(2400, hidden=256),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


@cache
def task() -> Task:
    """The task, made once a process."""
    return number_lists()


def build(name: str, other: Task | None = None) -> nn.Module:
    """A fresh model of this experiment, for its task or another one."""
    return chosen(RECIPES, name).build(task() if other is None else other)


def trained_with_attention(job: Job, lists: Task) -> tuple[AttentionSeq2Seq, dict]:
    """Train one model with attention as here, on this task: the model, and its training's figures with exact match."""
    seed_everything(job.seed)
    model = cast(AttentionSeq2Seq, build(job.model, lists))
    _, figures = train(model, lists, job, TRAINING)
    return model, {**figures, "exact_match": accuracy_by_size(model, lists)}


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model)
    figures = train_and_measure(model, task(), job)
    return Outcome(figures, model if RECIPES[job.model].kept and job.seed == 0 else None)


EXPERIMENT = Experiment("numbers", STEPS, run, {"task": "number_lists()", **TRAINING}, build=build)
trained = EXPERIMENT.trained
