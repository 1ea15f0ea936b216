"""One attention layer that has to learn which label fits which wish: with the square root, without it, and otherwise.

Wishes and labels are random vectors, and which label fits which wish is drawn, too, so that query and key matrices have
to be learned. Only the score differs. Each is trained at several learning rates, because a score that is larger by a
factor also changes how far a step goes. The model is small, and stays on the CPU.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

FEATURES = 64  # of a wish, a label and a value
PAIRS, BOOKS, ANSWERS = 32, 8, 10  # wishes with the label that fits, labels shown at once, different answers
BATCH, TESTS = 64, 2000
RATES = (0.0003, 0.001, 0.003, 0.01)
POINTS = (0, 25, 50, 100, 150, 200, 250, 300)  # the steps at which is measured
SHARP = 0.99  # a largest weight above it counts as sharp
WIDTHS = (64, 1024)  # features of a query and a key
SCORES = ("root", "plain", "small_start", "additive")
STEPS = {f"{score}_{width}": 300 for width in WIDTHS for score in SCORES}


class Questions(NamedTuple):
    """Wishes ``(B,)`` and labels ``(B, Tk)`` by number, the answer in each book ``(B, Tk)``, the right one ``(B,)``."""

    wishes: Tensor
    labels: Tensor
    contents: Tensor
    answers: Tensor


class Library(nn.Module):
    """Attention over labels with the score of that name, and a linear layer that reads the answer from the context.

    ``root``: the scaled dot product. ``plain``: the dot product. ``small_start``: the dot product of queries that start
    √d times as small. ``large_start``: the scaled one of queries that start √d times as large. ``additive``:
    v · tanh(query + key).
    """

    wishes: Tensor
    labels: Tensor

    def __init__(self, score: str, width: int) -> None:
        super().__init__()
        self.score, self.width = score, width
        self.register_buffer("wishes", torch.randn(PAIRS, FEATURES))
        self.register_buffer("labels", torch.randn(PAIRS, FEATURES))
        self.to_query, self.to_key = (nn.Linear(FEATURES, width, bias=False) for _ in range(2))
        for layer in (self.to_query, self.to_key):
            nn.init.normal_(layer.weight, std=FEATURES**-0.5)  # so that queries and keys have the variance 1
        factor = {"small_start": width**-0.5, "large_start": width**0.5}.get(score, 1.0)
        with torch.no_grad():
            self.to_query.weight *= factor
        self.to_score = nn.Linear(width, 1, bias=False) if score == "additive" else None
        self.values, self.out = nn.Embedding(ANSWERS, FEATURES), nn.Linear(FEATURES, ANSWERS)

    def scores(self, asked: Questions) -> Tensor:
        """The score of each label: ``(B, Tk)``."""
        query = self.to_query(self.wishes)[asked.wishes]  # (B, d)
        key = self.to_key(self.labels)[asked.labels]  # (B, Tk, d)
        if self.to_score is not None:
            return self.to_score(torch.tanh(query[:, None] + key))[:, :, 0]
        e = (key @ query[:, :, None])[:, :, 0]
        return e / self.width**0.5 if self.score in ("root", "large_start") else e

    def forward(self, asked: Questions) -> tuple[Tensor, Tensor]:
        """The score of each answer ``(B, ANSWERS)``, and the weights ``(B, Tk)``."""
        weights = self.scores(asked).softmax(dim=-1)
        return self.out((weights[:, None] @ self.values(asked.contents))[:, 0]), weights


def questions(count: int) -> Questions:
    """So many new questions: label number n fits wish number n, and each book holds a random answer."""
    labels = torch.rand(count, PAIRS).argsort(dim=-1)[:, :BOOKS]
    wanted, rows = torch.randint(0, BOOKS, (count,)), torch.arange(count)
    contents = torch.randint(0, ANSWERS, (count, BOOKS))
    return Questions(labels[rows, wanted], labels, contents, contents[rows, wanted])


@torch.no_grad()
def measured(model: Library, asked: Questions) -> dict[str, float]:
    """Accuracy, the share of sharp weights, and the standard deviation of the scores, on these questions."""
    logits, weights = model(asked)
    right = logits.argmax(dim=-1) == asked.answers
    sharp = weights.amax(dim=-1) > SHARP
    return {
        "accuracy": rounded_mean(right),
        "sharp": rounded_mean(sharp),
        "spread": round(model.scores(asked).std().item(), 3),
    }


def curve(make: Callable[[], Library], job: Job, rate: float) -> dict[str, dict[str, float]]:
    """Train the layer that ``make`` returns at one learning rate; what is measured, by the step."""
    seed_everything(job.seed)
    test = questions(TESTS)
    model = make()
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    found = {"0": measured(model, test)}
    for step in range(1, job.steps + 1):
        asked = questions(BATCH)
        optimiser.zero_grad()
        cross_entropy(model(asked)[0], asked.answers).backward()
        optimiser.step()
        if step in POINTS or step == job.steps:
            found[str(step)] = measured(model, test)
    return found


def by_rate(make: Callable[[str, int], Library], job: Job, names: Mapping[str, int], rates: Sequence[float]) -> Outcome:
    """Train the layer ``make(score, width)`` of the job's name, which must be among ``names``, at each rate."""
    chosen(names, job.model)
    score, width = job.model.rsplit("_", 1)
    started = time.process_time()
    layer = partial(make, score, int(width))
    figures: dict[str, Any] = {"by_rate": {str(rate): curve(layer, job, rate) for rate in rates}}
    return Outcome(figures | {"seconds": round(time.process_time() - started, 1)})


def run(job: Job) -> Outcome:
    """Train the layer of that name at each learning rate."""
    return by_rate(Library, job, STEPS, RATES)


SETTINGS = {
    "task": "the answer in the one of 8 books whose label fits the wish; 32 pairs of random vectors, drawn per seed",
    "batch": BATCH, "learning_rate": "0.0003, 0.001, 0.003 and 0.01, Adam", "warmup": 0, "max_grad_norm": None,
    "features": FEATURES, "tests": TESTS, "sharp": SHARP,
}  # fmt: skip
EXPERIMENT = Experiment("square_root", STEPS, run, SETTINGS, trainings=len(RATES), on_cpu=True)
