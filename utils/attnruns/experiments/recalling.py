"""Repeat copy and associative recall: neural Turing machines against LSTMs (chapter 13)."""

from dataclasses import dataclass

import torch
from torch import nn

from attnbook.data import associative_recall_batch, repeat_copy_batch
from attnbook.seeding import seed_everything
from attnruns.shared.memory import COUNT, TRAINING, VALIDATE_EVERY, BitTask, Lesson, Recipe, marked, train_and_measure
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

ROWS = {"repeat": (48, 128), "recall": (64, 128)}  # in training, in tests


def draw_repeat(size: int, count: int, seed: int, generator: torch.Generator) -> Lesson:
    """1 to ``size`` vectors, to be copied 1 to ``size`` times."""
    length, repeats = torch.randint(1, size + 1, (2,), generator=generator).tolist()
    return Lesson(repeat_copy_batch(length, repeats, count, seed), ROWS["repeat"][0])


def exact_repeat(size: int, count: int, seed: int) -> Lesson:
    """``size`` vectors to be copied 10 times: sizes above 10 ask for longer sequences, not for more copies."""
    return Lesson(repeat_copy_batch(size, 10, count, seed), ROWS["repeat"][1])


def draw_recall(size: int, count: int, seed: int, generator: torch.Generator) -> Lesson:
    """2 to ``size`` items."""
    items = int(torch.randint(2, size + 1, (), generator=generator))
    return Lesson(associative_recall_batch(items, count, seed), ROWS["recall"][0])


def exact_recall(size: int, count: int, seed: int) -> Lesson:
    """Just ``size`` items."""
    return Lesson(associative_recall_batch(size, count, seed), ROWS["recall"][1])


TASKS = {
    "repeat": marked(BitTask(draw_repeat, exact_repeat, (2, 10, 1), validation=(12,), tests=(5, 10, 15, 20),
                             inputs=10, outputs=9)),
    "recall": marked(BitTask(draw_recall, exact_recall, (2, 6, 1), validation=(8,), tests=(4, 6, 10, 15),
                             inputs=8, outputs=6)),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """Which task, by its name in ``TASKS``, and how a machine trains on it."""

    task: str
    recipe: Recipe


NTM, LSTM = Recipe(), Recipe(None)
RECIPES = {
    "repeat_ntm": Choice("repeat", NTM),
    "repeat_lstm": Choice("repeat", LSTM),
    "recall_ntm": Choice("recall", NTM),
    "recall_lstm": Choice("recall", LSTM),
}
STEPS = dict.fromkeys(RECIPES, 5000)


def build(name: str) -> tuple[nn.Module, BitTask, Recipe]:
    """A fresh model of this experiment, its task and its recipe."""
    choice = chosen(RECIPES, name)
    task, recipe = TASKS[choice.task], choice.recipe
    return recipe.build(task), task, recipe


def run(job: Job) -> Outcome:
    """Train and test one model."""
    seed_everything(job.seed)
    model, task, recipe = build(job.model)
    return Outcome(train_and_measure(model, task, recipe, job))


SETTINGS = {
    "task": "repeat_copy_batch(1 to 10, 1 to 10), associative_recall_batch(2 to 6), phases marked", "rows": ROWS,
    "checkpoint": f"every {VALIDATE_EVERY} steps, chosen by the loss on 12 vectors or 8 items",
    "sequences": COUNT, **TRAINING,
}  # fmt: skip
EXPERIMENT = Experiment("recalling", STEPS, run, SETTINGS)
