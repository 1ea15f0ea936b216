"""What most experiments share: train a model on a task, and measure a seq2seq model by length."""

import time
from typing import Any, Protocol

from torch import nn

from attnbook.data.batching import Batch, Task
from attnbook.device import best_device
from attnbook.measure.evaluation import accuracy_by_size, task_alignment_error
from attnbook.models import PlainSeq2Seq
from attnbook.training import History, fit
from attnruns.shared.runner import Job

# How every model of chapters 01 to 03 trains, beside its number of steps; written into each result file.
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 100, "max_grad_norm": 1.0}


class Lessons(Protocol):
    """What a training asks of a task."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""


def train(model: nn.Module, task: Lessons, job: Job, training: dict, **more) -> tuple[History, dict]:
    """Train for ``job.steps`` steps; return the history, and parameters, CPU seconds and final loss.

    The model moves to the best device (``best_device()``), and stays there.

    Args:
        training: batch, learning_rate, warmup and max_grad_norm.
        more: whatever else :func:`fit` takes.
    """
    how = {**training, **more}
    batch = how.pop("batch")
    start = time.process_time()  # not the clock: another job on the other core must not count
    model.to(best_device())
    history = fit(model, lambda step: task.batch_at(step, batch, job.seed), job.steps, progress=False, **how)
    return history, {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(time.process_time() - start, 1),
        "loss": round(sum(history.losses[-50:]) / len(history.losses[-50:]), 5),
    }


def train_and_measure(model: nn.Module, task: Task, job: Job, training: dict | None = None) -> dict:
    """Train a seq2seq model; return what :func:`train` does, the losses, exact match by size and alignment error.

    ``training``: batch, learning_rate, warmup, max_grad_norm and whatever else :func:`fit` takes; ``TRAINING`` when
    left out.
    """
    history, figures = train(model, task, job, TRAINING if training is None else training)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures["exact_match"] = accuracy_by_size(model, task)
    if not isinstance(model, PlainSeq2Seq):
        figures["alignment_error_rate"] = round(task_alignment_error(model, task, task.test[::4]), 4)
    return figures


def chunk_means(values: list[float], size: int, digits: int) -> list[float]:
    """The mean of each ``size`` values in a row, rounded to so many digits; the last chunk may be shorter."""
    chunks = [values[i : i + size] for i in range(0, len(values), size)]
    return [round(sum(chunk) / len(chunk), digits) for chunk in chunks]
