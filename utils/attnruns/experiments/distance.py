"""How far back can it remember? One letter, a gap, a question: recurrence against self-attention (chapter 07)."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import Sinusoidal
from attnbook.data.batching import Batch
from attnbook.data.symbols.recall import CHANCE, WORDS, recall_batch
from attnbook.device import best_device, device_of
from attnbook.models.sequence_layers import Recurrent, SelfAttention
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnbook.training import fit
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

DIM = 32
DISTANCES = (5, 10, 20, 50, 100, 200)
TRAINING: dict[str, Any] = {"batch": 16, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}
TESTS = 400  # strings for the test


class Answerer(nn.Module):
    """Reads a string through one layer and answers from its last position.

    Args:
        layer: ``(B, T, D) -> (B, T, D)``, see :mod:`attnbook.models.sequence_layers`.
        dim: features D.
        positions: what is added to the word vectors; ``None`` adds nothing.
    """

    def __init__(self, layer: nn.Module, dim: int = DIM, positions: nn.Module | None = None) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), dim)
        self.positions = positions or nn.Identity()
        self.layer = layer
        self.output = nn.Linear(dim, len(WORDS))

    def forward(self, words: Tensor) -> Tensor:
        """``words (B, T)`` -> logits ``(B, V)`` of the answer."""
        return self.output(self.layer(self.positions(self.embed(words)))[:, -1])  # (B, T) -> (B, T, D) -> (B, V)


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its strings.

    Fields:
        layer: makes the layer that reads.
        busy: other letters fill the gap, and are to be ignored.
        positions: whether positions are added to the words: attention needs them where there is more than one letter.
    """

    layer: Callable[[], nn.Module]
    busy: bool = False
    positions: bool = False


LSTM = partial(Recurrent, DIM, "lstm")
LSTM_OPEN = partial(Recurrent, DIM, "lstm", forget_bias=5.0)
ATTENTION = partial(SelfAttention, DIM, causal=True)
RECIPES = {
    "rnn": Recipe(partial(Recurrent, DIM)),
    "lstm": Recipe(LSTM),
    "lstm_open": Recipe(LSTM_OPEN),
    "attention": Recipe(ATTENTION),
    "lstm_busy": Recipe(LSTM, busy=True),
    "lstm_open_busy": Recipe(LSTM_OPEN, busy=True),
    "attention_busy": Recipe(ATTENTION, busy=True, positions=True),
}
STEPS = dict.fromkeys(RECIPES, 1000)


def build(name: str) -> Answerer:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    return Answerer(recipe.layer(), positions=Sinusoidal(DIM) if recipe.positions else None)


def answer_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Cross-entropy of the one answer, in nats."""
    return F.cross_entropy(model(batch.source), batch.target[:, 0])


@evaluating
def share_right(model: nn.Module, batch: Batch) -> float:
    """Share of the strings whose letter the model names."""
    batch = batch.to(device_of(model))
    return (model(batch.source).argmax(dim=-1) == batch.target[:, 0]).float().mean().item()


def train(model: nn.Module, distance: int, steps: int, seed: int, among_letters: bool = False) -> list[float]:
    """Train ``model`` at one distance, each step on new strings; return the losses."""
    how = {name: value for name, value in TRAINING.items() if name != "batch"}

    def batch_at(step: int) -> Batch:
        return recall_batch(distance, TRAINING["batch"], seed_of_step(seed, step), among_letters)

    return fit(model.to(best_device()), batch_at, steps, loss=answer_loss, progress=False, **how).losses


def run(job: Job) -> Outcome:
    """Train a model anew at each distance, and test each at all distances."""
    start, right, elsewhere, losses = time.process_time(), {}, {}, {}
    busy = RECIPES[job.model].busy
    tests = {d: recall_batch(d, TESTS, among_letters=busy) for d in DISTANCES}  # seed 0 is never trained
    for distance in DISTANCES:
        seed_everything(job.seed)
        model = build(job.model)
        last = train(model, distance, job.steps, job.seed, busy)[-20:]
        losses[str(distance)] = round(sum(last) / len(last), 4)
        shares = {str(d): round(share_right(model, test), 4) for d, test in tests.items()}
        right[str(distance)], elsewhere[str(distance)] = shares[str(distance)], shares
    return Outcome({
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(time.process_time() - start, 1),
        "right": right,
        "right_elsewhere": elsewhere,
        "loss": losses,
    })  # fmt: skip


EXPERIMENT = Experiment(
    "distance",
    STEPS,
    run,
    {"task": "recall_batch(distance)", "chance": CHANCE, "dim": DIM, **TRAINING},
    trainings=len(DISTANCES),
)
