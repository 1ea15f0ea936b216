"""The longer training of chapter 1 with new lists of numbers in each epoch, instead of the same 40,000 fifteen times.

Model, steps, schedule and test lists are those of ``plain_longer`` in the experiment ``numbers``. So what this model
translates more than that one, it owes to more lists, with the same vector.
"""

from functools import lru_cache
from itertools import islice

from attnbook.data.batching import Batch, Task
from attnbook.data.symbols.numbers import number_lists
from attnbook.measure.evaluation import accuracy_by_size
from attnbook.seeding import seed_everything
from attnruns.experiments import numbers
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, chunk_means, train

STEPS = {"plain_longer": numbers.STEPS["plain_longer"]}
LISTS = 40_000  # of an epoch
DRAWN = 42_000  # more than needed: lists that are tested are left out


@lru_cache(maxsize=1)
def lists_of(epoch: int, seed: int, lists: int = LISTS, drawn: int = DRAWN) -> Task:
    """The task with other training lists: those of one epoch, none of which is a test list.

    As single numbers are few and a tenth of them is tested, an epoch has some 15 % fewer of them than of each other
    size.
    """
    task = numbers.task()
    tested = {example.source for example in (*task.test, *task.validation)}
    other = number_lists(train=drawn, seed=1 + epoch + 1000 * seed)
    new = list(islice((example for example in other.train if example.source not in tested), lists))
    return Task(task.name, new, task.validation, task.test, task.longer, task.source_vocabulary, task.target_vocabulary)


class NewLists:
    """The lessons: each list is shown once, and every epoch has lists of its own."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        epoch, of_epoch = divmod(step, LISTS // batch_size)
        return lists_of(epoch, seed).batch_at(of_epoch, batch_size, seed)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    chosen(STEPS, job.model)
    task = numbers.task()
    model = numbers.build(job.model, task)
    history, figures = train(model, NewLists(), job, TRAINING)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures["exact_match"] = accuracy_by_size(model, task)
    return Outcome(figures)


EXPERIMENT = Experiment("new_lists", STEPS, run, {"task": "number_lists(), new in each epoch", **TRAINING})
