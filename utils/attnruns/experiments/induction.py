"""Induction heads: do two layers learn to copy what followed the present word before, and does one (chapter 11)?"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnbook.attention import MultiHeadAttention
from attnbook.data import shift_right
from attnbook.data.batching import Batch
from attnbook.data.symbols.repeats import repeats_batch
from attnbook.data.texts.vocabulary import SPECIAL
from attnbook.device import best_device, device_of
from attnbook.measure.induction import mean_contexts, prefix_matching_score, previous_word_score, without_head
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnbook.training import language_model_loss, sequence_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

WORDS, LENGTH, PERIODS = 64, 48, (8, 16)
FARTHER = {"length": 64, "periods": (20, 24)}  # longer segments than training shows
TESTS, TEST_SEED = 200, 0  # sequences; training begins at 1,000,003
MEASUREMENTS = 12  # while a model trains
TRAINING: dict[str, Any] = {"batch": 32, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model: changes to :class:`TransformerConfig`, beside 64 features and rotary positions."""

    config: dict = field(default_factory=dict)
    steps: int = 500
    kept: int = 0


RECIPES = {
    "one_layer": Recipe({"layers": 1, "d_ff": 384}, kept=1),  # as many parameters as with two layers, up to 1 %
    "two_layers": Recipe(kept=1),
    "two_layers_two_heads": Recipe({"heads": 2}),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


class Repeats:
    """The lessons: every step new sequences."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        return repeats_batch(batch_size, LENGTH, PERIODS, WORDS, seed=seed_of_step(seed, step))


def held_out(farther: bool = False) -> Batch:
    """The sequences on which every model is measured."""
    if farther:
        return repeats_batch(TESTS, words=WORDS, seed=TEST_SEED, **FARTHER)  # type: ignore[arg-type]
    return repeats_batch(TESTS, LENGTH, PERIODS, WORDS, seed=TEST_SEED)


def can_be_copied(batch: Batch) -> Tensor:
    """``(B, T)`` bool, ``True`` at words before which the present word has been there already, with its successor.

    The first word of a repeat is none of them: what stands before it, the last of the segment, had no successor yet.
    """
    return torch.arange(batch.target.shape[1], device=batch.target.device) > batch.lengths[:, None]


@evaluating
def copied(model: LanguageModel, batch: Batch) -> dict[str, float]:
    """Share right and loss, in nats, of the words that can be copied; and the share right of all the others."""
    batch = batch.to(device_of(model))
    logits, _ = model(shift_right(batch.target))
    hits, repeated = logits.argmax(dim=-1) == batch.target, can_be_copied(batch)  # (B, T)
    loss = sequence_loss(logits, batch.target.masked_fill(~repeated, 0))
    return {
        "right": rounded_mean(hits[repeated]),
        "loss": round(loss.item(), 4),
        "right_elsewhere": rounded_mean(hits[~repeated]),
    }


@evaluating
def scores(model: LanguageModel, batch: Batch) -> dict[str, list[list[float]]]:
    """Of each head, by layer: its prefix-matching score, and how much it attends to the word before."""
    words = shift_right(batch.target).to(device_of(model))
    weights = [layer for layer in model.maps(words) if layer is not None]  # none is fused here
    found = {
        "prefix_matching": [prefix_matching_score(layer, words) for layer in weights],
        "previous_word": [previous_word_score(layer) for layer in weights],
    }
    return {name: [[round(score, 4) for score in of.tolist()] for of in layers] for name, layers in found.items()}


class Watch:
    """Called by ``fit`` now and then: notes what is copied and the scores of all heads.

    Attributes:
        seen: one dictionary for each call.
    """

    def __init__(self) -> None:
        self.batch = held_out()
        self.seen: list[dict[str, Any]] = []

    def __call__(self, model: LanguageModel) -> float:
        self.seen.append({**copied(model, self.batch), **scores(model, self.batch)})
        return -self.seen[-1]["loss"]


def attentions(model: LanguageModel) -> list[MultiHeadAttention]:
    """The self-attention of each layer."""
    return [layer.self_attention for layer in model.blocks.layers]


def ablated(model: LanguageModel, batch: Batch) -> list[dict[str, Any]]:
    """:func:`copied` without one head after another, its context replaced by zero or by its mean.

    The last entries of each layer are without all its heads at once (``head`` is ``None``).
    """
    found = []
    for number, attention in enumerate(attentions(model)):
        means = mean_contexts(attention, model, shift_right(batch.target).to(device_of(model)))  # (H, D/H)
        for head in [*range(attention.heads), None]:
            heads = range(attention.heads) if head is None else [head]
            for name, instead in {"zero": torch.zeros_like(means), "mean": means}.items():
                without = _copied_without(model, batch, attention, list(heads), instead)
                found.append({"layer": number, "head": head, "instead": name, **without})
    return found


def _copied_without(
    model: LanguageModel, batch: Batch, attention: MultiHeadAttention, heads: list[int], instead: Tensor
) -> dict[str, float]:
    with ExitStack() as stack:
        for head in heads:
            stack.enter_context(without_head(attention, head, instead[head]))
        return copied(model, batch)


def build(name: str) -> LanguageModel:
    """A fresh model of this experiment."""
    return LanguageModel(WORDS + len(SPECIAL), TransformerConfig(**chosen(RECIPES, name).config))


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model, watch = build(job.model).to(best_device()), Watch()
    watch(model)
    every = max(1, job.steps // MEASUREMENTS)
    history, figures = train(
        model, Repeats(), job, TRAINING, loss=language_model_loss, validate=watch, validate_every=every
    )
    at = [0, *(step for step, _ in history.validations)]
    figures["losses"] = chunk_means(history.losses, 25, digits=4)
    figures["while_training"] = [{"step": step, **seen} for step, seen in zip(at, watch.seen, strict=True)]
    figures["copied"] = copied(model, held_out())
    figures["copied_farther"] = copied(model, held_out(farther=True))
    figures["scores"] = scores(model, held_out())
    figures["ablated"] = ablated(model, held_out())
    return Outcome(figures, model if job.seed < RECIPES[job.model].kept else None)


EXPERIMENT = Experiment(
    "induction",
    STEPS,
    run,
    {"task": f"repeats_batch(length={LENGTH}, periods={PERIODS}, words={WORDS})", "farther": FARTHER, **TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
