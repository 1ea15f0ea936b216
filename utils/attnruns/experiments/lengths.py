"""One task for many models: strings to be copied, four times as long as any in training (chapter 17)."""

from functools import cache

from torch import nn

from attnbook.data.batching import Task
from attnbook.data.symbols.algorithmic import copied_strings
from attnbook.seeding import seed_everything
from attnruns.experiments import numbers, sharpening, transformer
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

WIDTH = 64  # features of a state, as of a Transformer's position


@cache
def task() -> Task:
    """The task, made once a process."""
    return copied_strings()


def _recurrent(score: str | None, steps: int = 2000, by_length: bool = False, kept: bool = False) -> sharpening.Recipe:
    return sharpening.Recipe(numbers.Recipe(steps, score, hidden=WIDTH), by_length, kept)


def _transformer(**config) -> transformer.Recipe:
    return transformer.Recipe(config, steps=2000)


RECURRENT = {
    "plain": _recurrent(None, steps=3000),
    "content": _recurrent("additive"),
    "location_aware": _recurrent("location_aware", kept=True),
    "location_aware_by_length": _recurrent("location_aware", by_length=True),
}
TRANSFORMERS = {
    "none": _transformer(positions="none"),
    "learned": _transformer(positions="learned"),
    "sinusoidal": _transformer(positions="sinusoidal"),
    "rotary": _transformer(positions="rotary"),
    "linear_bias": _transformer(positions="linear_bias"),
    "linear_window_4": _transformer(positions="linear_bias", window=4),
    # Rotary positions in self-attention, and distances penalised in cross-attention: with and without a window.
    "rotary_cross_bias": _transformer(positions="rotary", cross_positions="linear_bias"),
    "rotary_cross_bias_window_4": _transformer(positions="rotary", cross_positions="linear_bias", window=4),
}
RECIPES: dict[str, sharpening.Recipe | transformer.Recipe] = {**RECURRENT, **TRANSFORMERS}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str, other: Task | None = None) -> nn.Module:
    """A fresh model of this experiment, for its task or another one."""
    return chosen(RECIPES, name).build(task() if other is None else other)


def training(name: str) -> dict:
    """How a model trains, beside its number of steps: Transformers as in chapter 09, the others as in chapter 02."""
    return transformer.TRAINING if name in TRANSFORMERS else TRAINING


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model)
    figures = train_and_measure(model, task(), job, training(job.model))
    return Outcome(figures, model if RECIPES[job.model].kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "lengths",
    STEPS,
    run,
    {"task": "copied_strings()", "width": WIDTH, **TRAINING, "transformers": transformer.TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
