"""Learning within a sequence by a plain causal Transformer, on the tasks and batches of SNAIL (chapter 15)."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from attnbook.data.worlds.episodes import KEYS, LENGTH, VALUES, online_recall
from attnbook.device import device_of
from attnbook.measure.induction import after_earlier_occurrences, prefix_matching_score, previous_word_score
from attnbook.models.block import TransformerConfig
from attnbook.models.few_shot import EpisodeReader, GlyphEncoder
from attnbook.models.vector_reader import VectorReader
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnruns.experiments.meta_learning import INPUTS, SHOTS, TASKS, TRAINING, WAYS
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

TESTS, TEST_SEED = 200, 0  # sequences on which the heads are measured; accuracy is measured as meta_learning does


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        task: ``"recall"`` or ``"glyphs"``. steps: of training; 400 and 1,000 are those of SNAIL.
        config: changes to :class:`TransformerConfig`, beside two layers of 64 features and rotary positions.
        keys_as_queries: whether the keys start with the weights of the queries, as SNAIL's do.
        kept: whether the weights of seed 0 are kept.
    """

    task: str
    steps: int
    config: dict = field(default_factory=dict)
    keys_as_queries: bool = False
    kept: bool = False


RECIPES = {
    "recall_transformer": Recipe("recall", 400, kept=True),
    "recall_one_layer": Recipe("recall", 400, {"layers": 1, "d_ff": 384}),  # about as many parameters
    "glyphs_same_start": Recipe("glyphs", 1000, keys_as_queries=True),
    "glyphs_longer": Recipe("glyphs", 3000, keys_as_queries=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    config = TransformerConfig(**recipe.config)
    if recipe.task == "recall":
        return VectorReader(INPUTS, VALUES, config, recipe.keys_as_queries)
    encoder = GlyphEncoder()
    return EpisodeReader(VectorReader(encoder.dim + WAYS, WAYS, config, recipe.keys_as_queries), encoder, WAYS)


@evaluating
def head_scores(model: VectorReader) -> dict[str, list[list[float]]]:
    """Of each head, by layer: its weight on the steps after an earlier appearance of the key, and on the step before.

    ``"even"`` is what equal weights would put on the steps after an earlier appearance.
    """
    batch = online_recall(TESTS, TEST_SEED)
    maps = [layer for layer in model.maps(batch.inputs.to(device_of(model))) if layer is not None]  # none is fused
    which = batch.which.to(device_of(model))
    wanted = after_earlier_occurrences(which)  # (B, T, T)
    known = wanted.any(dim=-1)
    even = (wanted.sum(dim=-1) / torch.arange(1, LENGTH + 1, device=which.device))[known].mean()
    found = {
        "after_same_key": [prefix_matching_score(layer, which) for layer in maps],
        "step_before": [previous_word_score(layer) for layer in maps],
    }
    return {name: [rounded(of) for of in layers] for name, layers in found.items()} | {"even": [rounded(even[None])]}


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    recipe, model = chosen(RECIPES, job.model), build(job.model)
    task, loss, measured = TASKS[recipe.task]
    history, figures = train(model, task, job, TRAINING, loss=loss)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures |= measured(model)
    if isinstance(model, VectorReader):
        figures["heads"] = head_scores(model)
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


_TASK: dict[str, Any] = {
    "recall": {"keys": KEYS, "values": VALUES, "length": LENGTH},
    "glyphs": {"ways": WAYS, "shots": SHOTS},
}
EXPERIMENT = Experiment("in_context", STEPS, run, {"task": _TASK, "tests": TESTS, **TRAINING}, build=build)
trained = EXPERIMENT.trained
