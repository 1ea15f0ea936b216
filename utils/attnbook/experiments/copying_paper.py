"""Copy as the paper has it: one delimiter, 1 to 20 vectors, 128 rows, and neither curriculum nor marks (chapter 13).

Each training ends when it makes no mistake on held-out copies of all trained lengths, twice in a row, or after a
million sequences at most. Source: Graves, Wayne and Danihelka 2014, section 4.1 and table 1.
"""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data import copy_batch
from attnbook.experiments.shared.memory import TEST_SEED, VALIDATION_SEED, Lesson, bit_loss, wrong_bits
from attnbook.experiments.shared.recipes import chosen
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import chunk_means
from attnbook.experiments.shared.weights import load_weights
from attnbook.models import NTM, NTMConfig
from attnbook.seeding import generator, seed_everything
from attnbook.training import fit

ROWS, LONGEST, TESTS = 128, 20, (10, 20, 40, 80, 120)
MOST = 1_000_000  # sequences that a training reads at most
HELD_OUT, TESTED = 10, 50  # copies of each length that end a training, and that it is tested on
EVERY = 2000  # sequences from one validation to the next
CHOICE = (40, 80)  # the lengths by which one of the states is chosen; tests go on to 120
MAX_GRAD_VALUE = 10.0  # the paper's
# Graves 2013, equations 38 to 41, whose form of RMSProp the paper names.
RMSPROP: dict[str, Any] = {"alpha": 0.95, "momentum": 0.9, "eps": 1e-4, "centered": True}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a machine and its training.

    Fields:
        controller: ``"lstm"`` or ``"feedforward"``, of 100 units, as in the paper.
        optimiser: ``"rmsprop"``, the paper's, or ``"adam"``.
        batch: sequences per step; all of a step have one length. learning_rate: the same all the time.
    """

    controller: str = "lstm"
    optimiser: str = "rmsprop"
    batch: int = 1
    learning_rate: float = 1e-4

    def build(self) -> nn.Module:
        """A fresh machine, with a memory of 20 numbers per row."""
        return NTM(NTMConfig(controller=self.controller))

    def make_optimiser(self) -> Callable:
        """What makes the optimiser of the parameters."""
        if self.optimiser == "rmsprop":
            return partial(torch.optim.RMSprop, lr=self.learning_rate, **RMSPROP)
        return partial(torch.optim.Adam, lr=self.learning_rate)

    def steps(self) -> int:
        """How many steps there are at most."""
        return MOST // self.batch


RECIPES = {
    "paper_lstm": Recipe(),
    "paper_feedforward": Recipe("feedforward"),
    "adam_lstm": Recipe(optimiser="adam", batch=16, learning_rate=1e-3),
    "adam_feedforward": Recipe("feedforward", "adam", 16, 3e-3),
}
STEPS = {name: recipe.steps() for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh machine of this experiment."""
    return chosen(RECIPES, name).build()


def trained(name: str, seed: int = 0) -> nn.Module:
    """A machine of this experiment as its training left it. Raises ValueError if nothing was kept."""
    return load_weights(build(name), EXPERIMENT.name, name, seed)


def lesson_at(step: int, batch: int, seed: int) -> Lesson:
    """The lesson of a step: copies of 1 to 20 vectors, all of one length, with 128 rows."""
    number = 1_000_003 * (seed + 1) + step
    length = int(torch.randint(1, LONGEST + 1, (), generator=generator(number)))
    return Lesson(copy_batch(length, batch, number), ROWS)


def loss(model: nn.Module, lesson: Lesson) -> Tensor:
    """Cross-entropy of the bits that are asked for."""
    return bit_loss(model(lesson.bits.inputs, rows=lesson.rows)[0], lesson.bits)


class Validation:
    """Minus the wrong bits per held-out sequence of the trained lengths; and the state that does best on longer ones."""

    def __init__(self) -> None:
        self.kept: dict[str, Tensor] = {}
        self.best = float("inf")
        self.longer: list[float] = []  # the loss on the longer lengths, each time

    @torch.no_grad()
    def __call__(self, model: nn.Module) -> float:
        longer = [loss(model, exact(length, HELD_OUT, VALIDATION_SEED)).item() for length in CHOICE]
        self.longer.append(round(sum(longer) / len(longer), 6))
        if self.longer[-1] < self.best:
            self.best, self.kept = self.longer[-1], copy.deepcopy(model.state_dict())
        return -sum(wrong(model, length, HELD_OUT, VALIDATION_SEED) for length in range(1, LONGEST + 1)) / LONGEST


def exact(length: int, count: int, seed: int) -> Lesson:
    """Copies of just ``length`` vectors."""
    return Lesson(copy_batch(length, count, seed), ROWS)


@torch.no_grad()
def wrong(model: nn.Module, length: int, count: int, seed: int) -> float:
    """Wrong bits per sequence of one length."""
    bits, rows = exact(length, count, seed)
    return wrong_bits(model(bits.inputs, rows=rows)[0], bits)


def tested(model: nn.Module) -> dict[str, float]:
    """Wrong bits per sequence, by length."""
    return {str(length): round(wrong(model, length, TESTED, TEST_SEED), 3) for length in TESTS}


def run(job: Job) -> Outcome:
    """Train one machine until it makes no mistake, and test its last state and the chosen one."""
    recipe, validation, start = chosen(RECIPES, job.model), Validation(), time.process_time()
    seed_everything(job.seed)
    model = recipe.build()
    every = EVERY // recipe.batch
    history = fit(
        model, partial(lesson_at, batch=recipe.batch, seed=job.seed), job.steps, loss=loss, progress=False,
        schedule=lambda step: recipe.learning_rate, optimiser=recipe.make_optimiser(), max_grad_norm=float("inf"),
        max_grad_value=MAX_GRAD_VALUE, validate=validation, validate_every=every, enough=0.0,
    )  # fmt: skip
    wrongs = [-result for _, result in history.validations]
    last = tested(model)
    model.load_state_dict(validation.kept)
    return Outcome(
        {
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "seconds": round(time.process_time() - start, 1),
            "training_seconds": round(history.cpu_seconds, 1),
            "sequences": history.steps * recipe.batch,
            "converged": len(wrongs) > 1 and max(wrongs[-2:]) == 0,
            "losses": chunk_means(history.losses, every, digits=5),
            "wrong_while_training": [round(value, 3) for value in wrongs],
            "longer_while_training": validation.longer,
            "wrong_bits_last": last,
            "wrong_bits": tested(model),
        },
        model,
    )


EXPERIMENT = Experiment(
    "copying_paper",
    STEPS,
    run,
    {
        "task": "copy_batch(1 to 20)",
        "rows": ROWS,
        "sequences_at_most": MOST,
        "max_grad_value": MAX_GRAD_VALUE,
        "rmsprop": RMSPROP,
        "recipes": {name: vars(recipe) for name, recipe in RECIPES.items()},
    },
)
