"""Sentences with names that no vocabulary holds: a decoder with attention, and one that may copy (chapter 14)."""

from typing import Any

from torch import Tensor, nn

from attnbook.data.batching import Batch
from attnbook.data.symbols.names import SIZE, UNK, WORDS, name_batch, without_names
from attnbook.data.texts.vocabulary import EOS
from attnbook.decoding import greedy
from attnbook.device import device_of
from attnbook.models import AttentionSeq2Seq
from attnbook.models.pointer_generator import PointerGenerator
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

EMBEDDING, HIDDEN = 32, 64
TESTS, TEST_SEED = 500, 0
STEPS = {"plain": 300, "pointer_generator": 300}
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment. Raises ValueError for another name."""
    if name not in STEPS:
        raise ValueError(f"no model is called {name!r}; there is: {', '.join(STEPS)}")
    if name == "plain":
        return AttentionSeq2Seq(len(WORDS), len(WORDS), EMBEDDING, HIDDEN)
    return PointerGenerator(len(WORDS), SIZE, UNK, EMBEDDING, HIDDEN)


def shown_to(model: nn.Module, batch: Batch) -> Batch:
    """The batch as the model is shown it: without names, unless it can copy."""
    if isinstance(model, PointerGenerator):
        return batch
    return Batch(without_names(batch.source), batch.lengths, without_names(batch.target))


class Sentences:
    """The sentences of each training step, new ones each time."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """Those of one step: the same for the same step and seed."""
        return shown_to(self.model, name_batch(batch_size, seed_of_step(seed, step)))


def share_right(written: Tensor, target: Tensor) -> float:
    """Share of the rows ``(B, L)`` that are the target ``(B, T)`` up to its end."""
    steps = min(written.shape[1], target.shape[1])
    ended = (target == EOS).cumsum(dim=1) - (target == EOS).long() > 0  # (B, T): after the end
    same = (written[:, :steps] == target[:, :steps]) | ended[:, :steps]
    whole = same.all(dim=1) & ended[:, steps:].all(dim=1)
    return rounded_mean(whole)


@evaluating
def measured(model: nn.Module, batch: Batch) -> dict[str, float]:
    """Shares of right answers: ``exact``, and ``exact_without_names`` where all names count as one word."""
    batch = batch.to(device_of(model))
    shown = shown_to(model, batch)
    longest = batch.target.shape[1] + 2
    written = greedy(model, shown.source, shown.lengths, max_length=longest).tokens  # type: ignore[arg-type]
    return {
        "exact": share_right(written, batch.target),
        "exact_without_names": share_right(without_names(written), without_names(batch.target)),
    }


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model)
    history, figures = train(model, Sentences(model), job, TRAINING)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures |= measured(model, name_batch(TESTS, TEST_SEED))
    return Outcome(figures, model if job.seed == 0 else None)


EXPERIMENT = Experiment(
    "names",
    STEPS,
    run,
    {"task": "name_batch", "embedding": EMBEDDING, "hidden": HIDDEN, "tests": TESTS, **TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
