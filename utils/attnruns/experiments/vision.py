"""Digits named by a vision Transformer and by a small convolutional network, with few and with all examples."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.pictures.captions import SIZE, TRAINING_IMAGES, Crops, digit_images
from attnbook.device import device_of
from attnbook.models.block import TransformerConfig
from attnbook.models.vision import VisionTransformer
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}
STEPS_EACH, FEW, CLASSES = 800, 100, 10
CONFIG: dict[str, Any] = {"d_model": 48, "heads": 4, "layers": 2, "d_ff": 96, "dropout": 0.1}
PATCH, WIDTH = 2, 20  # pixels of a patch's side, maps of the first convolutions
SHUFFLE_SEED = 0  # of the one order into which all images' pixels are brought


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its training.

    Fields:
        convolutions: a convolutional network instead of a vision Transformer.
        examples: how many of the 1,400 training images it sees; a seed of its own draws which.
        shuffled: bring the pixels of all images into one other order, so that neighbours are no longer neighbours.
        kept: whether the weights of seed 0 are kept.
    """

    convolutions: bool = False
    examples: int = TRAINING_IMAGES
    shuffled: bool = False
    kept: bool = False


RECIPES = {
    "vit": Recipe(kept=True),
    "cnn": Recipe(convolutions=True, kept=True),
    "vit_few": Recipe(examples=FEW),
    "cnn_few": Recipe(convolutions=True, examples=FEW),
    "vit_shuffled": Recipe(shuffled=True),
    "cnn_shuffled": Recipe(convolutions=True, shuffled=True),
    "vit_few_shuffled": Recipe(examples=FEW, shuffled=True),
    "cnn_few_shuffled": Recipe(convolutions=True, examples=FEW, shuffled=True),
}
STEPS = dict.fromkeys(RECIPES, STEPS_EACH)


class Convolutions(nn.Sequential):
    """Three convolutions of 3 × 3, the maximum of 2 × 2 after the last two, and a linear layer."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(WIDTH, WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(WIDTH, 2 * WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(2 * WIDTH * (SIZE // 4) ** 2, CLASSES),
        )

    def forward(self, images: Tensor) -> tuple[Tensor, None]:
        """Logits ``(B, 10)`` of images ``(B, 1, 8, 8)``; there are no weights of attention."""
        return super().forward(images), None


def build(name: str) -> VisionTransformer | Convolutions:
    """A fresh model of this experiment."""
    if chosen(RECIPES, name).convolutions:
        return Convolutions()
    config = TransformerConfig(positions="learned", feed_forward="gelu", **CONFIG)
    return VisionTransformer(CLASSES, config, SIZE, PATCH)


@cache
def digits(held_out: bool, shuffled: bool) -> Crops:
    """Images ``(N, 1, 8, 8)`` and labels ``(N,)``; the pixels of all images in one other order if ``shuffled``."""
    images, labels = digit_images(held_out)
    if shuffled:
        order = torch.randperm(SIZE * SIZE, generator=generator(SHUFFLE_SEED))
        images = images.flatten(1)[:, order].view_as(images)
    return Crops(images[:, None], labels)


@dataclass(frozen=True)
class Lessons:
    """The training images that a recipe shows, drawn anew for each batch."""

    recipe: Recipe
    seed: int

    def seen(self) -> Crops:
        """The images that training sees: ``recipe.examples`` of them, the same ones in any order of pixels."""
        images, labels = digits(False, self.recipe.shuffled)
        which = torch.randperm(len(labels), generator=generator(self.seed))[: self.recipe.examples]
        return Crops(images[which], labels[which])

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Crops:
        """The images of a step."""
        images, labels = self.seen()
        which = torch.randint(len(labels), (batch_size,), generator=generator(seed_of_step(seed, step)))
        return Crops(images[which], labels[which])


def classifier_loss(model: nn.Module, batch: Crops) -> Tensor:
    """Cross entropy of the digit, in nats."""
    return F.cross_entropy(model(batch.image)[0], batch.label)


@evaluating
def accuracy(model: nn.Module, images: Crops) -> float:
    """Share of the images whose digit the model names."""
    logits, _ = model(images.image.to(device_of(model)))
    return rounded_mean(logits.argmax(dim=-1).cpu() == images.label)


def nearest_accuracy(seen: Crops, images: Crops) -> float:
    """Share of the images whose nearest one of those that training sees shows the same digit."""
    apart = torch.cdist(images.image.flatten(1), seen.image.flatten(1))  # (N, M)
    return rounded_mean(seen.label[apart.argmin(dim=1)] == images.label)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    recipe = chosen(RECIPES, job.model)
    model, lessons = build(job.model), Lessons(recipe, job.seed)
    history, figures = train(model, lessons, job, TRAINING, loss=classifier_loss)  # type: ignore[arg-type]
    held_out = digits(True, recipe.shuffled)
    figures |= {
        "losses": chunk_means(history.losses, 50, digits=4),
        "accuracy": accuracy(model, held_out),
        "training_accuracy": accuracy(model, lessons.seen()),
        "nearest_accuracy": nearest_accuracy(lessons.seen(), held_out),
    }
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "vision", STEPS, run,
    {"task": "digits", **TRAINING, "vit": CONFIG | {"patch": PATCH}, "cnn": {"width": WIDTH}, "few": FEW},
    build=build,
)  # fmt: skip
trained = EXPERIMENT.trained
