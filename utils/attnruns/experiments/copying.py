"""Copy: neural Turing machines trained on 1 to 20 vectors and tested on up to 120, against an LSTM (chapter 13)."""

from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn

from attnbook.data import BitBatch, copy_batch, mark_phases
from attnbook.models import NTM
from attnbook.models.ntm_addressing import STEPS as ADDRESSING
from attnbook.seeding import seed_everything
from attnruns.shared.grid import copying_grid
from attnruns.shared.memory import COUNT, TRAINING, VALIDATE_EVERY, BitTask, Lesson, Recipe, marked, train_and_measure
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

MOST_ROWS, TEST_ROWS = 64, 256


def draw(size: int, count: int, seed: int, generator: torch.Generator) -> Lesson:
    """A copy of 1 to ``size`` vectors, with from three rows more than vectors up to 64."""
    length = int(torch.randint(1, size + 1, (), generator=generator))
    rows = int(torch.randint(length + 3, MOST_ROWS + 1, (), generator=generator))
    return Lesson(copy_batch(length, count, seed), rows)


def exact(size: int, count: int, seed: int) -> Lesson:
    """A copy of just ``size`` vectors, on a longer memory than any trained."""
    return Lesson(copy_batch(size, count, seed), TEST_ROWS)


PLAIN = BitTask(draw, exact, (4, 20, 2), validation=(40, 80), tests=(10, 20, 40, 80, 120), inputs=9, outputs=8)
TASK = marked(PLAIN)


@dataclass(frozen=True)
class Copying(Recipe):
    """A recipe of this experiment.

    Fields:
        marked: whether lessons mark their phases; without, they are as the paper has them.
        steps: of the training.
        kept: whether the weights are kept, of every seed.
    """

    marked: bool = True
    steps: int = 1000
    kept: bool = False


BASE = Copying(blur=0.01)
RECIPES = {
    "ntm": replace(BASE, kept=True),
    "free_blur": replace(BASE, blur=0.0, kept=True),
    "unmarked": replace(BASE, marked=False, kept=True),
    "unmarked_free_blur": replace(BASE, marked=False, blur=0.0),
    "ntm_lstm": replace(BASE, machine={"controller": "lstm"}),
    "unmarked_lstm": replace(BASE, marked=False, machine={"controller": "lstm"}),
    # With small lessons first it never comes to the large ones; a step takes some tenth of the time of a machine's.
    "lstm": Copying(None, curriculum=False, steps=5000, kept=True),
    "no_sharpening_free_blur": replace(BASE, blur=0.0, machine={"without": ("sharpening",)}),
    "slow_beta": replace(BASE, betas=(0.9, 0.999), kept=True),
    "no_curriculum": replace(BASE, curriculum=False, kept=True),
    "fixed_rows": replace(BASE, rows=128, kept=True),
} | {f"no_{step}": replace(BASE, machine={"without": (step,)}, kept=step == "sharpening") for step in ADDRESSING}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def task_of(name: str) -> BitTask:
    """The task a model of this experiment trains on: with its phases marked, or as the paper has it."""
    return TASK if chosen(RECIPES, name).marked else PLAIN


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    return chosen(RECIPES, name).build(task_of(name))


def prepared(name: str, bits: BitBatch) -> BitBatch:
    """A batch as a model of this experiment reads it: with its phases marked, or as it is."""
    return mark_phases(bits) if chosen(RECIPES, name).marked else bits


def grids(model: nn.Module, name: str) -> dict:
    """Wrong bits by length and rows, of a machine."""
    return {"grid": copying_grid(model, partial(prepared, name))} if isinstance(model, NTM) else {}


def run(job: Job) -> Outcome:
    """Train and test one model, a machine also on the grid of lengths and rows."""
    seed_everything(job.seed)
    model, more = build(job.model), partial(grids, name=job.model)
    figures = train_and_measure(model, task_of(job.model), RECIPES[job.model], job, more)
    return Outcome(figures, model if RECIPES[job.model].kept else None)


SETTINGS = {
    "task": "copy_batch(1 to 20), phases marked", "training_rows": f"length + 3 to {MOST_ROWS}", "test_rows": TEST_ROWS,
    "checkpoint": f"every {VALIDATE_EVERY} steps, chosen by the loss on lengths 40 and 80",
    "sequences": COUNT, **TRAINING,
}  # fmt: skip
EXPERIMENT = Experiment("copying", STEPS, run, SETTINGS, build=build)
trained = EXPERIMENT.trained
