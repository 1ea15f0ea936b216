"""The counter-example: one number at a time fits into the vector, so that nothing is squeezed out."""

from functools import cache

from attnbook.data.batching import Task
from attnbook.data.numbers import single_numbers
from attnbook.experiments.numbers import build
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import TRAINING, train_and_measure
from attnbook.seeding import seed_everything

STEPS = {"plain": 3000, "plain_first": 3000, "attention": 1500}


@cache
def task() -> Task:
    """The task, made once a process."""
    return single_numbers()


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    return Outcome(train_and_measure(build(job.model, task()), task(), job))


EXPERIMENT = Experiment("single_numbers", STEPS, run, {"task": "single_numbers()", **TRAINING})
