"""Words hidden in captions, and what a model that found them has learnt for other tasks (chapter 11).

A masked language model reads captions whose words are partly hidden. Then it is asked about labelled captions, of which
there are few: fine-tuned as a whole, or left as it is with a linear layer on top (a probe), beside the same model
without pretraining and a bag of words.
"""

import time
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from attnbook.data.batching import Batch
from attnbook.data.texts.language import CAPTION_PIECES, caption_task
from attnbook.data.texts.masking import choose_positions, mask_for_bert
from attnbook.data.texts.vocabulary import PAD
from attnbook.device import device_of
from attnbook.models import MaskedLanguageModel, TransformerConfig
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnbook.training import masked_language_model_loss
from attnruns.shared.few_labels import (
    CLASSIFIER_BATCH,
    FINE_TUNING,
    FINE_TUNING_STEPS,
    FROM_SCRATCH,
    LINEAR,
    LINEAR_STEPS,
    PROBE_STEPS,
    SCRATCH_STEPS,
    TASKS,
    TEST_PART,
    answer_at_once,
    answer_bag_of_words,
    answer_fine_tuned,
    answer_probe,
    by_task_and_labels,
    commonest_class,
    vocabulary_size,
)
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

SHAPE: dict[str, Any] = {"d_model": 64, "heads": 4, "layers": 2, "d_ff": 256}
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 100, "max_grad_norm": 1.0}
HELD_OUT_SEED = 0  # training begins at 1,000,003


@dataclass(frozen=True)
class Recipe:
    """How a model comes to its answers.

    Fields:
        steps: of pretraining; for the others, of the longest training there is.
        method: ``"pretrained"`` (a probe; fine-tuned after it, or at once), ``"scratch"`` or ``"bag_of_words"``.
    """

    steps: int
    method: str


RECIPES = {
    "pretrained": Recipe(900, "pretrained"),
    "scratch": Recipe(max(SCRATCH_STEPS.values()), "scratch"),
    "bag_of_words": Recipe(PROBE_STEPS, "bag_of_words"),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


# ---- pretraining


def mask_id() -> int:
    """The number of the mask: the first one after the vocabulary of the captions."""
    return vocabulary_size()


def hidden_words(tokens: Tensor, lengths: Tensor, seed: int) -> Batch:
    """``tokens (B, T)`` with words hidden as BERT hides them; target: the right word where the model is asked."""
    draw = generator(seed)
    chosen_here = choose_positions(tokens, generator=draw)
    inputs, targets = mask_for_bert(tokens, chosen_here, mask_id(), mask_id(), draw)
    return Batch(inputs, lengths, targets)


class HiddenWords:
    """The lessons of pretraining: the captions' batches, each with words hidden anew."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        batch = caption_task().task.batch_at(step, batch_size, seed)
        return hidden_words(batch.source, batch.lengths, seed_of_step(seed, step))


@evaluating
def masked_accuracy(model: MaskedLanguageModel, batches: list[Batch]) -> dict[str, float]:
    """Share of the hidden words that the model names: of all that it is asked for, and by what stood in their place.

    ``mask``: behind the mask. ``other``: behind a random word. ``same``: the right word stood there, though the model
    cannot know that it did.
    """
    hits: dict[str, list[Tensor]] = {"all": [], "mask": [], "other": [], "same": []}
    for batch in (batch.to(device_of(model)) for batch in batches):
        asked = batch.target != PAD  # (B, T)
        right = (model(batch.source, batch.lengths)[0].argmax(dim=-1) == batch.target)[asked]
        stood, wanted = batch.source[asked], batch.target[asked]
        masked, same = stood == mask_id(), stood == wanted
        for name, which in {"all": masked | True, "mask": masked, "other": ~masked & ~same, "same": same}.items():
            hits[name].append(right[which])
    return {name: rounded_mean(torch.cat(found)) for name, found in hits.items()}


@cache
def held_out(part: str) -> list[Batch]:
    """The captions of ``"validation"`` or ``"test"`` in batches of 250, with words hidden always in the same way."""
    examples = getattr(caption_task().task, part)
    parts = [caption_task().task.collate(examples[i : i + 250]) for i in range(0, len(examples), 250)]
    return [hidden_words(batch.source, batch.lengths, HELD_OUT_SEED + i) for i, batch in enumerate(parts)]


def commonest_word_accuracy() -> float:
    """What always naming the most frequent word would reach."""
    words = torch.cat([batch.target[batch.target != PAD] for batch in held_out("test")])
    return round(words.bincount().max().item() / len(words), 4)


def build(name: str = "pretrained", mask: int | None = None) -> MaskedLanguageModel:
    """A fresh masked language model of this experiment. Raises ValueError for a bag of words, which is none.

    ``mask``: its number, the first after the vocabulary; that of the captions, which must be there, when left out.
    """
    if chosen(RECIPES, name).method == "bag_of_words":
        raise ValueError("a bag of words is no masked language model; build one with 'pretrained' or 'scratch'")
    return MaskedLanguageModel((mask_id() if mask is None else mask) + 1, TransformerConfig(**SHAPE))


# ---- the experiment


def run_pretrained(job: Job) -> Outcome:
    """Pretrain; then a probe and a fine-tuned classifier for each task and number of labels."""
    seed_everything(job.seed)
    model = build()
    history, figures = train(
        model, HiddenWords(), job, TRAINING, loss=masked_language_model_loss, validate_every=max(1, job.steps // 6),
        validate=lambda model: masked_accuracy(model, held_out("validation"))["all"],
    )  # fmt: skip
    figures["pretraining_seconds"] = figures["seconds"]
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures["validations"] = [{"step": step, "masked_accuracy": found} for step, found in history.validations]
    figures["masked_accuracy"] = masked_accuracy(model, held_out("test"))
    figures["commonest_word"] = commonest_word_accuracy()
    figures["accuracy"] = {
        "probe": by_task_and_labels(partial(answer_probe, model), job, LINEAR_STEPS),
        "fine_tuned": by_task_and_labels(partial(answer_fine_tuned, model), job, FINE_TUNING_STEPS),
        "fine_tuned_at_once": by_task_and_labels(partial(answer_at_once, model, FINE_TUNING), job, FINE_TUNING_STEPS),
    }
    return Outcome(figures, model if job.seed == 0 else None)


def run_scratch(job: Job) -> Outcome:
    """The same model without pretraining: trained as a classifier, and, as a control, only probed."""
    seed_everything(job.seed)
    model = build("scratch")
    return Outcome({
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "accuracy": {
            "scratch": by_task_and_labels(partial(answer_at_once, model, FROM_SCRATCH), job, SCRATCH_STEPS),
            "untrained_probe": by_task_and_labels(partial(answer_probe, model), job, LINEAR_STEPS),
        },
    })  # fmt: skip


def run_bag_of_words(job: Job) -> Outcome:
    """A linear classifier of piece counts."""
    right = by_task_and_labels(answer_bag_of_words, job, LINEAR_STEPS)
    return Outcome({"parameters": 2 * (mask_id() + 1), "accuracy": {"bag_of_words": right}})


METHODS = {"pretrained": run_pretrained, "scratch": run_scratch, "bag_of_words": run_bag_of_words}


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    start = time.process_time()
    outcome = METHODS[chosen(RECIPES, job.model).method](job)
    outcome.figures["seconds"] = round(time.process_time() - start, 1)
    outcome.figures["commonest_class"] = commonest_class()
    return outcome


EXPERIMENT = Experiment(
    "masked_language_model",
    STEPS,
    run,
    {
        "task": "caption_task(), words hidden 80/10/10", "model": SHAPE, **TRAINING, "tasks": TASKS,
        "classifier_batch": CLASSIFIER_BATCH, "fine_tuning": {**FINE_TUNING, "steps": FINE_TUNING_STEPS},
        "from_scratch": {**FROM_SCRATCH, "steps": SCRATCH_STEPS}, "linear": {**LINEAR, "steps": PROBE_STEPS},
        "test": TEST_PART,
    },
    build=partial(build, mask=CAPTION_PIECES),
)  # fmt: skip
trained = EXPERIMENT.trained
