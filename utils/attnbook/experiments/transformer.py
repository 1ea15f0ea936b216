"""The Transformer on lists of numbers: heads, positions, and what each part is worth (chapters 08 and 09)."""

from dataclasses import asdict

from torch import nn

from attnbook.data.batching import Task
from attnbook.data.numbers import COMMA
from attnbook.experiments.numbers import task
from attnbook.experiments.runner import Experiment, Job, Outcome
from attnbook.experiments.seq2seq import train_and_measure
from attnbook.experiments.weights import load_weights
from attnbook.models import Transformer, TransformerConfig
from attnbook.seeding import seed_everything

# How every Transformer of chapters 08 to 10 trains, beside its number of steps.
TRAINING = {"batch": 32, "rate": 2e-3, "warmup": 100, "clip": 1.0}

# What is unusual about each model. The others are 64 wide, 2 + 2 layers, 4 heads, rotary positions, pre-norm.
# "items": towards the source a word's place is the number of commas before it, and far ones are penalised.
ITEMS = {"cross_positions": "linear_bias", "separators": True}
DEEP = {"layers": 6}  # six and six, as in the paper
CHANGES: dict[str, dict] = {
    "base": {},
    "none": {"positions": "none"},
    "sinusoidal": {"positions": "sinusoidal"},
    "learned": {"positions": "learned"},
    "linear_bias": {"positions": "linear_bias"},
    "rotary_within": {"cross_positions": "none"},
    "window_8": {"window": 8},
    "linear_window_8": {"cross_positions": "linear_bias", "window": 8},
    "items": ITEMS,
    "items_window_8": {**ITEMS, "window": 8},
    "items_linear_bias": {**ITEMS, "positions": "linear_bias"},
    "heads_1": {"heads": 1},
    "heads_2": {"heads": 2},
    "heads_8": {"heads": 8},
    "no_scale": {"scale": False},
    "no_residual": {"residual": False},
    "no_norm": {"norm": "none"},
    "post": {"norm": "post"},
    "pre_cold": {},
    "post_cold": {"norm": "post"},
    "pre_deep": DEEP,
    "pre_deep_cold": DEEP,
    "post_deep": {**DEEP, "norm": "post"},
    "post_deep_cold": {**DEEP, "norm": "post"},
    "equal_time": {},
}
# "equal_time" takes about as many seconds as chapter 02's model with attention; deep ones show soon whether they learn.
STEPS = {**dict.fromkeys(CHANGES, 1200), "equal_time": 2300} | {name: 500 for name in CHANGES if "deep" in name}
KEEP = {"base", "equal_time", "sinusoidal", "heads_1", "heads_8", "items_linear_bias", "items_window_8"}


def build(name: str, task: Task) -> nn.Module:
    """Build a model of this experiment by name."""
    words = task.source_vocabulary, task.target_vocabulary
    changes = dict(CHANGES[name])
    if "separators" in changes:
        changes["separators"] = tuple(vocabulary.encode([COMMA])[0] for vocabulary in words)
    return Transformer(*map(len, words), TransformerConfig(**changes))


def training(name: str) -> dict:
    """How a model trains: those called "cold" without warm-up."""
    return {**TRAINING, "warmup": 0} if name.endswith("cold") else TRAINING


def trained(name: str, seed: int = 0) -> nn.Module:
    """A model of this experiment as its training left it, ready to be asked. Raises ValueError if nothing was kept."""
    return load_weights(build(name, task()), "transformer", name, seed)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model, task())
    figures = train_and_measure(model, task(), job, training(job.model))
    return Outcome(figures, model if job.model in KEEP and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "transformer", STEPS, run, {"task": "number_lists()", "model": asdict(TransformerConfig()), **TRAINING}
)
