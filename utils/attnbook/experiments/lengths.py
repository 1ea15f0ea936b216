"""One task for many models: strings to be copied, four times as long as any in training (chapter 17)."""

from dataclasses import dataclass, field
from functools import cache

from torch import nn

from attnbook.attention import LocationAware, Sharpened
from attnbook.data.algorithmic import copied_strings
from attnbook.data.batching import Task
from attnbook.experiments.shared.recipes import chosen
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import TRAINING, train_and_measure
from attnbook.experiments.shared.weights import load_weights
from attnbook.experiments.sharpening import by_length
from attnbook.experiments.transformer import TRAINING as TRANSFORMER_TRAINING
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq, Transformer, TransformerConfig
from attnbook.seeding import seed_everything

WIDTH = 64  # features of a state, and of a Transformer's position


@cache
def task() -> Task:
    """The task, made once a process."""
    return copied_strings()


@dataclass(frozen=True)
class Recurrent:
    """A recurrent encoder and decoder.

    Fields:
        score: ``None`` for one vector, "additive" for content, "location_aware" for content and earlier weights.
        by_length: whether all scores are multiplied by a factor that grows with the source, in training too.
        steps: of the training. kept: whether the weights of seed 0 are kept.
    """

    score: str | None
    by_length: bool = False
    steps: int = 2000
    kept: bool = False
    training: dict = field(default_factory=lambda: TRAINING)

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task."""
        sizes = len(task.source_vocabulary), len(task.target_vocabulary)
        if self.score is None:
            return PlainSeq2Seq(*sizes, hidden=WIDTH)
        score = LocationAware(WIDTH, WIDTH, WIDTH // 2) if self.score == "location_aware" else None
        model = AttentionSeq2Seq(*sizes, hidden=WIDTH, score=score)
        if self.by_length:
            model.score = Sharpened(model.score, by_length)
        return model


@dataclass(frozen=True)
class Positions:
    """A Transformer that is 64 wide, with 2 + 2 layers and 4 heads; only how it knows positions differs."""

    config: dict
    steps: int = 2000
    kept: bool = False
    training: dict = field(default_factory=lambda: TRANSFORMER_TRAINING)

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task."""
        sizes = len(task.source_vocabulary), len(task.target_vocabulary)
        return Transformer(*sizes, TransformerConfig(**self.config))


RECIPES: dict[str, Recurrent | Positions] = {
    "plain": Recurrent(None, steps=3000),
    "content": Recurrent("additive"),
    "location_aware": Recurrent("location_aware", kept=True),
    "location_aware_by_length": Recurrent("location_aware", by_length=True, kept=True),
    "none": Positions({"positions": "none"}),
    "learned": Positions({"positions": "learned"}),
    "sinusoidal": Positions({"positions": "sinusoidal"}),
    "rotary": Positions({"positions": "rotary"}),
    "linear_bias": Positions({"positions": "linear_bias"}),
    "linear_window_4": Positions({"positions": "linear_bias", "window": 4}, kept=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str, task: Task) -> nn.Module:
    """A fresh model of this experiment, for this task or another."""
    return chosen(RECIPES, name).build(task)


def trained(name: str, seed: int = 0) -> nn.Module:
    """A model of this experiment as its training left it, ready to be asked. Raises ValueError if nothing was kept."""
    return load_weights(build(name, task()), "lengths", name, seed)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    recipe = RECIPES[job.model]
    model = recipe.build(task())
    figures = train_and_measure(model, task(), job, recipe.training)
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


EXPERIMENT = Experiment("lengths", STEPS, run, {"task": "copied_strings()", "width": WIDTH, **TRAINING})
