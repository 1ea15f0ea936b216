"""Lists of numbers, English to German: one vector against attention, by how many numbers are in the list."""

from functools import cache

from torch import nn

from attnbook.attention import LocationAware
from attnbook.data.batching import Task
from attnbook.data.numbers import number_lists
from attnbook.experiments.runner import Experiment, Job, Outcome
from attnbook.experiments.seq2seq import TRAINING, train_and_measure
from attnbook.experiments.weights import load_weights
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnbook.seeding import seed_everything

# Steps are chosen so that models had about the same time: one of the plain model takes half as long as one with
# attention, one at 256 units twice as long as one at 128. What it came to is measured: see "seconds".
STEPS = {
    "plain": 2400,
    "attention": 1200,
    "location_aware": 1200,
    "attention_one_way": 1200,
    "plain_first": 2400,
    "plain_256": 1200,
    "plain_64": 2400,
    "plain_32": 2400,
    "attention_64": 1200,
    "location_aware_64": 1200,
}
KEEP = {"plain", "plain_256", "attention", "location_aware", "location_aware_64"}


@cache
def task() -> Task:
    """The task, made once a process."""
    return number_lists()


def build(name: str, task: Task) -> nn.Module:
    """Build a model of this experiment by name: a kind, then what is unusual about it (a width, a cell, …)."""
    sizes = len(task.source_vocabulary), len(task.target_vocabulary)
    last = name.rpartition("_")[2]
    hidden = int(last) if last.isdigit() else 128
    if name.startswith("plain"):
        return PlainSeq2Seq(*sizes, hidden=hidden, context="first" if last == "first" else "every")
    score = LocationAware(hidden, hidden, hidden // 2) if name.startswith("location_aware") else None
    return AttentionSeq2Seq(*sizes, hidden=hidden, bidirectional=name != "attention_one_way", score=score)


def trained(name: str, seed: int = 0) -> nn.Module:
    """A model of this experiment as its training left it, ready to be asked. Raises ValueError if nothing was kept."""
    return load_weights(build(name, task()), "numbers", name, seed)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model, task())
    figures = train_and_measure(model, task(), job)
    return Outcome(figures, model if job.model in KEEP and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "numbers", STEPS, run, {"task": "number_lists()", **TRAINING}
)
