"""Copy as the paper has it: one delimiter, 1 to 20 vectors, 128 rows, and neither curriculum nor marks (chapter 13).

Each training ends when it makes no mistake on held-out copies of all trained lengths, ten validations in a row.
Source: Graves, Wayne and Danihelka 2014, section 4.1 and tables 1 to 3.
"""

from dataclasses import replace

import torch
from torch import nn

from attnbook.data import copy_batch
from attnruns.shared.episodes import EpisodeRecipe, EpisodeTask, run_episodes, settings_of
from attnruns.shared.memory import Lesson
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

ROWS, LONGEST = 128, 20
EVERY = {True: 1000, False: 32_000}  # sequences from one validation to the next, of machines and of LSTMs


def draw(count: int, seed: int, generator: torch.Generator) -> Lesson:
    """Copies of 1 to 20 vectors, all of one length, with 128 rows."""
    return exact(int(torch.randint(1, LONGEST + 1, (), generator=generator)), count, seed)


def exact(length: int, count: int, seed: int) -> Lesson:
    """Copies of just ``length`` vectors."""
    return Lesson(copy_batch(length, count, seed), ROWS)


TASK = EpisodeTask(
    draw, exact, held_out=tuple(range(1, LONGEST + 1)), choice=(40, 80), inputs=9, outputs=8,
    tests={str(length): length for length in (10, 20, 40, 80, 120)},
)  # fmt: skip
PAPER = EpisodeRecipe("copy", 60_000, {"controller": "lstm"})
ADAM = replace(PAPER, sequences=160_000, optimiser="adam", batch=16, learning_rate=1e-3, kept=3)
LSTM = EpisodeRecipe("copy", 1_280_000, None, 3, 256, "adam", 64, 1e-3, constant=0.5, kept=0)
RECIPES = {
    "paper_lstm": PAPER,
    "paper_feedforward": replace(PAPER, machine={}),
    "adam_lstm": ADAM,
    "adam_feedforward": replace(ADAM, machine={}),
    "lstm_three_layers": LSTM,
    "lstm_one_layer": replace(LSTM, layers=1, batch=32, kept=1),
    "lstm_longer": replace(LSTM, layers=1, batch=32, kept=1, sequences=5_120_000),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    return chosen(RECIPES, name).build(TASK)


def run(job: Job) -> Outcome:
    """Train one model until it makes no mistake, and test its last state and the chosen one."""
    recipe = chosen(RECIPES, job.model)
    return run_episodes(TASK, recipe, job, EVERY[recipe.machine is not None], EXPERIMENT.name)


SETTINGS = settings_of(f"copy_batch(1 to {LONGEST})", ROWS, RECIPES)
EXPERIMENT = Experiment("copying_paper", STEPS, run, SETTINGS, build=build)
trained = EXPERIMENT.trained
