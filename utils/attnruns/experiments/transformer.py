"""The Transformer on lists of numbers: heads, positions, and what each part is worth (chapters 08 and 09)."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from torch import nn

from attnbook.data.batching import Task
from attnbook.data.symbols.numbers import COMMA
from attnbook.models import Block, Transformer, TransformerConfig
from attnbook.seeding import seed_everything
from attnruns.experiments.numbers import task
from attnruns.shared.ablation import (
    ItemCounting,
    UnscaledAttention,
    WithoutDecoderSelfAttention,
    WithoutEncoderSelfAttention,
    WithoutFeedForward,
    WithoutNorm,
    WithoutResidual,
    WithoutSelfAttention,
)
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train_and_measure

# How every Transformer of chapters 08 to 10 trains, beside its number of steps.
TRAINING: dict[str, Any] = {"batch": 32, "learning_rate": 2e-3, "warmup": 100, "max_grad_norm": 1.0}


@dataclass(frozen=True)
class Recipe:
    """What is unusual about a model. The others are 64 wide, 2 + 2 layers, 4 heads, rotary positions, pre-norm.

    Fields:
        config: changes to :class:`TransformerConfig`. block: another class of blocks.
        by_item: cross-attention counts the items of a list, which are known when there is a task.
        steps, warmup, learning_rate: of the training.
        kept: so many seeds' weights are kept, from seed 0 on.
    """

    config: dict = field(default_factory=dict)
    block: type[Block] | None = None
    by_item: bool = False
    steps: int = 1200
    warmup: int = TRAINING["warmup"]
    learning_rate: float = TRAINING["learning_rate"]
    kept: int = 0

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task."""
        words = task.source_vocabulary, task.target_vocabulary
        sizes = len(words[0]), len(words[1])
        config = TransformerConfig(**self.config)
        if self.by_item:
            source, target = (vocabulary.encode([COMMA])[0] for vocabulary in words)
            return ItemCounting(*sizes, config, (source, target))
        return Transformer(*sizes, config, self.block)


FAR = {"cross_positions": "linear_bias"}  # far words of the source are penalised
DEEP = {"layers": 6}  # six and six, as in the paper; whether such a model learns shows soon
RECIPES = {
    "base": Recipe(kept=3),
    "none": Recipe({"positions": "none"}),
    "sinusoidal": Recipe({"positions": "sinusoidal"}, kept=1),
    "learned": Recipe({"positions": "learned"}),
    "linear_bias": Recipe({"positions": "linear_bias"}),
    "rotary_within": Recipe({"cross_positions": "none"}),
    "window_8": Recipe({"window": 8}),
    "linear_window_8": Recipe({**FAR, "window": 8}),
    "items": Recipe(FAR, by_item=True),
    "items_window_8": Recipe({**FAR, "window": 8}, by_item=True, kept=1),
    "items_linear_bias": Recipe({**FAR, "positions": "linear_bias"}, by_item=True, kept=1),
    "heads_1": Recipe({"heads": 1}, kept=1),
    "heads_2": Recipe({"heads": 2}),
    "heads_8": Recipe({"heads": 8}, kept=1),
    "no_scale": Recipe(block=UnscaledAttention),
    "no_residual": Recipe(block=WithoutResidual),
    "no_norm": Recipe(block=WithoutNorm),
    "no_feed_forward": Recipe(block=WithoutFeedForward),
    "no_self_attention": Recipe(block=WithoutSelfAttention),
    "no_encoder_self_attention": Recipe(block=WithoutEncoderSelfAttention),
    "no_decoder_self_attention": Recipe(block=WithoutDecoderSelfAttention),
    "post": Recipe({"norm": "post"}),
    "pre_cold": Recipe(warmup=0),
    "post_cold": Recipe({"norm": "post"}, warmup=0),
    "pre_deep": Recipe(DEEP, steps=500),
    "pre_deep_cold": Recipe(DEEP, steps=500, warmup=0),
    "post_deep": Recipe({**DEEP, "norm": "post"}, steps=500),
    "post_deep_cold": Recipe({**DEEP, "norm": "post"}, steps=500, warmup=0),
    # About as many lists as chapter 02's model with attention saw:
    "equal_lists": Recipe(steps=2300, kept=1),
    "sinusoidal_equal_lists": Recipe({"positions": "sinusoidal"}, steps=2300),
}
# Is depth the condition, or the learning rate? The same deep models at a half and at a quarter of it.
for name in ("pre_deep", "pre_deep_cold", "post_deep", "post_deep_cold"):
    RECIPES[f"{name}_half"] = replace(RECIPES[name], learning_rate=TRAINING["learning_rate"] / 2)
    RECIPES[f"{name}_quarter"] = replace(RECIPES[name], learning_rate=TRAINING["learning_rate"] / 4)
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str, other: Task | None = None) -> nn.Module:
    """A fresh model of this experiment, for its task or another one."""
    return chosen(RECIPES, name).build(task() if other is None else other)


def training(name: str) -> dict:
    """How a model trains, beside its number of steps."""
    recipe = chosen(RECIPES, name)
    return {**TRAINING, "warmup": recipe.warmup, "learning_rate": recipe.learning_rate}


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model)
    figures = train_and_measure(model, task(), job, training(job.model))
    return Outcome(figures, model if job.seed < RECIPES[job.model].kept else None)


EXPERIMENT = Experiment(
    "transformer", STEPS, run, {"task": "number_lists()", "model": asdict(TransformerConfig()), **TRAINING}, build=build
)
trained = EXPERIMENT.trained
