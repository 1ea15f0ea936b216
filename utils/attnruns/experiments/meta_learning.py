"""Learning within a sequence: online recall and few-shot glyphs, by SNAIL, its halves and other models (chapter 15)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import Sinusoidal
from attnbook.data.pictures.glyphs import glyph_classes
from attnbook.data.worlds.episodes import (
    BLUR,
    DIM,
    KEYS,
    LENGTH,
    VALUES,
    Episode,
    Recall,
    few_shot_episodes,
    online_recall,
)
from attnbook.device import device_of
from attnbook.models import LSTMTagger
from attnbook.models.few_shot import EpisodeReader, GlyphEncoder, PixelNeighbour, PrototypicalNetwork
from attnbook.models.snail import Snail
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

TRAINING: dict[str, Any] = {"batch": 48, "learning_rate": 2e-3, "warmup": 50, "max_grad_norm": 1.0}
WAYS, SHOTS = 5, 1  # few-shot: five classes and one example of each, in training and in the test
TESTS, TEST_SEED = 1000, 0  # sequences and episodes of the test; training begins at 1,000,003
INPUTS = DIM + VALUES  # of online recall
EPISODE = WAYS * SHOTS + 1


class RecallTask:
    """Online recall, as ``train`` asks for it."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Recall:
        """The sequences of a step."""
        return online_recall(batch_size, seed_of_step(seed, step))


class GlyphTask:
    """Five classes, one example of each, as ``train`` asks for it."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Episode:
        """The episodes of a step."""
        return few_shot_episodes(glyph_classes(), batch_size, WAYS, SHOTS, seed_of_step(seed, step))


def recall_loss(model: nn.Module, batch: Recall) -> Tensor:
    """Cross-entropy in nats, over the positions whose key occurred before."""
    return F.cross_entropy(model(batch.inputs)[0][batch.seen], batch.values[batch.seen])


def episode_loss(model: nn.Module, batch: Episode) -> Tensor:
    """Cross-entropy of the last picture's label, in nats."""
    return F.cross_entropy(model(batch.images, batch.labels[:, :-1]), batch.labels[:, -1])


@evaluating
def recall_figures(model: nn.Module) -> dict[str, Any]:
    """Accuracy where the key occurred before: in all, and by how many steps ago it occurred last."""
    batch = online_recall(TESTS, TEST_SEED)
    right = model(batch.inputs.to(device_of(model)))[0].argmax(dim=-1).cpu() == batch.values  # (B, T)
    ago = steps_since_seen(batch.which)  # (B, T), 0 where never
    by_gap = {str(gap): rounded_mean(right[ago == gap]) for gap in (1, 2, 4, 8, 16, 32)}
    return {"right": rounded_mean(right[batch.seen]), "right_by_gap": by_gap}


def steps_since_seen(which: Tensor) -> Tensor:
    """How many steps ago each number of ``which (B, T)`` occurred last, 0 where it never did: ``(B, T)``."""
    position = torch.arange(which.shape[1])
    same = (which[:, :, None] == which[:, None, :]).tril(diagonal=-1)  # (B, T, T)
    last = torch.where(same, position, -1).amax(dim=-1)  # (B, T)
    return torch.where(last >= 0, position - last, 0)


@evaluating
def glyph_figures(model: nn.Module) -> dict[str, Any]:
    """Accuracy on episodes of held-out classes, with one example per class."""
    episodes = few_shot_episodes(glyph_classes(held_out=True), TESTS, WAYS, SHOTS, TEST_SEED)
    episodes = episodes.to(device_of(model))
    return {
        "right": rounded_mean(model(episodes.images, episodes.labels[:, :-1]).argmax(dim=-1) == episodes.labels[:, -1])
    }


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        task: ``"recall"`` or ``"glyphs"``.
        blocks: of a :class:`~attnbook.models.snail.Snail`; or one name, ``"lstm"``, ``"prototypes"``, ``"pixels"``.
        steps: of training. Models of one task train about as long, in seconds, but for ``"glyphs_snail_longer"``.
        positions: whether sinusoids are added to the input, behind a linear layer.
        blur: of ``"pixels"``: the side of the squares in which pixels are averaged before they are compared.
        kept: whether the weights of seed 0 are kept.
    """

    task: str
    blocks: tuple[str, ...] | str
    steps: int
    positions: bool = False
    blur: int = 1
    kept: bool = False


SNAIL = ("attention", "convolutions", "attention")
RECIPES = {
    "recall_snail": Recipe("recall", SNAIL, 400, kept=True),
    "recall_convolutions": Recipe("recall", ("convolutions", "convolutions"), 400),
    "recall_attention": Recipe("recall", ("attention",) * 3, 2100),
    "recall_attention_positions": Recipe("recall", ("attention",) * 3, 1700, positions=True),
    "recall_lstm": Recipe("recall", "lstm", 1600),
    "glyphs_snail": Recipe("glyphs", SNAIL, 1000, kept=True),
    "glyphs_snail_longer": Recipe("glyphs", SNAIL, 2000),
    "glyphs_convolutions": Recipe("glyphs", ("convolutions", "convolutions"), 1000),
    "glyphs_attention": Recipe("glyphs", ("attention",) * 3, 1000),
    "glyphs_lstm": Recipe("glyphs", "lstm", 1000),
    "glyphs_prototypes": Recipe("glyphs", "prototypes", 1000),
    "glyphs_pixels": Recipe("glyphs", "pixels", 1),
    "glyphs_pixels_blurred": Recipe("glyphs", "pixels", 1, blur=3),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}
WIDTH = 64  # of the linear layer before sinusoids


def reader(recipe: Recipe, inputs: int, outputs: int, length: int) -> nn.Module:
    """The network that reads the sequence: ``(B, T, inputs)`` -> ``(B, T, outputs)``."""
    if recipe.blocks == "lstm":
        return LSTMTagger(inputs, outputs)
    if not recipe.positions:
        return Snail(inputs, outputs, length, recipe.blocks)
    return nn.Sequential(
        nn.Linear(inputs, WIDTH), Snail(WIDTH, outputs, length, recipe.blocks, positions=Sinusoidal(WIDTH))
    )


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    if recipe.task == "recall":
        return reader(recipe, INPUTS, VALUES, LENGTH)
    if recipe.blocks == "pixels":
        return PixelNeighbour(WAYS, blur=recipe.blur)
    encoder = GlyphEncoder()
    if recipe.blocks == "prototypes":
        return PrototypicalNetwork(encoder, WAYS)
    return EpisodeReader(reader(recipe, encoder.dim + WAYS, WAYS, EPISODE), encoder, WAYS)


TASKS: dict[str, tuple[Any, Callable, Callable]] = {
    "recall": (RecallTask(), recall_loss, recall_figures),
    "glyphs": (GlyphTask(), episode_loss, glyph_figures),
}


def run(job: Job) -> Outcome:
    """Train and measure one model; one without parameters is only measured."""
    seed_everything(job.seed)
    recipe, model = chosen(RECIPES, job.model), build(job.model)
    task, loss, measured = TASKS[recipe.task]
    if not list(model.parameters()):
        return Outcome({"parameters": 0, "seconds": 0.0, **measured(model)})
    history, figures = train(model, task, job, TRAINING, loss=loss)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures |= measured(model)
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "meta_learning",
    STEPS,
    run,
    {
        "task": {
            "recall": {"keys": KEYS, "values": VALUES, "length": LENGTH, "noise": BLUR},
            "glyphs": {"ways": WAYS, "shots": SHOTS},
        },
        "tests": TESTS,
        **TRAINING,
    },
    build=build,
)
trained = EXPERIMENT.trained
