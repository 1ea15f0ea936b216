"""Random strings, to be written backwards: the bottleneck at its purest."""

from functools import cache

from attnbook.data.algorithmic import reversed_strings
from attnbook.data.batching import Task
from attnbook.experiments.numbers import build
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import TRAINING, train_and_measure
from attnbook.seeding import seed_everything

STEPS = {"plain": 2400, "attention": 1200, "plain_two_letters": 2400}


@cache
def task(letters: str = "abcdefghij") -> Task:
    """The task, made once per process. With two letters a string is as long, but has 1 bit per letter, not 3.3."""
    return reversed_strings(letters)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    name, _, two_letters = job.model.partition("_")
    lesson = task("ab") if two_letters else task()
    return Outcome(train_and_measure(build(name, lesson), lesson, job))


EXPERIMENT = Experiment("reversal", STEPS, run, {"task": "reversed_strings()", **TRAINING})
