"""Dynamic N-grams and priority sort, the last two tasks of the paper, in short trainings (chapter 13).

Source: Graves, Wayne and Danihelka 2014, sections 4.4 and 4.5.
"""

import math
from dataclasses import replace
from functools import partial

import torch.nn.functional as F
from torch import nn

from attnbook.data import BitBatch, best_ngram_guess, dynamic_ngram_batch, priority_sort_batch
from attnbook.modes import evaluating
from attnruns.shared.episodes import TESTED, EpisodeRecipe, EpisodeTask, episode_cost, run_episodes, settings_of
from attnruns.shared.memory import TEST_SEED, Lesson
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

ROWS, EVERY = 128, 8000  # of memory; sequences from one validation to the next


def exact_sort(length: int, count: int, seed: int) -> Lesson:
    """So many vectors, of which four of five are wanted in the order of their priorities."""
    return Lesson(priority_sort_batch(length, count, seed), ROWS)


def exact_ngrams(length: int, count: int, seed: int) -> Lesson:
    """So many bits that follow tables of their own."""
    return Lesson(dynamic_ngram_batch(count, seed, length), ROWS)


TASKS = {
    "sort": EpisodeTask(
        lambda count, seed, source: exact_sort(20, count, seed), exact_sort, held_out=(20,) * 4, choice=(20,),
        tests={"10": 10, "20": 20, "30": 30}, inputs=10, outputs=8,
    ),
    "ngrams": EpisodeTask(
        lambda count, seed, source: exact_ngrams(200, count, seed), exact_ngrams, held_out=(200,) * 4, choice=(200,),
        tests={"200": 200}, inputs=1, outputs=1, solvable=False,
    ),
}  # fmt: skip
SORT = EpisodeRecipe(
    "sort", 64_000, {"hidden": 256, "read_heads": 4, "write_heads": 4}, 1, 256, "adam", 16, 1e-3, kept=1
)
NGRAMS = EpisodeRecipe("ngrams", 64_000, {"controller": "lstm"}, 1, 128, "adam", 16, 1e-3, kept=1)
RECIPES = {
    "sort_feedforward": SORT,
    "sort_lstm_alone": replace(SORT, machine=None, kept=0),
    "ngrams_lstm": NGRAMS,
    "ngrams_lstm_alone": replace(NGRAMS, machine=None, kept=0),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    return recipe.build(TASKS[recipe.task])


def best_bits(batch: BitBatch) -> float:
    """The cross-entropy of the best guesses at the next bit, in bits per sequence."""
    guess, target = best_ngram_guess(batch)[batch.mask], batch.target[batch.mask]
    return F.binary_cross_entropy(guess, target, reduction="sum").item() / math.log(2) / len(batch.inputs)


@evaluating
def in_bits(model: nn.Module, task: EpisodeTask) -> dict[str, float]:
    """The cross-entropy in each test, in bits per sequence, the unit of the paper's figures."""
    lessons = {name: task.exact(size, TESTED, TEST_SEED) for name, size in task.tests.items()}
    return {name: round(episode_cost(model, lesson).item() / math.log(2), 3) for name, lesson in lessons.items()}


def measured(model: nn.Module, name: str) -> dict:
    """Cross-entropies of a model of the task ``name``, of N-grams beside the best."""
    best = {"best_bits": round(best_bits(exact_ngrams(200, TESTED, TEST_SEED).bits), 3)} if name == "ngrams" else {}
    return {"bits": in_bits(model, TASKS[name]), **best}


def run(job: Job) -> Outcome:
    """Train one model, and test its last state and the chosen one; of N-grams also by what is best."""
    recipe = chosen(RECIPES, job.model)
    more = partial(measured, name=recipe.task)
    return run_episodes(TASKS[recipe.task], recipe, job, EVERY, EXPERIMENT.name, more)


SETTINGS = settings_of("priority_sort_batch(20), dynamic_ngram_batch(200 bits, 6-grams)", ROWS, RECIPES)
EXPERIMENT = Experiment("sorting_paper", STEPS, run, SETTINGS, build=build)
trained = EXPERIMENT.trained
