"""Which stack needs the residual connections: that of the encoder, that of the decoder, or both (chapter 05).

The translator is that of the chapter's file, made of the package's parts: single numbers below 1,000, 48 features, the
paper's wiring. While it trains, the signal in its encoder is measured as in the chapter: how far apart are the outputs
of the top layer for two numbers that differ in one word?
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import Additive, attend
from attnbook.data import single_numbers
from attnbook.data.batching import Batch, Task
from attnbook.data.symbols.numbers import number_list
from attnbook.device import best_device
from attnbook.measure.evaluation import accuracy
from attnbook.models.gnmt import FIRST_RESIDUAL, GNMTEncoder
from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

EMBEDDING, HIDDEN = 32, 48  # features of a word vector, and of a layer's output
RATE, WARMUP = 5e-3, 50  # the rate rises over so many steps and then stays, as in the chapter
HUNDREDS = ((1, 2), (3, 4), (5, 6), (7, 8), (9, 1), (2, 5), (3, 8), (4, 9))  # of the numbers that are compared
REST = 42  # what follows the hundreds in each
EVERY = 100  # steps between two measurements of the signal
TRAINING: dict[str, Any] = {"batch": 32, "learning_rate": RATE, "warmup": WARMUP, "max_grad_norm": 1.0}


class Translator(nn.Module):
    """The chapter's translator in one pass over the target: the context goes to the decoder's layers above the lowest.

    Args:
        source_size, target_size: vocabulary sizes.
        layers: of each stack.
        encoder, decoder: whether that stack has residual connections from its third layer on.

    Source: Wu et al. 2016, figure 1.
    """

    def __init__(self, source_size: int, target_size: int, layers: int, encoder: bool, decoder: bool) -> None:
        super().__init__()
        self.encoder = GNMTEncoder(source_size, EMBEDDING, HIDDEN, layers, encoder)
        self.score = Additive(HIDDEN, HIDDEN, HIDDEN // 2)
        self.embed, self.lowest = nn.Embedding(target_size, EMBEDDING), nn.LSTM(EMBEDDING, HIDDEN, batch_first=True)
        self.upper = nn.ModuleList(nn.LSTM(2 * HIDDEN, HIDDEN, batch_first=True) for _ in range(layers - 1))
        self.output = nn.Linear(HIDDEN, target_size)
        self.first_residual = FIRST_RESIDUAL if decoder else layers + 1

    def forward(self, source: Tensor, lengths: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """``source (B, Tk)`` and the right words ``words (B, T)`` -> logits ``(B, T, V)``, weights ``(B, T, Tk)``."""
        annotations, _, mask = self.encoder(source, lengths)
        x, _ = self.lowest(self.embed(words))  # (B, T, D)
        query = F.pad(x, (0, 0, 1, -1))  # the output at the previous word; zeros at the first
        context, weights = attend(query, annotations, annotations, score=self.score, mask=mask[:, None])  # (B, T, D)
        for number, lstm in enumerate(self.upper, start=2):
            out, _ = lstm(torch.cat([x, context], dim=-1))  # (B, T, D)
            x = x + out if number >= self.first_residual else out
        return self.output(x), weights


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a translator.

    Fields:
        encoder, decoder: whether that stack has residual connections from its third layer on.
        layers: of each stack. steps: of the training.
    """

    encoder: bool
    decoder: bool
    layers: int = 8
    steps: int = 700

    def build(self, task: Task) -> Translator:
        """A fresh translator for a task."""
        words = len(task.source_vocabulary), len(task.target_vocabulary)
        return Translator(*words, self.layers, self.encoder, self.decoder)


RECIPES = {
    "both": Recipe(True, True),
    "encoder": Recipe(True, False),
    "decoder": Recipe(False, True),
    "neither": Recipe(False, False),
    "neither_4": Recipe(False, False, layers=4),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


@cache
def task() -> Task:
    """The numbers below 1,000: 800 to train on and 200 for the test."""
    return single_numbers(train=800, validation=0, test=200, below=1000)


@cache
def pairs(task: Task) -> tuple[Batch, Batch]:
    """Two batches of eight numbers, which differ in the first word of each."""
    first, second = (task.collate([number_list([100 * two[i] + REST]) for two in HUNDREDS]) for i in range(2))
    return first, second


@torch.no_grad()
def signal(model: Translator, first: Batch, second: Batch) -> float:
    """The distance of the encoder's top outputs at the last word, divided by their norm; the mean of a batch."""
    a, b = (model.encoder(batch.source, batch.lengths).annotations[:, -1] for batch in (first, second))  # (B, D)
    return ((a - b).norm(dim=-1) / a.norm(dim=-1)).mean().item()


class Drawn:
    """Batches as the chapter draws them: numbers of any length together, each drawn anew from the task's 800."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step: the same for the same seed and step."""
        generator = torch.Generator().manual_seed(100_000 * seed + step)
        return self.task.train_rows(torch.randint(len(self.task.train), (batch_size,), generator=generator))


def rate(step: int) -> float:
    """The learning rate of a step."""
    return RATE * min(1, (step + 1) / WARMUP)


def watched(
    job: Job, recipes: Mapping[str, Recipe], measure: Callable[[Translator, Batch, Batch], Any]
) -> tuple[Translator, dict[str, Any], list[Any]]:
    """Train a translator, and measure it on the way.

    Returns:
        the translator; its figures, with the exact match as often as it was measured; and what ``measure`` found on the
        batches of :func:`pairs`, before training and on the way.
    """
    seed_everything(job.seed)
    lists = task()
    model = chosen(recipes, job.model).build(lists).to(best_device())
    first, second = (batch.to(best_device()) for batch in pairs(lists))
    measured: list[Any] = [measure(model, first, second)]
    exact: list[float] = []

    def watch(trained: nn.Module) -> float:
        measured.append(measure(model, first, second))
        exact.append(round(accuracy(trained, lists, lists.test), 4))
        return exact[-1]

    every = min(EVERY, job.steps)
    history, figures = train(model, Drawn(lists), job, TRAINING, schedule=rate, validate=watch, validate_every=every)
    losses = chunk_means(history.losses, every, digits=4)
    return model, figures | {"losses": losses, "exact_match": exact, "every": every}, measured


def run(job: Job) -> Outcome:
    """Train a translator; measure its signal on the way, and its exact match as often."""
    _, figures, signals = watched(job, RECIPES, signal)
    return Outcome(figures | {"signal": [float(f"{value:.3g}") for value in signals]})


EXPERIMENT = Experiment(
    "residual_sides",
    STEPS,
    run,
    {"task": "single_numbers(train=800, validation=0, test=200, below=1000)", "hidden": HIDDEN, **TRAINING},
)
