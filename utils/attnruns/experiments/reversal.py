"""Random strings, to be written backwards: the bottleneck at its purest."""

from dataclasses import dataclass
from functools import cache

from torch import nn

from attnbook.data.batching import Task
from attnbook.data.symbols.algorithmic import reversed_strings
from attnbook.models import PlainSeq2Seq
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
        both_ways: whether the model with one vector reads both ways, as those with attention do.
    """

    letters: str = LETTERS
    both_ways: bool = False

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task."""
        if not self.both_ways:
            return super().build(task)
        sizes = len(task.source_vocabulary), len(task.target_vocabulary)
        return PlainSeq2Seq(*sizes, hidden=self.hidden, context=self.context, bidirectional=True)


RECIPES = {
    "plain": Recipe(2400),
    "attention": Recipe(1200, "additive"),
    "plain_two_letters": Recipe(2400, letters="ab"),
    "plain_both_ways": Recipe(2400, both_ways=True),
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
