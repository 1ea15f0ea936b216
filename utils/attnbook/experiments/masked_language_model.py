"""Words hidden in captions, and what a model that found them has learnt for other tasks (chapter 11).

A masked language model reads captions whose words are partly hidden. Then it is asked about labelled captions, of which
there are few: fine-tuned as a whole, or left as it is with a linear layer on top (a probe), beside the same model
without pretraining and a bag of words.
"""

import time
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data import multi30k
from attnbook.data.batching import Batch, pad_rows
from attnbook.data.language import caption_task
from attnbook.data.masking import choose_positions, mask_for_bert
from attnbook.data.sentence_labels import Labelled, people_examples, word_order_examples
from attnbook.data.vocabulary import PAD
from attnbook.experiments.shared.recipes import chosen
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import chunk_means, train
from attnbook.experiments.shared.weights import load_weights
from attnbook.models import MaskedLanguageModel, SentenceClassifier, TransformerConfig
from attnbook.seeding import seed_everything
from attnbook.training import fit, masked_language_model_loss

SHAPE: dict[str, Any] = {"d_model": 64, "heads": 4, "layers": 2, "d_ff": 256}
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 100, "max_grad_norm": 1.0}
FINE_TUNING: dict[str, Any] = {"learning_rate": 1e-3, "warmup": 20, "max_grad_norm": 1.0}
LINEAR: dict[str, Any] = {"learning_rate": 1e-2, "warmup": 20, "max_grad_norm": 1.0}  # probe and bag of words
CLASSIFIER_BATCH, LINEAR_STEPS = 32, 300
CLASSIFIER_STEPS = {50: 100, 200: 200, 1000: 300, 2000: 400}  # by the number of labels
TASKS = {"shuffled": (2, None), "shuffled_within_3": (2, 3), "people": (3, None)}  # classes, window
HELD_OUT_SEED = 0  # training begins at 1,000,003


@dataclass(frozen=True)
class Recipe:
    """How a model comes to its answers.

    Fields:
        steps: of pretraining; for the others, of the longest training there is.
        method: ``"pretrained"`` (a probe, and fine-tuned), ``"scratch"`` or ``"bag_of_words"``.
    """

    steps: int
    method: str


RECIPES = {
    "pretrained": Recipe(900, "pretrained"),
    "scratch": Recipe(max(CLASSIFIER_STEPS.values()), "scratch"),
    "bag_of_words": Recipe(LINEAR_STEPS, "bag_of_words"),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


# ---- pretraining


def mask_id() -> int:
    """The number of the mask: the first one after the vocabulary of the captions."""
    return len(caption_task().task.source_vocabulary)


def hidden_words(tokens: Tensor, lengths: Tensor, seed: int) -> Batch:
    """``tokens (B, T)`` with words hidden as BERT hides them; target: the right word where the model is asked."""
    generator = torch.Generator().manual_seed(seed)
    chosen_here = choose_positions(tokens, generator=generator)
    inputs, targets = mask_for_bert(tokens, chosen_here, mask_id(), mask_id(), generator)
    return Batch(inputs, lengths, targets)


class HiddenWords:
    """The lessons of pretraining: the captions' batches, each with words hidden anew."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        batch = caption_task().task.batch_at(step, batch_size, seed)
        return hidden_words(batch.source, batch.lengths, 1_000_003 * (seed + 1) + step)


@torch.no_grad()
def masked_accuracy(model: MaskedLanguageModel, batches: list[Batch]) -> dict[str, float]:
    """Share of the hidden words that the model names: of all that it is asked for, and by what stood in their place.

    ``mask``: behind the mask. ``other``: behind a random word. ``same``: the right word stood there, though the model
    cannot know that it did.
    """
    hits: dict[str, list[Tensor]] = {"all": [], "mask": [], "other": [], "same": []}
    for batch in batches:
        asked = batch.target != PAD  # (B, T)
        right = (model(batch.source, batch.lengths)[0].argmax(dim=-1) == batch.target)[asked]
        stood, wanted = batch.source[asked], batch.target[asked]
        masked, same = stood == mask_id(), stood == wanted
        for name, which in {"all": masked | True, "mask": masked, "other": ~masked & ~same, "same": same}.items():
            hits[name].append(right[which])
    return {name: round(torch.cat(found).double().mean().item(), 4) for name, found in hits.items()}


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


def build(name: str = "pretrained") -> MaskedLanguageModel:
    """A fresh masked language model of this experiment. Raises ValueError for a bag of words, which is none."""
    if chosen(RECIPES, name).method == "bag_of_words":
        raise ValueError("a bag of words is no masked language model; build one with 'pretrained' or 'scratch'")
    return MaskedLanguageModel(mask_id() + 1, TransformerConfig(**SHAPE))


def trained(seed: int = 0) -> MaskedLanguageModel:
    """The masked language model as pretraining left it. Raises ValueError if that seed's weights were not kept."""
    return load_weights(build(), "masked_language_model", "pretrained", seed)


# ---- tasks with few labels


class Labels(NamedTuple):
    """Sentences as numbers, and their classes: words ``(N, T)``, lengths ``(N,)``, labels ``(N,)``."""

    words: Tensor
    lengths: Tensor
    labels: Tensor

    def rows(self, index: Tensor) -> "Labels":
        """Some of the sentences."""
        lengths = self.lengths[index]
        return Labels(self.words[index, : int(lengths.max())], lengths, self.labels[index])

    def to(self, device: torch.device | str) -> "Labels":
        """The same on another device."""
        return Labels(*(tensor.to(device) for tensor in self))

    def counts(self) -> Tensor:
        """The bag of words of each sentence: how often each piece is in it, ``(N, V)``."""
        ones = torch.ones_like(self.words, dtype=torch.float)
        counts = torch.zeros(len(self.words), mask_id()).scatter_add_(1, self.words, ones)
        counts[:, PAD] = 0.0
        return counts


def encoded(examples: list[Labelled]) -> Labels:
    """Labelled sentences as numbers, in their order."""
    text = caption_task()
    rows = [text.task.source_vocabulary.encode(text.byte_pairs.encode(example.text)) for example in examples]
    labels = torch.tensor([example.label for example in examples])
    return Labels(pad_rows(rows), torch.tensor([len(row) for row in rows]), labels)


@cache
def labelled(task: str, part: str) -> Labels:
    """The labelled captions of a task, ``part`` being a split of Multi30k; for training the first 6,000 captions."""
    captions = multi30k.lines(part)[:6000]
    if task == "people":
        return encoded(people_examples(captions))
    return encoded(word_order_examples(captions, TASKS[task][1]))


def drawn(task: str, count: int, seed: int) -> Labels:
    """``count`` labelled captions to train on; a larger number holds those of a smaller one."""
    whole = labelled(task, "train")
    order = torch.randperm(len(whole.labels), generator=torch.Generator().manual_seed(seed))
    return whole.rows(order[:count])


def classifier_loss(model: nn.Module, batch: Labels) -> Tensor:
    """Cross-entropy of the classes, in nats per sentence."""
    return F.cross_entropy(model(batch.words, batch.lengths), batch.labels)


@torch.no_grad()
def share_right(model: nn.Module, labels: Labels) -> float:
    """Share of the sentences whose class a classifier names."""
    hits = [
        model(part.words, part.lengths).argmax(dim=-1) == part.labels
        for part in map(labels.rows, torch.arange(len(labels.labels)).split(250))
    ]
    return round(torch.cat(hits).double().mean().item(), 4)


def train_classifier(encoder: MaskedLanguageModel, task: str, labels: Labels, steps: int, seed: int) -> float:
    """Train a copy of ``encoder`` and a linear layer on it; the share that is right in the test."""
    seed_everything(seed)
    model = SentenceClassifier(encoder, TASKS[task][0])

    def batch_at(step: int) -> Labels:
        generator = torch.Generator().manual_seed(1_000_003 * (seed + 1) + step)
        return labels.rows(torch.randint(len(labels.labels), (CLASSIFIER_BATCH,), generator=generator))

    fit(model, batch_at, steps, loss=classifier_loss, progress=False, **FINE_TUNING)
    return share_right(model, labelled(task, "test_2016_flickr"))


class Features(NamedTuple):
    """What a linear classifier reads, ``(N, D)``, and the classes, ``(N,)``."""

    vectors: Tensor
    labels: Tensor

    def to(self, device: torch.device | str) -> "Features":
        """The same on another device."""
        return Features(*(tensor.to(device) for tensor in self))


def train_linear(train_on: Features, test_on: Features, classes: int, steps: int, seed: int) -> float:
    """Train a linear classifier on all its examples at each step; the share that is right in the test."""
    seed_everything(seed)
    model = nn.Linear(train_on.vectors.shape[1], classes)
    loss = lambda model, batch: F.cross_entropy(model(batch.vectors), batch.labels)  # noqa: E731
    fit(model, lambda _: train_on, steps, loss=loss, progress=False, **LINEAR)
    with torch.no_grad():
        right = model(test_on.vectors).argmax(dim=-1) == test_on.labels
    return round(right.double().mean().item(), 4)


@torch.no_grad()
def summaries(encoder: MaskedLanguageModel, labels: Labels) -> Features:
    """The vectors of sentences as an encoder makes them, for a probe."""
    reader = SentenceClassifier(encoder, 2, frozen=True).eval()
    parts = map(labels.rows, torch.arange(len(labels.labels)).split(250))
    return Features(torch.cat([reader.summarise(part.words, part.lengths) for part in parts]), labels.labels)


def probe(encoder: MaskedLanguageModel, task: str, labels: Labels, steps: int, seed: int) -> float:
    """A linear classifier on the vectors of a frozen encoder, scaled to mean 0 and variance 1 over the examples."""
    train_on, test_on = (summaries(encoder, part) for part in (labels, labelled(task, "test_2016_flickr")))
    mean, spread = train_on.vectors.mean(dim=0), train_on.vectors.std(dim=0) + 1e-6
    train_on, test_on = (part._replace(vectors=(part.vectors - mean) / spread) for part in (train_on, test_on))
    return train_linear(train_on, test_on, TASKS[task][0], steps, seed)


def bag_of_words(task: str, labels: Labels, steps: int, seed: int) -> float:
    """A linear classifier on how often each piece is in a sentence."""
    test = labelled(task, "test_2016_flickr")
    train_on, test_on = Features(labels.counts(), labels.labels), Features(test.counts(), test.labels)
    return train_linear(train_on, test_on, TASKS[task][0], steps, seed)


# ---- the experiment


def by_task_and_labels(answer, job: Job) -> dict[str, dict[str, float]]:
    """``answer(task, labels, steps, seed)`` for each task and number of labels: ``{task: {labels: share right}}``."""
    return {
        task: {
            str(count): answer(task, drawn(task, count, job.seed), min(steps, job.steps), job.seed)
            for count, steps in CLASSIFIER_STEPS.items()
        }
        for task in TASKS
    }


def run_pretrained(job: Job) -> Outcome:
    """Pretrain; then a probe and a fine-tuned classifier for each task and number of labels."""
    seed_everything(job.seed)
    model = build()
    history, figures = train(
        model, HiddenWords(), job, TRAINING, loss=masked_language_model_loss, validate_every=max(1, job.steps // 6),
        validate=lambda model: masked_accuracy(model, held_out("validation"))["all"],
    )  # fmt: skip
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures["validations"] = [{"step": step, "masked_accuracy": found} for step, found in history.validations]
    figures["masked_accuracy"] = masked_accuracy(model, held_out("test"))
    figures["commonest_word"] = commonest_word_accuracy()
    linear_steps = min(job.steps, LINEAR_STEPS)
    figures["accuracy"] = {
        "probe": by_task_and_labels(lambda *how: probe(model, *how[:2], linear_steps, how[3]), job),
        "fine_tuned": by_task_and_labels(lambda *how: train_classifier(model, *how), job),
    }
    return Outcome(figures, model if job.seed == 0 else None)


def run_scratch(job: Job) -> Outcome:
    """The same model without pretraining: trained as a classifier, and, as a control, only probed."""
    seed_everything(job.seed)
    model = build("scratch")
    linear_steps = min(job.steps, LINEAR_STEPS)
    return Outcome({
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "accuracy": {
            "scratch": by_task_and_labels(lambda *how: train_classifier(model, *how), job),
            "untrained_probe": by_task_and_labels(lambda *how: probe(model, *how[:2], linear_steps, how[3]), job),
        },
    })  # fmt: skip


def run_bag_of_words(job: Job) -> Outcome:
    """A linear classifier of piece counts."""
    right = by_task_and_labels(lambda *how: bag_of_words(*how[:2], job.steps, how[3]), job)
    return Outcome({"parameters": 2 * (mask_id() + 1), "accuracy": {"bag_of_words": right}})


METHODS = {"pretrained": run_pretrained, "scratch": run_scratch, "bag_of_words": run_bag_of_words}


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    start = time.process_time()
    outcome = METHODS[chosen(RECIPES, job.model).method](job)
    outcome.figures["all_seconds"] = round(time.process_time() - start, 1)
    outcome.figures.setdefault("seconds", outcome.figures["all_seconds"])
    return outcome


EXPERIMENT = Experiment(
    "masked_language_model",
    STEPS,
    run,
    {
        "task": "caption_task(), words hidden 80/10/10", "model": SHAPE, **TRAINING, "tasks": TASKS,
        "classifier_steps": CLASSIFIER_STEPS, "classifier_batch": CLASSIFIER_BATCH, "fine_tuning": FINE_TUNING,
        "linear_steps": LINEAR_STEPS, "linear": LINEAR, "test": "test_2016_flickr",
    },
)  # fmt: skip
