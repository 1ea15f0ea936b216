"""What the experiments of chapter 13 share: train a machine on tasks of bits, choose a checkpoint, count wrong bits."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data import BitBatch, mark_phases
from attnbook.device import best_device, device_of
from attnbook.models import NTM, LSTMTagger, NTMConfig
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_of_step
from attnbook.training import fit, warmup_then_cosine
from attnbook.trees import moved
from attnruns.shared.runner import Job
from attnruns.shared.seq2seq import chunk_means

# How every machine of chapter 13 trains, beside its number of steps; from ``constant`` of them on learning slows down.
TRAINING: dict[str, Any] = {"batch": 16, "learning_rate": 3e-3, "warmup": 20, "constant": 0.6, "max_grad_norm": 1.0}
VALIDATION_SEED, TEST_SEED = 1, 0  # training begins at 1,000,003
COUNT = {"validation": 20, "test": 50}  # sequences of each size
VALIDATE_EVERY = 100  # steps from one checkpoint to the next


class Lesson(NamedTuple):
    """A batch of a task, and the number of memory rows that a machine gets for it."""

    bits: BitBatch
    rows: int


@dataclass(frozen=True)
class BitTask:
    """A task as training and tests see it.

    Fields:
        draw: ``draw(size, count, seed, source) -> Lesson``, of at most that size, ``source`` saying which.
        exact: ``exact(size, count, seed) -> Lesson``, of just that size, with the rows of a test.
        sizes: the largest size at first, in the end, and how much it grows at a time.
        validation: sizes on which the checkpoint is chosen. tests: sizes on which it is tested.
        inputs, outputs: features.
    """

    draw: Callable[[int, int, int, torch.Generator], Lesson]
    exact: Callable[[int, int, int], Lesson]
    sizes: tuple[int, int, int]
    validation: tuple[int, ...]
    tests: tuple[int, ...]
    inputs: int
    outputs: int


def marked(task: BitTask) -> BitTask:
    """The same task with :func:`~attnbook.data.symbols.algorithmic.mark_phases` in all its lessons."""

    def mark(lesson: Lesson) -> Lesson:
        return lesson._replace(bits=mark_phases(lesson.bits))

    return replace(
        task,
        draw=lambda *arguments: mark(task.draw(*arguments)),
        exact=lambda *arguments: mark(task.exact(*arguments)),
        inputs=task.inputs + 2,
    )


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a training.

    Fields:
        machine: changes to :class:`NTMConfig`; ``None`` for an LSTM alone.
        curriculum: begin with small sizes.
        rows: so many rows in each lesson; ``None`` = as drawn.
        betas: what AdamW keeps. With its usual 0.999 one burst of gradients moves a weight by some 30 times the rate.
        blur: price of a head that looks at several rows, 1 − Σ w², once the lessons are as large as they get.
    """

    machine: dict | None = field(default_factory=dict)
    curriculum: bool = True
    rows: int | None = None
    betas: tuple[float, float] = (0.9, 0.95)
    blur: float = 0.0

    def build(self, task: BitTask) -> nn.Module:
        """A fresh model for a task."""
        if self.machine is None:
            return LSTMTagger(task.inputs, task.outputs)
        return NTM(NTMConfig(task.inputs, task.outputs, **self.machine))

    def learning_rate(self, step: int, steps: int) -> float:
        """The learning rate of a step."""
        return TRAINING["learning_rate"] * warmup_then_cosine(step, steps, TRAINING["warmup"], TRAINING["constant"])


def bit_loss(logits: Tensor, bits: BitBatch) -> Tensor:
    """Cross-entropy of the bits that are asked for, in nats a bit."""
    return F.binary_cross_entropy_with_logits(logits[bits.mask], bits.target[bits.mask])


def wrong_bits(logits: Tensor, bits: BitBatch) -> float:
    """Bits answered wrongly, a sequence."""
    wrong = (logits > 0) != (bits.target > 0.5)  # (B, T, O)
    return (wrong & bits.mask[..., None]).sum().item() / len(wrong)


def blur(weights: Tensor) -> Tensor:
    """How far heads are from looking at one row each: the mean of 1 − Σ w² over ``weights (..., N)``; 0 = at one."""
    return (1 - weights.square().sum(dim=-1)).mean()


class Training:
    """A training under way: lessons that grow, and the best checkpoint.

    The size of a lesson follows what the model has learnt, so this can't be resumed.
    """

    def __init__(self, model: nn.Module, task: BitTask, recipe: Recipe, seed: int) -> None:
        self.task, self.recipe, self.seed = task, recipe, seed
        self.largest = task.sizes[0] if recipe.curriculum else task.sizes[1]
        self.error = float(task.outputs)  # running mean of the wrong bits a sequence
        self.errors: list[float] = []  # that mean at each validation
        self.grew: list[int] = []  # the steps at which lessons grew
        self.converged: dict[str, float] | None = None  # the step, and CPU seconds, at which the largest were learnt
        self.best, self.kept, self.steps = float("-inf"), copy.deepcopy(model.state_dict()), 0
        self.start = time.process_time()
        tests = [task.exact(size, COUNT["validation"], VALIDATION_SEED) for size in task.validation]
        self.validation: list[Lesson] = [moved(test, device_of(model)) for test in tests]

    def batch_at(self, step: int) -> Lesson:
        """The lesson of a step."""
        seed = seed_of_step(self.seed, step)
        lesson = self.task.draw(self.largest, TRAINING["batch"], seed, generator(seed))
        return lesson if self.recipe.rows is None else lesson._replace(rows=self.recipe.rows)

    def loss(self, model: nn.Module, lesson: Lesson) -> Tensor:
        """Cross-entropy of a lesson, and the price of its blur; the next lesson may be larger."""
        self.steps += 1
        logits, weights = model(lesson.bits.inputs, rows=lesson.rows)
        loss = bit_loss(logits, lesson.bits)
        if self.recipe.blur and self.largest == self.task.sizes[1]:
            loss = loss + self.recipe.blur * blur(weights)
        self._grow(wrong_bits(logits, lesson.bits))
        return loss

    def _grow(self, wrong: float) -> None:
        _, last, by = self.task.sizes
        self.error = 0.98 * self.error + 0.02 * wrong
        if self.error >= 1:
            return
        if self.largest < last:
            self.largest, self.error = min(last, self.largest + by), 1.5
            self.grew.append(self.steps)
        elif self.converged is None:
            self.converged = {"step": self.steps, "seconds": round(time.process_time() - self.start, 1)}

    @torch.no_grad()
    def validate(self, model: nn.Module) -> float:
        """Minus the mean loss on the sizes that choose the checkpoint; keep the best one."""
        losses = [bit_loss(model(bits.inputs, rows=rows)[0], bits).item() for bits, rows in self.validation]
        result = -sum(losses) / len(losses)
        self.errors.append(round(self.error, 4))
        if result > self.best:
            self.best, self.kept = result, copy.deepcopy(model.state_dict())
        return result


@evaluating
def measure(model: nn.Module, task: BitTask) -> dict[str, float]:
    """Wrong bits a sequence, by size."""
    found = {}
    for size in task.tests:
        bits, rows = moved(task.exact(size, COUNT["test"], TEST_SEED), device_of(model))
        found[str(size)] = round(wrong_bits(model(bits.inputs, rows=rows)[0], bits), 3)
    return found


def train_and_measure(
    model: nn.Module, task: BitTask, recipe: Recipe, job: Job, more: Callable[[Any], dict] = lambda model: {}
) -> dict:
    """Train, choose the checkpoint, and test it and the last one. ``model`` is left as it was at that checkpoint.

    All of it on the best device, to which the model moves.

    ``more``: further figures of a model, taken in both states.
    """
    start, training = time.process_time(), Training(model.to(best_device()), task, recipe, job.seed)
    history = fit(
        model, training.batch_at, job.steps, schedule=lambda step: recipe.learning_rate(step, job.steps),
        optimiser=partial(torch.optim.AdamW, betas=recipe.betas), max_grad_norm=TRAINING["max_grad_norm"],
        loss=training.loss, validate=training.validate, validate_every=VALIDATE_EVERY, progress=False,
    )  # fmt: skip
    last = {"wrong_bits_last": measure(model, task)} | {f"{name}_last": value for name, value in more(model).items()}
    model.load_state_dict(training.kept)
    results = [result for _, result in history.validations]
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(time.process_time() - start, 1),
        "grew": training.grew,
        "converged": training.converged,
        "losses": chunk_means(history.losses, 50, digits=5),
        "errors": training.errors,
        "validations": [round(-result, 6) for result in results],
        "chosen": history.validations[results.index(max(results))][0],
        "wrong_bits": measure(model, task),
        **last,
        **more(model),
    }
