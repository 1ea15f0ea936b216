"""When heads that bind and heads that find form in training, and what one layer learns once its inputs are bound."""

from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.worlds.episodes import BLUR, DIM, KEYS, LENGTH, VALUES, online_recall
from attnbook.device import device_of
from attnbook.measure.induction import prefix_matching_score, previous_word_score
from attnbook.models.block import TransformerConfig
from attnbook.models.snail import causal_convolution
from attnbook.models.vector_reader import VectorReader
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnruns.experiments.meta_learning import INPUTS, TRAINING, RecallTask, recall_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

LESSONS: Any = RecallTask()  # its batches are not of pairs of texts
TESTS, TEST_SEED = 200, 0  # sequences; training begins at 1,000,003
EVERY = 10  # steps between two measurements
EXAMPLES = 200  # drawings of the chapter's example, over which maps are averaged


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        config: changes to :class:`TransformerConfig`, beside two layers of 64 features and rotary positions.
        bound: whether each step is given the input of the step before, too, by a convolution that isn't trained.
        steps: of training; 400 are those of ``in_context``.
    """

    config: dict = field(default_factory=dict)
    bound: bool = False
    steps: int = 400


RECIPES = {
    "two_layers": Recipe(),
    "one_layer_bound": Recipe({"layers": 1, "d_ff": 384}, bound=True),  # in_context has the same layer without
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


class BoundReader(nn.Module):
    """A reader before which a convolution with the taps 1 and 0 puts the input of the step before beside each step.

    Args:
        reader: reads vectors of ``INPUTS + DIM`` features.
    """

    taps: Tensor  # (D, D, 2)

    def __init__(self, reader: VectorReader) -> None:
        super().__init__()
        self.reader = reader
        one = torch.eye(DIM)
        self.register_buffer("taps", torch.stack([one, torch.zeros_like(one)], dim=-1), persistent=False)

    def bind(self, x: Tensor) -> Tensor:
        """``(B, T, DIM + VALUES)`` -> ``(B, T, DIM + VALUES + DIM)``: last, the input of the step before."""
        return torch.cat([x, causal_convolution(x[..., :DIM], self.taps)], dim=-1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """As the reader's."""
        return self.reader(self.bind(x))

    def maps(self, x: Tensor) -> list[Tensor | None]:
        """As the reader's."""
        return self.reader.maps(self.bind(x))


def build(name: str) -> VectorReader | BoundReader:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    config = TransformerConfig(**recipe.config)
    if recipe.bound:
        return BoundReader(VectorReader(INPUTS + DIM, VALUES, config))
    return VectorReader(INPUTS, VALUES, config)


def examples(count: int = EXAMPLES) -> Tensor:
    """The chapter's example with so many drawings of its words: ``(count, 4, DIM + VALUES)``.

    It is *apple*, *cat*, *shirt*, *cat* with the labels *green* (2), *red* (0) and *blue* (1).
    """
    dice = torch.Generator().manual_seed(TEST_SEED)
    which, given = torch.tensor([0, 1, 2, 1]), torch.tensor([2, 0, 1, 0])
    words = torch.randn(count, 3, DIM, generator=dice)[:, which] + BLUR * torch.randn(count, 4, DIM, generator=dice)
    late = F.pad(F.one_hot(given, VALUES)[:-1], (0, 0, 1, 0)).float()  # (4, VALUES)
    return torch.cat([words, late.expand(count, -1, -1)], dim=-1)


class Watch:
    """Called by ``fit`` now and then: notes what is right, the scores of all heads, and their weights on the example.

    Attributes:
        seen: one dictionary for each call.
        maps: for each call, by layer, the weights ``(H, 4, 4)`` on the example, means over the drawings of its words.
    """

    def __init__(self) -> None:
        self.batch = online_recall(TESTS, TEST_SEED)
        self.seen: list[dict[str, Any]] = []
        self.maps: list[list[Tensor]] = []

    @evaluating
    def measured(self, model: VectorReader | BoundReader) -> dict[str, Any]:
        """The share right where the key occurred before, and of each head, by layer, its two scores."""
        inputs, which = self.batch.inputs.to(device_of(model)), self.batch.which.to(device_of(model))
        maps = [layer for layer in model.maps(inputs) if layer is not None]  # none is fused
        return {
            "right": rounded_mean((model(inputs)[0].argmax(dim=-1).cpu() == self.batch.values)[self.batch.seen]),
            "step_before": [rounded(previous_word_score(layer)) for layer in maps],
            "after_same_key": [rounded(prefix_matching_score(layer, which)) for layer in maps],
        }

    def __call__(self, model: VectorReader | BoundReader) -> float:
        self.seen.append(self.measured(model))
        on_example = model.maps(examples().to(device_of(model)))
        self.maps.append([layer.mean(dim=0).detach().cpu() for layer in on_example if layer is not None])
        return self.seen[-1]["right"]


def best_heads(seen: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Layer and head with the most weight on the step before (``binds``) and after the same key (``finds``)."""
    best = {}
    for name, kind in (("binds", "step_before"), ("finds", "after_same_key")):
        table = torch.tensor(seen[kind])  # (layers, H)
        best[name] = divmod(int(table.argmax()), table.shape[1])
    return best


def run(job: Job) -> Outcome:
    """Train one model, and measure it every ten steps."""
    seed_everything(job.seed)
    model, watch = build(job.model), Watch()
    watch(model)
    history, figures = train(model, LESSONS, job, TRAINING, loss=recall_loss, validate=watch, validate_every=EVERY)
    at = [0, *(step for step, _ in history.validations)]
    heads = best_heads(watch.seen[-1])
    figures["while_training"] = [{"step": step, **seen} for step, seen in zip(at, watch.seen, strict=True)]
    figures["heads"] = {name: list(head) for name, head in heads.items()}
    figures["maps"] = {
        name: [rounded(maps[layer][head]) for maps in watch.maps] for name, (layer, head) in heads.items()
    }
    return Outcome(figures)


EXPERIMENT = Experiment(
    "forming",
    STEPS,
    run,
    {
        "task": {"keys": KEYS, "values": VALUES, "length": LENGTH},
        "tests": TESTS,
        "examples": EXAMPLES,
        "every": EVERY,
        **TRAINING,
    },
    build=build,
)
