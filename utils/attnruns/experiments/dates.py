"""Dates with learned weights, with equal weights, and without the tanh: how much of the gain is due to attention."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from attnbook.attention import Additive
from attnbook.attention.scores import PreparedKeys, Score, key_features
from attnbook.data.batching import Task
from attnbook.data.symbols.dates import dates
from attnbook.measure.evaluation import accuracy
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train

HIDDEN = 64  # as in the chapter's own file
FORMATS = (("en_GB", "d MMMM y"), ("en_US", "MMMM d, y"), ("de", "d. MMMM y"), ("fr", "d MMMM y"), ("de", "dd.MM.y"))
HERE = {**TRAINING, "learning_rate": 5e-3, "warmup": 1}


class Uniform(Score):
    """Every key has the score 0, so that all weights are equal: the context is the mean of the annotations."""

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        return torch.zeros(*query.shape[:-1], key_features(keys).shape[-2], device=query.device)  # (..., Tq, Tk)


class WithoutTanh(Additive):
    """vᵀ(W_q q + W_k k): the part of the query is the same for all keys, and the softmax cancels it."""

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        return self.hidden_to_score(self.add_pairs(query, keys))[..., 0]  # (..., Tq, Tk, A) -> (..., Tq, Tk)


SCORES: dict[str, Callable[[], Score]] = {
    "additive": lambda: Additive(HIDDEN, HIDDEN, HIDDEN // 2),
    "uniform": Uniform,
    "without_tanh": lambda: WithoutTanh(HIDDEN, HIDDEN, HIDDEN // 2),
    "uniform_longer": Uniform,  # how far it catches up
}
STEPS = {"additive": 201, "uniform": 201, "without_tanh": 201, "uniform_longer": 801}


@cache
def task() -> Task:
    """The task, made once per process: the five forms of Chapter 2, with no date in two splits."""
    return dates(validation=0, test=1000, formats=FORMATS)


def build(name: str) -> nn.Module:
    """A fresh model of this experiment. Raises ValueError for a name that there is not."""
    sizes = len(task().source_vocabulary), len(task().target_vocabulary)
    return AttentionSeq2Seq(*sizes, hidden=HIDDEN, score=chosen(SCORES, name)())


def run(job: Job) -> Outcome:
    """Train one model; measure exact match on the test dates."""
    seed_everything(job.seed)
    model = build(job.model)
    _, figures = train(model, task(), job, HERE)
    figures["exact_match"] = round(accuracy(model, task(), task().test), 4)
    return Outcome(figures)


EXPERIMENT = Experiment("dates", STEPS, run, {"task": "dates(), five forms", **HERE})
