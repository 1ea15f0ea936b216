"""Sorting 3 to 6 numbers with three outputs: a fixed layer, attention before that layer, a pointer (chapter 14).

The pointer network is that of the chapter, whose code builds it from a longer training.
"""

import math
import time
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.attention import Additive, attend
from attnbook.data import sorting_batch
from attnbook.data.batching import Batch
from attnbook.device import best_device, device_of
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnbook.training import fit
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

HIDDEN, LONGEST = 64, 6  # features, and rows of the output layer
SIZES = (3, 4, 5, 6)  # numbers in a list, in turn
TESTS = 500  # lists of each size
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 0, "max_grad_norm": 1.0}
DESIGNS = ("fixed", "attention", "pointer")
OUTPUTS = {name + longer: name for longer in ("", "_longer") for name in DESIGNS}
STEPS = {name: 1000 if name.endswith("_longer") else 200 for name in OUTPUTS}


class Sorter(nn.Module):
    """An LSTM reads the numbers, and an LSTM cell names positions step by step.

    Args:
        output: what turns its state into scores: ``"fixed"``, a linear layer with one row per position;
            ``"attention"``, this layer, which also receives a weighted sum of the keys; or ``"pointer"``, the scores
            of the keys themselves.
    """

    def __init__(self, output: str) -> None:
        super().__init__()
        self.embed = nn.Linear(1, HIDDEN)
        self.rnn = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.score = Additive(HIDDEN, HIDDEN, HIDDEN) if output != "fixed" else None
        self.output = nn.Linear(2 * HIDDEN if self.score else HIDDEN, LONGEST) if output != "pointer" else None
        self.start = nn.Parameter(torch.randn(HIDDEN) * HIDDEN**-0.5)
        self.decoder = nn.LSTMCell(HIDDEN, HIDDEN)

    def forward(self, numbers: Tensor, target: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """``numbers (B, N, 1)`` -> log-probabilities ``(B, N, N)`` of all steps, and positions ``(B, N)``.

        The next step reads the number at the position of the ``target (B, N)``, or without one at the chosen position.
        """
        embedded = self.embed(numbers)  # (B, N, D)
        keys, (hidden, cell) = self.rnn(embedded)
        state, x = (hidden[0], cell[0]), self.start.expand(len(numbers), -1)
        free = torch.ones(numbers.shape[:2], dtype=torch.bool, device=numbers.device)  # (B, N)
        log_probs, positions = [], []
        for step in range(numbers.shape[1]):
            state = self.decoder(x, state)
            scores = self.scores(state[0], keys).masked_fill(~free, -math.inf)
            chosen = scores.argmax(dim=-1) if target is None else target[:, step]  # (B,)
            x, free = embedded[torch.arange(len(numbers)), chosen], free.scatter(1, chosen[:, None], False)
            log_probs.append(scores.log_softmax(dim=-1))
            positions.append(chosen)
        return torch.stack(log_probs, dim=1), torch.stack(positions, dim=1)

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """``query (B, D)``, ``keys (B, N, D)`` -> one score for each position, ``(B, N)``."""
        if self.score is not None:
            if self.output is None:
                return self.score(query[:, None], keys)[:, 0]  # (B, 1, N) -> (B, N)
            context, _ = attend(query[:, None], keys, keys, score=self.score)  # (B, 1, D)
            query = torch.cat([query, context[:, 0]], dim=-1)
        assert self.output is not None  # a pointer has a score
        return self.output(query)[:, : keys.shape[1]]


def loss(model: nn.Module, batch: Batch) -> Tensor:
    """Mean of −log p of the right positions, in nats."""
    log_probs, _ = model(batch.source, batch.target)
    return -log_probs.gather(2, batch.target[..., None]).mean()


@evaluating
def share_sorted(model: nn.Module, size: int) -> float:
    """The share of lists of one size that come out without a mistake."""
    lists = sorting_batch(size, TESTS).to(device_of(model))  # seed 0 is never trained
    _, positions = model(lists.source)
    return (positions == lists.target).all(dim=1).float().mean().item()


def build(name: str) -> Sorter:
    """A fresh model of this experiment."""
    return Sorter(chosen(OUTPUTS, name))


def run(job: Job) -> Outcome:
    """Train one network as the chapter does, and test it on each size."""
    start = time.process_time()
    seed_everything(job.seed)
    model = build(job.model).to(best_device())

    def batch_at(step: int) -> Batch:
        return sorting_batch(SIZES[step % len(SIZES)], TRAINING["batch"], seed=1 + 1000 * job.seed + step)

    rate = TRAINING["learning_rate"]
    losses = fit(
        model, batch_at, job.steps, schedule=lambda step: rate, optimiser=torch.optim.Adam, loss=loss, progress=False
    ).losses
    right = {str(size): round(share_sorted(model, size), 4) for size in SIZES}
    return Outcome({"right": right, "loss": round(losses[-1], 4), "seconds": round(time.process_time() - start, 1)})


EXPERIMENT = Experiment("sorting_designs", STEPS, run, {"task": "sorting_batch, 3 to 6 numbers in turn", **TRAINING})
