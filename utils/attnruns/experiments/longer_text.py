"""How far back may a fact lie? Segments with and without memory, and recall by position in a long context (chapter 12).

Three tasks. ``copy``: the symbol of ``lag`` words ago, by a Transformer-XL whose memory is shorter or longer than that.
``recall``: keys and their values over many segments; the memory of a trained model is then changed, also from none to
some. ``context``: the same by a Transformer that reads all at once, in contexts longer than those of its training.
"""

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.symbols.streams import Stream, lagged_copy, recall_question, recall_stream
from attnbook.device import best_device, device_of
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.transformer_xl import TransformerXL
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnbook.training import fit
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

SEGMENT = 16  # words that are read at once in the copies
RECALL_SEGMENT = 32  # and in the recall, so that some of the answers stand within a segment
SYMBOLS, KEYS, VALUES = 8, 16, 8
CHANCE = {"copy": 1 / SYMBOLS, "recall": 1 / VALUES, "context": 1 / VALUES}
LENGTHS = {"copy": 48, "recall": 96, "context": 96}  # words of a stream in training; for copies, beside the lag
TEST_LENGTHS = {**LENGTHS, "recall": 192, "context": 192}
TRAINING: dict[str, Any] = {"batch": 16, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}
TESTS = 100  # streams for each test
TEST_MEMORIES = (0, 16, 32, 64, 128)
AGES = (15, 31, 63, 127, 191)  # upper ends of the classes of distances, in words
CONTEXTS = (8, 16)  # pairs, each with another key, before a question


class ThroughMemory(TransformerXL):
    """A Transformer-XL whose memory keeps its graph, so that gradients flow back through earlier segments."""

    def remember(self, states: Tensor, memory: Tensor | None) -> Tensor | None:
        """As of the paper's model, but not detached."""
        if self.memory_length == 0:
            return None
        return (states if memory is None else torch.cat([memory, states], dim=1))[:, -self.memory_length :]


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its task.

    Fields:
        task: ``"copy"``, ``"recall"`` or ``"context"``. lag: of the copy.
        memory: states that each layer keeps from earlier segments, in training. layers: blocks.
        through: gradients flow through the memory. positions: of the model that reads all at once.
        steps: of the training. kept: keep the weights of seed 0.
    """

    task: str
    lag: int = SEGMENT
    memory: int = 0
    layers: int = 2
    through: bool = False
    positions: str = "rotary"
    steps: int = 120
    kept: bool = False

    @property
    def segment(self) -> int:
        """How many words a model with a memory reads at once."""
        return RECALL_SEGMENT if self.task == "recall" else SEGMENT

    def build(self) -> nn.Module:
        """A fresh model."""
        config = TransformerConfig(layers=self.layers, positions="none")
        if self.task == "copy":
            return (ThroughMemory if self.through else TransformerXL)(SYMBOLS, config, self.memory)
        if self.task == "recall":
            return TransformerXL(KEYS + VALUES, config, self.memory)
        return LanguageModel(KEYS + VALUES, replace(config, positions=self.positions))

    def draw(self, count: int, seed: int, length: int) -> Stream:
        """``count`` streams of the task of so many words; those of a copy are longer by the lag."""
        if self.task == "copy":
            return lagged_copy(self.lag, self.lag + length, count, seed, SYMBOLS)
        return recall_stream(length // 2, count, seed, KEYS, VALUES)

    def lesson(self, seed: int) -> Stream:
        """The streams of a training step."""
        count, length = TRAINING["batch"], LENGTHS[self.task]
        if self.task == "context" or (self.task == "recall" and self.memory == 0):
            # As many words, but a stream is one segment: what it cannot answer is not asked, and is no noise.
            count, length = count * length // RECALL_SEGMENT, RECALL_SEGMENT
        return self.draw(count, seed, length)

    def test(self) -> Stream:
        """The streams of the test; those of recall are longer than any in training."""
        return self.draw(TESTS, 0, TEST_LENGTHS[self.task])


LAGS, MEMORIES = (16, 32, 48), (0, 16, 32, 48)
RECIPES = {f"copy_{lag}_memory_{m}": Recipe("copy", lag, m) for lag in LAGS for m in MEMORIES}
RECIPES |= {
    # Is it depth, time, or the gradient that is missing where two layers of 16 reach 32 words on paper?
    "copy_32_memory_16_deep": Recipe("copy", 32, 16, layers=4),
    "copy_32_memory_16_long": Recipe("copy", 32, 16, steps=480),
    "copy_32_memory_16_through": Recipe("copy", 32, 16, through=True),
    "recall_memory_0": Recipe("recall", memory=0, steps=1200, kept=True),
    "context_rotary": Recipe("context", positions="rotary", steps=1200),
    "context_linear_bias": Recipe("context", positions="linear_bias", steps=1200),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    return chosen(RECIPES, name).build()


def read_stream(model: nn.Module, words: Tensor, segment: int) -> Tensor:
    """Logits ``(B, T, V)`` of ``words (B, T)``: by segments in a Transformer-XL, else all at once."""
    if not isinstance(model, TransformerXL):
        return model(words)[0]
    if model.memory_length > 0:
        return model(words, segment)[0]
    # Without memory no segment waits for another, so they are read side by side: (B · T / segment, segment).
    return model(words.reshape(-1, segment))[0].reshape(*words.shape, -1)


def stream_loss(model: nn.Module, stream: Stream, segment: int = SEGMENT) -> Tensor:
    """Cross-entropy of the answers that are asked for, in nats.

    One step sees all segments of its streams; with a detached memory its gradient is the sum of theirs.
    """
    logits = read_stream(model, stream.words, segment)  # (B, T, V)
    return F.cross_entropy(logits[stream.asked], stream.target[stream.asked])


@evaluating
def answered(model: nn.Module, stream: Stream, segment: int = SEGMENT) -> Tensor:
    """Which of the answers that are asked for are right: bool, one after the other, on the CPU."""
    answers = read_stream(model, stream.words.to(device_of(model)), segment).argmax(dim=-1).cpu()
    return (answers == stream.target.cpu())[stream.asked.cpu()]


def share(right: Tensor) -> float | None:
    """The share of a bool tensor, rounded; ``None`` for an empty one."""
    return rounded_mean(right) if len(right) else None


def by_age(right: Tensor, age: Tensor) -> dict[str, float | None]:
    """Share of right answers by how many words back they stand: ``{largest distance of the class: share}``."""
    lower = 0
    found: dict[str, float | None] = {}
    for upper in AGES:
        inside = (age > lower) & (age <= upper)
        found[str(upper)] = share(right[inside])
        lower = upper
    return found


def measure_memories(model: TransformerXL, recipe: Recipe) -> dict:
    """Right answers with the memory of the training, and with others: over all, and by age for recall."""
    stream, memory = recipe.test(), model.memory_length
    figures: dict[str, dict] = {}
    try:
        for length in TEST_MEMORIES:
            model.memory_length = length
            right = answered(model, stream, recipe.segment)
            figures[str(length)] = {"right": share(right)}
            if recipe.task == "recall":
                figures[str(length)]["by_age"] = by_age(right, stream.age[stream.asked])
    finally:
        model.memory_length = memory
    return {"right": share(answered(model, stream, recipe.segment)), "by_test_memory": figures}


def measure_positions(model: nn.Module, recipe: Recipe) -> dict:
    """Right answers in long streams by age; and about one of several pairs, by the eighth of them where it stands."""
    stream = recipe.test()
    right = answered(model, stream)
    figures: dict[str, dict[str, float | None]] = {}
    for pairs in CONTEXTS:
        figures[str(pairs)] = {}
        for eighth in range(8):
            positions = [pairs * eighth // 8, pairs * (eighth + 1) // 8 - 1]
            tests = [recall_question(pairs, at, TESTS, at, KEYS, VALUES) for at in positions]
            figures[str(pairs)][str(eighth)] = share(torch.cat([answered(model, test) for test in tests]))
    return {"right": share(right), "by_age": by_age(right, stream.age[stream.asked]), "by_position": figures}


def train(model: nn.Module, recipe: Recipe, job: Job) -> list[float]:
    """Train, each step on new streams; return the losses."""
    how = {name: value for name, value in TRAINING.items() if name != "batch"}
    batch_at, loss = partial(_batch_at, recipe, job), partial(stream_loss, segment=recipe.segment)
    return fit(model.to(best_device()), batch_at, job.steps, loss=loss, progress=False, **how).losses


def _batch_at(recipe: Recipe, job: Job, step: int) -> Stream:
    return recipe.lesson(seed_of_step(job.seed, step))  # tests have seeds below 16


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    start, recipe, model = time.process_time(), chosen(RECIPES, job.model), build(job.model)
    last = train(model, recipe, job)[-20:]
    figures = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "loss": round(sum(last) / len(last), 4),
        **(measure_memories(model, recipe) if isinstance(model, TransformerXL) else measure_positions(model, recipe)),
        "seconds": round(time.process_time() - start, 1),
    }
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "longer_text",
    STEPS,
    run,
    {
        "task": "lagged_copy, recall_stream",
        "segments": [SEGMENT, RECALL_SEGMENT],
        "lengths": LENGTHS,
        "chance": CHANCE,
        "keys": KEYS,
        "tests": TESTS,
        **TRAINING,
    },
    build=build,
)
trained = EXPERIMENT.trained
