"""The counter-example: one number at a time fits into the vector, so that nothing is squeezed out."""

from functools import cache

from attnbook.data.batching import Task
from attnbook.data.symbols.numbers import single_numbers
from attnbook.seeding import seed_everything
from attnruns.experiments.numbers import Recipe
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

RECIPES = {"plain": Recipe(3000), "plain_first": Recipe(3000, context="first"), "attention": Recipe(1500, "additive")}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


@cache
def task() -> Task:
    """The task, made once a process."""
    return single_numbers()


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = chosen(RECIPES, job.model).build(task())
    return Outcome(train_and_measure(model, task(), job))


EXPERIMENT = Experiment("single_numbers", STEPS, run, {"task": "single_numbers()", **TRAINING})
