"""Random strings, to be written backwards: the bottleneck at its purest."""

from dataclasses import dataclass
from functools import cache

from attnbook.data.batching import Task
from attnbook.data.symbols.algorithmic import reversed_strings
from attnbook.seeding import seed_everything
from attnruns.experiments import numbers
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

LETTERS = "abcdefghij"


@dataclass(frozen=True)
class Recipe(numbers.Recipe):
    """What is chosen about a model, its training and its task.

    Fields:
        letters: that its strings are made of.
    """

    letters: str = LETTERS


RECIPES = {
    "plain": Recipe(2400),
    "attention": Recipe(1200, "additive"),
    "plain_two_letters": Recipe(2400, letters="ab"),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


@cache
def task(letters: str = LETTERS) -> Task:
    """The task, made once per process. With two letters a string is as long, but has 1 bit per letter, not 3.3."""
    return reversed_strings(letters)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    recipe = chosen(RECIPES, job.model)
    lesson = task(recipe.letters)
    return Outcome(train_and_measure(recipe.build(lesson), lesson, job))


EXPERIMENT = Experiment("reversal", STEPS, run, {"task": "reversed_strings()", **TRAINING})
