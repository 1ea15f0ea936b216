"""Captions with few labels (chapter 11): a pretrained model fine-tuned or probed, one from scratch, a bag of words."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.batching import pad_rows
from attnbook.data.texts import multi30k
from attnbook.data.texts.language import caption_task
from attnbook.data.texts.sentence_labels import Labelled, people_examples, word_order_examples
from attnbook.data.texts.vocabulary import PAD
from attnbook.device import best_device, device_of
from attnbook.models import MaskedLanguageModel, SentenceClassifier
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnbook.training import fit
from attnbook.trees import moved
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Job

FROM_SCRATCH: dict[str, Any] = {"learning_rate": 1e-3, "warmup": 20, "max_grad_norm": 1.0}
FINE_TUNING: dict[str, Any] = {**FROM_SCRATCH, "learning_rate": 3e-4}  # at 1e-3 an encoder forgot more than it learnt
LINEAR: dict[str, Any] = {"learning_rate": 1e-2, "warmup": 20, "max_grad_norm": 1.0}  # probe and bag of words
CLASSIFIER_BATCH = 32
# Steps by the number of labels; a model that begins from scratch gets twice as many as one that doesn't.
FINE_TUNING_STEPS = {50: 100, 200: 100, 1000: 200, 2000: 300}
SCRATCH_STEPS = {count: 2 * steps for count, steps in FINE_TUNING_STEPS.items()}
PROBE_STEPS = 300
LINEAR_STEPS = dict.fromkeys(FINE_TUNING_STEPS, PROBE_STEPS)
TASKS = {"shuffled": (2, None), "shuffled_within_3": (2, 3), "people": (3, None)}  # classes, window
TRAINING_PART, TEST_PART = "train", "test_2016_flickr"
POOL = 6000  # captions of the training part, from which the labelled ones are drawn


def vocabulary_size() -> int:
    """V, of the captions' pieces."""
    return len(caption_task().task.source_vocabulary)


class Labels(NamedTuple):
    """Sentences as numbers, and their classes: words ``(N, T)``, lengths ``(N,)``, labels ``(N,)``."""

    words: Tensor
    lengths: Tensor
    labels: Tensor

    def rows(self, index: Tensor) -> "Labels":
        """Some of the sentences."""
        lengths = self.lengths[index]
        return Labels(self.words[index, : int(lengths.max())], lengths, self.labels[index])

    def counts(self) -> Tensor:
        """The bag of words of each sentence: how often each piece is in it, ``(N, V)``."""
        ones = torch.ones_like(self.words, dtype=torch.float)
        counts = torch.zeros(len(self.words), vocabulary_size()).scatter_add_(1, self.words, ones)
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
    """The labelled captions of a task, ``part`` being a split of Multi30k; for training the first ``POOL`` captions."""
    captions = multi30k.lines(part)[:POOL]
    if task == "people":
        return encoded(people_examples(captions))
    return encoded(word_order_examples(captions, TASKS[task][1]))


def drawn(task: str, count: int, seed: int) -> Labels:
    """``count`` labelled captions to train on; a larger number holds those of a smaller one."""
    whole = labelled(task, TRAINING_PART)
    order = torch.randperm(len(whole.labels), generator=generator(seed))
    return whole.rows(order[:count])


def classifier_loss(model: nn.Module, batch: Labels) -> Tensor:
    """Cross-entropy of the classes, in nats per sentence."""
    return F.cross_entropy(model(batch.words, batch.lengths), batch.labels)


@evaluating
def share_right(model: nn.Module, labels: Labels) -> float:
    """Share of the sentences whose class a classifier names."""
    hits = [
        model(part.words, part.lengths).argmax(dim=-1) == part.labels
        for part in map(moved(labels, device_of(model)).rows, torch.arange(len(labels.labels)).split(250))
    ]
    return rounded_mean(torch.cat(hits))


def train_classifier(model: SentenceClassifier, labels: Labels, steps: int, seed: int, how: dict) -> None:
    """Train a classifier as a whole, ``how`` being what :func:`~attnbook.training.fit` takes."""

    def batch_at(step: int) -> Labels:
        draw = generator(seed_of_step(seed, step))
        return labels.rows(torch.randint(len(labels.labels), (CLASSIFIER_BATCH,), generator=draw))

    fit(model.to(best_device()), batch_at, steps, loss=classifier_loss, progress=False, **how)


class Features(NamedTuple):
    """What a linear classifier reads, ``(N, D)``, and the classes, ``(N,)``."""

    vectors: Tensor
    labels: Tensor


def features_loss(model: nn.Module, batch: Features) -> Tensor:
    """Cross-entropy of the classes, in nats per sentence."""
    return F.cross_entropy(model(batch.vectors), batch.labels)


def train_linear(features: Features, classes: int, steps: int) -> nn.Linear:
    """A linear classifier, trained on all examples at each step."""
    model = nn.Linear(features.vectors.shape[1], classes).to(best_device())
    fit(model, lambda _: features, steps, loss=features_loss, progress=False, **LINEAR)
    return model


@evaluating
def summaries(model: SentenceClassifier, labels: Labels) -> Features:
    """The vectors of sentences as a classifier's encoder makes them."""
    labels = moved(labels, device_of(model))
    parts = map(labels.rows, torch.arange(len(labels.labels)).split(250))
    return Features(torch.cat([model.summarise(part.words, part.lengths) for part in parts]), labels.labels)


def probe(encoder: MaskedLanguageModel, task: str, labels: Labels, steps: int, seed: int) -> SentenceClassifier:
    """A classifier whose encoder is left as it is.

    Its linear layer is trained on vectors that are scaled to mean 0 and variance 1 over the examples, and then
    rewritten so that it reads them unscaled.
    """
    seed_everything(seed)
    model = SentenceClassifier(encoder, TASKS[task][0], frozen=True).to(best_device())
    features = summaries(model, labels)
    mean, spread = features.vectors.mean(dim=0), features.vectors.std(dim=0) + 1e-6  # (D,) each
    scaled = features._replace(vectors=(features.vectors - mean) / spread)
    linear = train_linear(scaled, TASKS[task][0], steps)
    with torch.no_grad():
        model.output.weight.copy_(linear.weight / spread)
        model.output.bias.copy_(linear.bias - model.output.weight @ mean)
    return model


# ---- the answers: the share of the test of a task that is right


def answer_probe(encoder: MaskedLanguageModel, task: str, labels: Labels, steps: int, seed: int) -> float:
    """A frozen encoder, and a linear layer."""
    return share_right(probe(encoder, task, labels, steps, seed), labelled(task, TEST_PART))


def answer_fine_tuned(encoder: MaskedLanguageModel, task: str, labels: Labels, steps: int, seed: int) -> float:
    """The probe first, then encoder and linear layer together.

    Source: Kumar et al. 2022, section 3 ("LP-FT"): with a linear layer that knows nothing yet, the first steps spoil
    the encoder.
    """
    model = probe(encoder, task, labels, PROBE_STEPS, seed)
    train_classifier(model.requires_grad_(), labels, steps, seed, FINE_TUNING)
    return share_right(model, labelled(task, TEST_PART))


def answer_at_once(encoder: MaskedLanguageModel, how: dict, task: str, labels: Labels, steps: int, seed: int) -> float:
    """Encoder and a new linear layer together from the first step: plain fine-tuning, or from scratch."""
    seed_everything(seed)
    model = SentenceClassifier(encoder, TASKS[task][0])
    train_classifier(model, labels, steps, seed, how)
    return share_right(model, labelled(task, TEST_PART))


def answer_bag_of_words(task: str, labels: Labels, steps: int, seed: int) -> float:
    """A linear classifier of how often each piece is in a sentence."""
    seed_everything(seed)
    test = labelled(task, TEST_PART)
    model = train_linear(Features(labels.counts(), labels.labels), TASKS[task][0], steps)
    with torch.no_grad():
        right = model(test.counts().to(device_of(model))).argmax(dim=-1).cpu() == test.labels
    return rounded_mean(right)


def by_task_and_labels(
    answer: Callable[[str, Labels, int, int], float], job: Job, steps: dict[int, int]
) -> dict[str, dict[str, float]]:
    """``answer(task, labels, steps, seed)`` for each task and number of labels: ``{task: {labels: share right}}``.

    ``steps``: of each training, by the number of labels. A shorter job shortens them.
    """
    return {
        task: {
            str(count): answer(task, drawn(task, count, job.seed), min(usual, job.steps), job.seed)
            for count, usual in steps.items()
        }
        for task in TASKS
    }


def commonest_class() -> dict[str, float]:
    """What always naming the most frequent class would reach in each test."""
    tests = {task: labelled(task, TEST_PART).labels for task in TASKS}
    return {task: round(labels.bincount().max().item() / len(labels), 4) for task, labels in tests.items()}
