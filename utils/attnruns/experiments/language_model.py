"""Predicting the next piece of a caption: counts, an LSTM and a Transformer of equal size and time (chapter 11).

Every trained model gets about as many CPU seconds, so a model with slower steps takes fewer. A small Transformer is
trained on the book's own text, too; its weights are kept.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from torch import nn

from attnbook.data.batching import Task
from attnbook.data.texts.language import TextTask, caption_task, own_text_task
from attnbook.data.texts.text import KINDS, own_corpus
from attnbook.device import best_device
from attnbook.measure.text import prefers_right, text_loss
from attnbook.models import KneserNey, LanguageModel, LSTMLanguageModel, TransformerConfig
from attnbook.seeding import seed_everything
from attnbook.training import language_model_loss
from attnruns.shared.language import Curve, bytes_per_word, samples, state_bytes
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 2e-3, "warmup": 100, "max_grad_norm": 1.0}
CONFIG: dict[str, Any] = {"d_model": 96, "heads": 4, "layers": 2, "d_ff": 384}  # 421,000 parameters with 2,000 pieces
SMALL: dict[str, Any] = {"d_model": 64, "heads": 4, "layers": 2, "d_ff": 256}
# 417,000 parameters. After 300 steps a learning rate of 1e-2 was ahead of 2e-3 and 4e-3.
LSTM: dict[str, Any] = {"embedding": 88, "hidden": 88}
POINTS, HELD_OUT = 8, 250  # of a curve while training: how many, and on how many sentences
TEXTS: dict[str, Callable[[], TextTask]] = {"captions": caption_task, "own": own_text_task}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its training.

    Fields:
        kind: ``"transformer"``, ``"lstm"`` or ``"kneser_ney"``.
        config: changes to ``CONFIG`` for a Transformer; what an LSTM is built with, ``LSTM`` where it is empty.
        steps: of training; about equal CPU seconds for all on captions. Counting takes one step.
        learning_rate: the highest one.
        text: ``"captions"`` or ``"own"``.
        sampled: whether the trained model writes, and what it writes is measured.
        kept: the weights of so many seeds are kept, from seed 0 on.
    """

    kind: str = "transformer"
    config: dict = field(default_factory=dict)
    steps: int = 1500
    learning_rate: float = TRAINING["learning_rate"]
    text: str = "captions"
    sampled: bool = False
    kept: int = 0

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task; one that counts has counted the training part."""
        size = len(task.target_vocabulary)
        if self.kind == "kneser_ney":
            return KneserNey((task.target_vocabulary.encode(example.target) for example in task.train), size)
        if self.kind == "lstm":
            return LSTMLanguageModel(size, **(self.config or LSTM))
        return LanguageModel(size, TransformerConfig(**{**CONFIG, **self.config}))


CAPTION_RATE = 7e-3  # of the Transformers: after 300 steps ahead of 2e-3 and 4e-3
SINUSOIDAL: dict[str, Any] = {"positions": "sinusoidal"}
MODERN: dict[str, Any] = {"normalisation": "rms", "feed_forward": "swiglu", "key_value_heads": 2, "bias": False}
RECIPES = {
    "kneser_ney": Recipe("kneser_ney", steps=1, sampled=True),
    "lstm": Recipe("lstm", steps=2600, learning_rate=1e-2, sampled=True),
    "transformer": Recipe(learning_rate=CAPTION_RATE, sampled=True),
    # Less well tuned: how much of a difference between two architectures is one between two settings?
    "lstm_tied": Recipe("lstm", config={"embedding": 112, "hidden": 112, "layers": 2, "tied": True}, steps=1750),
    "transformer_slow": Recipe(),
    "own_text": Recipe(config=SMALL, steps=1200, text="own", sampled=True, kept=1),
    # The block of 2017 (in pre-norm), and each later change to it alone; "transformer" changes only the positions.
    "original": Recipe(learning_rate=CAPTION_RATE, config=SINUSOIDAL, steps=1560),
    "learned": Recipe(learning_rate=CAPTION_RATE, config={"positions": "learned", "max_length": 128}, steps=1560),
    "rms_norm": Recipe(learning_rate=CAPTION_RATE, config={**SINUSOIDAL, "normalisation": "rms"}, steps=1540),
    "swiglu": Recipe(learning_rate=CAPTION_RATE, config={**SINUSOIDAL, "feed_forward": "swiglu"}, steps=1550),
    "grouped": Recipe(learning_rate=CAPTION_RATE, config={**SINUSOIDAL, "key_value_heads": 2}, steps=1620),
    "no_bias": Recipe(learning_rate=CAPTION_RATE, config={**SINUSOIDAL, "bias": False}, steps=1620),
    "modern": Recipe(learning_rate=CAPTION_RATE, config=MODERN, steps=1470),  # all of them, and rotary positions
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def text(name: str) -> TextTask:
    """The text of a model: its task and its pieces."""
    return TEXTS[chosen(RECIPES, name).text]()


def build(name: str, other: Task | None = None) -> nn.Module:
    """A fresh model of this experiment, for its text or another one."""
    return chosen(RECIPES, name).build(text(name).task if other is None else other)


@cache
def questions(kind: str) -> list[tuple[str, str, str]]:
    """Beginning, right and wrong word of the held-out lines of the book's own text, of one kind."""
    return [(line.beginning, line.right, line.wrong) for line in own_corpus().test if line.kind == kind]


def fitted(model: nn.Module, those: TextTask, job: Job, recipe: Recipe) -> dict[str, Any]:
    """Train a model; return what :func:`train` does, the curve, and the CPU seconds without those of the curve."""
    every = max(1, job.steps // POINTS)
    curve = Curve(those, those.task.validation[:HELD_OUT], every)
    how = {**TRAINING, "learning_rate": recipe.learning_rate, "validate": curve, "validate_every": every}
    _, figures = train(model, those.task, job, how, loss=language_model_loss)
    seconds = figures["seconds"] - curve.apart
    figures |= {"training_seconds": round(seconds, 1), "milliseconds_per_step": round(1000 * seconds / job.steps, 1)}
    return {**figures, "curve": curve.seen}


def measure(model: nn.Module, those: TextTask) -> dict[str, Any]:
    """Perplexity per piece and bits per character of validation and test, and what a model keeps of a sentence."""
    losses = {part: text_loss(model, those.task, getattr(those.task, part)) for part in ("validation", "test")}
    return {
        "perplexity": {part: round(loss.perplexity, 3) for part, loss in losses.items()},
        "bits_per_character": {part: round(loss.bits_per_character, 4) for part, loss in losses.items()},
        "bytes_per_word": bytes_per_word(model),
        "bytes_after_20_words": state_bytes(model, 20),
    }


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    recipe, those = chosen(RECIPES, job.model), text(job.model)
    seed_everything(job.seed)
    model = build(job.model, those.task).to(best_device())
    if isinstance(model, KneserNey):
        figures: dict[str, Any] = {"parameters": 0, "counts": model.counts(), "seconds": 0.0}
    else:
        figures = fitted(model, those, job, recipe)
    figures |= {"device": best_device().type, **measure(model, those)}
    if recipe.text == "own":
        answers = {kind: prefers_right(model, *those, questions(kind)) for kind in KINDS}
        figures["right"] = {kind: round(sum(of_kind) / len(of_kind), 4) for kind, of_kind in answers.items()}
    if recipe.sampled:
        figures["samples"] = samples(model, those, job.seed)
    return Outcome(figures, model if job.seed < recipe.kept else None)


EXPERIMENT = Experiment(
    "language_model",
    STEPS,
    run,
    {
        "task": "caption_task(), own_text_task() for own_text",
        "model": asdict(TransformerConfig(**CONFIG)),
        "lstm": LSTM,
        **TRAINING,
        "learning_rates": {name: recipe.learning_rate for name, recipe in RECIPES.items()},
    },
    build=build,
)
trained = EXPERIMENT.trained
