"""How far content and place carry when the scores are multiplied by β: at test time, or by length in training too."""

import math

from torch import nn

from attnbook.attention import Sharpened
from attnbook.experiments.numbers import build, task
from attnbook.experiments.runner import Experiment, Job, Outcome
from attnbook.experiments.seq2seq import TRAINING, accuracy, train_and_measure
from attnbook.experiments.weights import load_weights
from attnbook.seeding import seed_everything

BETAS = (1.0, 1.5, 2.0, 3.0)
CHOICE = 10  # numbers in the lists on which β is chosen; what it is worth is read off the other sizes
SIZES = (8, CHOICE, 12, 16, 24, 32)
LISTS = 100  # of each size


def accuracy_by_beta(model: nn.Module) -> dict[str, dict[str, float]]:
    """Exact match by β and by size of list, ``{"2.0": {"12": …}}``; the model's score is put back afterwards."""
    score, found = model.score, {}
    lists = {size: task().longer[size][:LISTS] for size in SIZES}
    for beta in BETAS:
        model.score = Sharpened(score, beta)
        found[str(beta)] = {str(size): round(accuracy(model, task(), lists[size]), 4) for size in SIZES}
    model.score = score
    return found


def by_length(places: int) -> float:
    """β = ln(places) / ln 10: 1 at ten words, 2 at a hundred. A row of n equal rivals shares its weight n ways."""
    return math.log(places) / math.log(10)


def make(name: str) -> nn.Module:
    """The model of that name in the experiment "numbers"; with "_by_length" it trains with β growing with length."""
    model = build(name.removesuffix("_by_length"), task())
    if name.endswith("_by_length"):
        model.score = Sharpened(model.score, by_length)
    return model


def trained(name: str, seed: int = 0) -> nn.Module:
    """A model of this experiment as its training left it, ready to be asked. Raises ValueError if nothing was kept."""
    return load_weights(make(name), "sharpening", name, seed)


def run(job: Job) -> Outcome:
    """Train a model as the experiment "numbers" does, and measure it at each β."""
    seed_everything(job.seed)
    model = make(job.model)
    figures = train_and_measure(model, task(), job)
    kept = model if job.model.endswith("_by_length") and job.seed == 0 else None
    return Outcome({**figures, "by_beta": accuracy_by_beta(model)}, kept)


EXPERIMENT = Experiment(
    "sharpening",
    {"location_aware": 1200, "location_aware_64": 1200, "location_aware_long": 2400, "location_aware_by_length": 1200},
    run,
    {"task": "number_lists()", "betas": list(BETAS), "lists": LISTS, "choice": CHOICE, **TRAINING},
)
