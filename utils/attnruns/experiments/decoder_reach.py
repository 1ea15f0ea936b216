"""Copying beyond the trained length, each decoder trained until it copies the trained length (chapter 17).

The models and the task are those of :mod:`attnruns.experiments.decoder_lengths`. There every kind of positions trains
for 1,200 steps, and some have not learned the task by then; here a training goes on until the model copies strings of
the trained length. Afterwards some are tested again with the same weights, but other positions or sharper scores.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log, sqrt

from torch import Tensor

from attnbook.attention import NoPositions, Stretched, interpolated_frequencies
from attnbook.seeding import seed_everything
from attnbook.training.loop import History
from attnruns.experiments import decoder_lengths
from attnruns.experiments.decoder_lengths import LENGTHS, LETTERS, SIZES, TESTS, Copier, Strings, copied, letters_copied
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

TRAINED = LENGTHS[1]  # letters: the longest strings of training
MOST = 3000  # steps of a training that does not come to its end before
ENOUGH = 0.97  # of the strings for validation, two times in a row: then a training ends
VALIDATION_SEED = 500  # tests have seeds up to 48, trainings begin at 1,000,003
TRAINING = {**decoder_lengths.TRAINING, "learning_rate": 3e-3, "validate_every": 200, "enough": ENOUGH}
WAYS = {  # with the same weights: how positions are changed, and whether scores are multiplied
    "rotary": ("interpolated", "interpolated_first", "interpolated_second", "factor", "both"),
    "rotary_window": ("factor",),  # in the second layer only: the window of the first never holds more words
    "none": ("factor",),
}
KEPT = ("rotary", "rotary_window")  # whose weights of seed 0 stay
STEPS = dict.fromkeys(
    ("rotary", "rotary_window", decoder_lengths.HALF, "learned", "sinusoidal", "linear_bias", "none"), MOST
)


def validation(model: Copier) -> float:
    """Share of held-out strings of the trained length that are copied; they are not those of the tests."""
    return letters_copied(model, TRAINED, VALIDATION_SEED).all(dim=1).double().mean().item()


class Sharpened(NoPositions):
    """Other positions, whose scores are multiplied by a factor.

    Args:
        positions: what turns queries and keys; each is then multiplied by the root of ``factor``.
    """

    def __init__(self, positions: NoPositions, factor: float) -> None:
        super().__init__()
        self.positions, self.root = positions, sqrt(factor)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.root * self.positions.rotate(x, positions)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        return self.positions.bias(queries, keys)


def factor_of(size: int) -> float:
    """What scores are multiplied by in a string of ``size`` letters and its copy: ln(2 · size) / ln(2 · 12)."""
    return log(2 * size) / log(2 * TRAINED)


@contextmanager
def changed(model: Copier, kind: str, way: str, size: int) -> Iterator[None]:
    """Let a trained model read strings of ``size`` letters in another way for as long as this lasts.

    Args:
        kind: the model's.
        way: of ``WAYS[kind]``: ``"interpolated"`` (rotary positions are multiplied by 12 / ``size``), ``"factor"``
            (scores are multiplied by :func:`factor_of`), ``"both"``, or ``"interpolated_first"`` and
            ``"interpolated_second"`` (positions are multiplied in one layer only).

    Raises:
        ValueError: if ``kind`` is not read in this way.
    """
    if way not in WAYS[kind]:
        raise ValueError(f"{kind} is read in the ways {', '.join(WAYS[kind])}, got {way}")
    layers = list(model.blocks.layers)
    if kind == "rotary_window" or way == "interpolated_second":
        layers = layers[1:]
    elif way == "interpolated_first":
        layers = layers[:1]
    before = [layer.self_attention.positions for layer in layers]
    for layer in layers:
        attention = layer.self_attention
        if way.startswith("interpolated") or way == "both":
            per_head = attention.project_query.out_features // attention.heads
            attention.positions = Stretched(interpolated_frequencies(per_head, max(1.0, size / TRAINED)))
        if way in ("factor", "both"):
            attention.positions = Sharpened(attention.positions, factor_of(size))
    try:
        yield
    finally:
        for layer, positions in zip(layers, before, strict=True):
            layer.self_attention.positions = positions


def build(name: str) -> Copier:
    """A fresh model of this experiment."""
    chosen(STEPS, name)
    return Copier(name)


def train_copier(job: Job, fresh: Callable[[], Copier]) -> tuple[Copier, History, dict]:
    """A fresh model, trained until it copies the trained length; the history of its training, and its figures."""
    seed_everything(job.seed)
    model = fresh()
    history, figures = train(model, Strings(), job, TRAINING, loss=decoder_lengths.copying_loss, validate=validation)
    return model, history, figures | {"trained_steps": history.steps}


def run(job: Job) -> Outcome:
    """Train one model until it copies the trained length, and measure it at each, also with other ways to read."""
    model, history, figures = train_copier(job, lambda: build(job.model))
    figures["validation"] = round(history.validations[-1][1], 4)
    figures["copied"] = {str(size): copied(model, size) for size in SIZES}
    for way in WAYS.get(job.model, ()):
        figures[way] = {}
        for size in SIZES:
            if size >= TRAINED:
                with changed(model, job.model, way, size):
                    figures[way][str(size)] = copied(model, size)
    return Outcome(figures, model if job.seed == 0 and job.model in KEPT else None)


SETTINGS = {
    "task": f"copies of strings of {LENGTHS} letters of {LETTERS}", "sizes": SIZES, "tests": TESTS,
    "window": decoder_lengths.WINDOW["rotary_window"], **TRAINING,
}  # fmt: skip
EXPERIMENT = Experiment("decoder_reach", STEPS, run, SETTINGS, build=build)
trained = EXPERIMENT.trained
