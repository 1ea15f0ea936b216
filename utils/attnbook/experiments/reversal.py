"""Random strings, to be written backwards: the bottleneck at its purest."""

from functools import cache

from attnbook.data.algorithmic import reversed_strings
from attnbook.data.batching import Task
from attnbook.experiments.numbers import build
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import TRAINING, train_and_measure
from attnbook.seeding import seed_everything

STEPS = {"plain": 2400, "attention": 1200}


@cache
def task() -> Task:
    """The task, made once a process."""
    return reversed_strings()


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    return Outcome(train_and_measure(build(job.model, task()), task(), job))


EXPERIMENT = Experiment("reversal", STEPS, run, {"task": "reversed_strings()", **TRAINING})
