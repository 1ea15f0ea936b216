"""Repeat copy and associative recall as the paper has them: no marks, no curriculum, 128 rows (chapter 13).

Each training ends when it makes no mistake on held-out episodes of the trained sizes, five validations in a row. A
machine that recalls is tested without each step of addressing, too; others train without one from the beginning.
Source: Graves, Wayne and Danihelka 2014, sections 4.2 and 4.3 and tables 1 to 3.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import torch
from torch import nn

from attnbook.data import associative_recall_batch, repeat_copy_batch
from attnbook.models import NTM
from attnbook.models.ntm_addressing import STEPS as ADDRESSING
from attnruns.shared.episodes import EpisodeRecipe, EpisodeTask, run_episodes, settings_of, wrong_per_sequence
from attnruns.shared.memory import TEST_SEED, Lesson
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

ROWS, EVERY = 128, 2000  # of memory; sequences from one validation to the next
KNOCKED_OUT_ON = (4, 6)  # items on which trained machines are tested without a step


def draw_recall(count: int, seed: int, generator: torch.Generator) -> Lesson:
    """2 to 6 items of three vectors."""
    return exact_recall(int(torch.randint(2, 7, (), generator=generator)), count, seed)


def exact_recall(items: int, count: int, seed: int) -> Lesson:
    """Just so many items."""
    return Lesson(associative_recall_batch(items, count, seed), ROWS)


def draw_repeat(count: int, seed: int, generator: torch.Generator) -> Lesson:
    """1 to 10 vectors, to be copied 1 to 10 times."""
    length, repeats = torch.randint(1, 11, (2,), generator=generator).tolist()
    return exact_repeat((length, repeats), count, seed)


def exact_repeat(size: tuple[int, int], count: int, seed: int) -> Lesson:
    """Just so many vectors, to be copied so many times."""
    return Lesson(repeat_copy_batch(*size, count, seed), ROWS)


TASKS = {
    "recall": EpisodeTask(
        draw_recall, exact_recall, held_out=(2, 3, 4, 5, 6) * 2, choice=(8, 10), inputs=8, outputs=6, clean=5,
        tests={str(items): items for items in (4, 6, 8, 10, 12, 15, 20)},
    ),
    "repeat": EpisodeTask(
        draw_repeat, exact_repeat, held_out=tuple(product((1, 4, 7, 10), repeat=2)),
        choice=((12, 8), (8, 12)), inputs=10, outputs=9, clean=5, keeps="last",
        tests={f"{length} x {repeats}": (length, repeats) for length, repeats in
               ((5, 5), (10, 10), (15, 10), (20, 10), (10, 15), (10, 20))},
    ),
}  # fmt: skip
RECALL = EpisodeRecipe("recall", 100_000, {"controller": "lstm"}, kept=3)
REPEAT = replace(RECALL, task="repeat", sequences=60_000, constant=0.5, kept=3)  # at the paper's rate for one half
FOUR_HEADS = {"hidden": 256, "read_heads": 4, "write_heads": 4}
ALONE: dict[str, Any] = {"machine": None, "optimiser": "adam", "batch": 16, "learning_rate": 1e-3, "kept": 0}
RECIPES = {
    "recall_lstm": RECALL,
    "recall_feedforward": replace(RECALL, machine=FOUR_HEADS),
    "repeat_lstm": REPEAT,
    "repeat_feedforward": replace(REPEAT, machine={}),
    **{
        f"recall_no_{step}": replace(RECALL, machine={"controller": "lstm", "without": (step,)}, kept=0)
        for step in ADDRESSING
    },
    "recall_lstm_alone": replace(RECALL, **ALONE),
    "repeat_lstm_alone": replace(REPEAT, **ALONE, sequences=960_000),  # as many steps as a machine takes
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    return recipe.build(TASKS[recipe.task])


def knocked_out(machine: NTM) -> dict[str, dict[str, float]]:
    """Wrong bits per episode of recall by a trained machine as it is, and without one of its steps: by step, items."""
    whole, found = machine.config, {}
    lessons = {str(items): exact_recall(items, 50, TEST_SEED) for items in KNOCKED_OUT_ON}
    for step in ("none", *ADDRESSING):
        machine.config = replace(whole, without=() if step == "none" else (step,))
        found[step] = {items: round(wrong_per_sequence(machine, lesson), 3) for items, lesson in lessons.items()}
    machine.config = whole
    return found


def run(job: Job) -> Outcome:
    """Train one model until it makes no mistake, and test its last state and the chosen one."""
    recipe = chosen(RECIPES, job.model)
    whole = recipe.task == "recall" and recipe.machine is not None and "without" not in recipe.machine
    more = (lambda machine: {"wrong_bits_without": knocked_out(machine)}) if whole else (lambda model: {})
    return run_episodes(TASKS[recipe.task], recipe, job, EVERY, EXPERIMENT.name, more)


SETTINGS = settings_of("associative_recall_batch(2 to 6), repeat_copy_batch(1 to 10, 1 to 10)", ROWS, RECIPES)
EXPERIMENT = Experiment("recalling_paper", STEPS, run, SETTINGS, build=build)
trained = EXPERIMENT.trained
