"""Training as the neural Turing machine's paper does it: episodes of a whole task, until no mistake is left."""

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.device import best_device, device_of
from attnbook.models import NTM, LSTMTagger, NTMConfig
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnbook.training import GravesRMSprop, History, fit, warmup_then_cosine
from attnbook.trees import moved
from attnruns.shared.memory import TEST_SEED, VALIDATION_SEED, Lesson, wrong_bits
from attnruns.shared.ntm_by_hand import run_sooner
from attnruns.shared.resume import checkpoint_of, digest_of
from attnruns.shared.runner import Job, Outcome
from attnruns.shared.seq2seq import chunk_means

MAX_GRAD_VALUE = 10.0  # the paper's bounds of each number of the gradients
HELD_OUT, TESTED = 10, 50  # sequences of each size that say when a training ends, and that it is tested on


@dataclass(frozen=True)
class EpisodeTask:
    """A task of the paper.

    Fields:
        draw: ``draw(count, seed, source) -> Lesson``, as training sees it; ``source`` says which.
        exact: ``exact(size, count, seed) -> Lesson``, of just that size.
        held_out: sizes of the trained range; ``clean`` validations in a row without a mistake in them end a training.
        choice: larger sizes, by whose loss one of the states is chosen. tests: sizes by the names of their results.
        inputs, outputs: features.
        solvable: whether an answer can be known, and not only guessed well.
        keeps: the state whose weights are kept, the ``"chosen"`` or the ``"last"``.
    """

    draw: Callable[[int, int, torch.Generator], Lesson]
    exact: Callable[[Any, int, int], Lesson]
    held_out: tuple
    choice: tuple
    tests: Mapping[str, Any]
    inputs: int
    outputs: int
    solvable: bool = True
    clean: int = 10
    keeps: str = "chosen"


@dataclass(frozen=True)
class EpisodeRecipe:
    """What is chosen about a model and its training.

    Fields:
        task: by its name. sequences: how many a training reads at most.
        machine: changes to :class:`NTMConfig`; ``None`` for an LSTM alone, with ``layers`` of ``hidden`` features.
        optimiser: ``"rmsprop"``, the paper's, or ``"adam"``.
        batch: sequences per step; all of a step have one size.
        learning_rate: the same for the share ``constant`` of all steps, after which it falls to 0.
        kept: of so many seeds, from 0 on, the chosen state's weights are kept.
    """

    task: str
    sequences: int
    machine: dict | None = field(default_factory=dict)
    layers: int = 1
    hidden: int = 256
    optimiser: str = "rmsprop"
    batch: int = 1
    learning_rate: float = 1e-4
    constant: float = 1.0
    kept: int = 5

    def build(self, task: EpisodeTask) -> nn.Module:
        """A fresh model for a task; a machine has rows of 20 numbers, as all of the paper's."""
        if self.machine is None:
            return LSTMTagger(task.inputs, task.outputs, self.hidden, self.layers)
        return NTM(NTMConfig(task.inputs, task.outputs, **self.machine))

    def make_optimiser(self) -> Callable:
        """What makes the optimiser of the parameters."""
        kind = {"rmsprop": GravesRMSprop, "adam": torch.optim.Adam}[self.optimiser]
        return partial(kind, lr=self.learning_rate)

    def learning_rate_at(self, step: int, steps: int) -> float:
        """The learning rate of a step of so many."""
        return self.learning_rate * warmup_then_cosine(step, steps, 0, self.constant)

    @property
    def steps(self) -> int:
        """How many steps there are at most."""
        return self.sequences // self.batch

    def digest(self) -> str:
        """Eight letters that change with the recipe; its checkpoints bear them."""
        return digest_of(self)


def answers(model: nn.Module, lesson: Lesson) -> Tensor:
    """The logits of a model, of a machine by the faster run; the lesson is where the model is."""
    if isinstance(model, NTM):
        return run_sooner(model, lesson.bits.inputs, lesson.rows)[0]
    return model(lesson.bits.inputs, rows=lesson.rows)[0]


def episode_cost(model: nn.Module, lesson: Lesson) -> Tensor:
    """Cross-entropy of all bits that are asked for, in nats per sequence: the damping of RMSProp is made for this."""
    lesson = moved(lesson, device_of(model))
    bits, logits = lesson.bits, answers(model, lesson)[lesson.bits.mask]
    return F.binary_cross_entropy_with_logits(logits, bits.target[bits.mask], reduction="sum") / len(bits.inputs)


@evaluating
def wrong_per_sequence(model: nn.Module, lesson: Lesson) -> float:
    """Bits answered wrongly, per sequence."""
    lesson = moved(lesson, device_of(model))
    return wrong_bits(answers(model, lesson), lesson.bits)


class Validation:
    """Minus the wrong bits per held-out sequence, the most of as many validations as have to be clean but for one.

    It keeps the state that does best on larger sizes.

    It knows what it has seen, so that a training that was interrupted goes on as if nothing had happened.
    """

    def __init__(self, task: EpisodeTask) -> None:
        self.task = task
        self.held_out = [task.exact(size, HELD_OUT, VALIDATION_SEED + i) for i, size in enumerate(task.held_out)]
        self.larger = [task.exact(size, HELD_OUT, VALIDATION_SEED + i) for i, size in enumerate(task.choice)]
        self.seen: dict[str, Any] = {
            "kept": {},
            "best": float("inf"),
            "chosen": 0,
            "costs": [],
            "larger": [],
            "wrong": [],
        }

    @torch.no_grad()
    def __call__(self, model: nn.Module) -> float:
        seen = self.seen
        for name, lessons in (("costs", self.held_out), ("larger", self.larger)):
            seen[name].append(round(sum(episode_cost(model, lesson).item() for lesson in lessons) / len(lessons), 5))
        wrongs = [wrong_per_sequence(model, lesson) for lesson in self.held_out]
        seen["wrong"].append(round(sum(wrongs) / len(wrongs), 4))
        if seen["larger"][-1] < seen["best"]:
            seen |= {
                "best": seen["larger"][-1],
                "kept": copy.deepcopy(model.state_dict()),
                "chosen": len(seen["wrong"]),
            }
        recent = self.task.clean - 1  # fit wants two results in a row that are good enough
        return -max(seen["wrong"][-recent:]) if len(seen["wrong"]) >= recent else float("-inf")

    def state_dict(self) -> dict[str, Any]:
        """All that it has seen."""
        return self.seen

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what another one had seen."""
        self.seen = state


def solved(wrongs: list[float], every: int) -> int | None:
    """After how many sequences two validations in a row began to be without a mistake; None if they never were."""
    pairs = pairwise(wrongs)
    return next((every * number for number, pair in enumerate(pairs, start=1) if not any(pair)), None)


def converged_at(run: Mapping[str, Any], clean: int) -> tuple[int, float] | None:
    """Sequences and seconds until the last ``clean`` validations of a recorded run began; None if one has a mistake.

    ``clean``: that of the run's :class:`EpisodeTask`.
    """
    if any(run["held_out_wrong"][-clean:]):
        return None
    there = run["sequences"] - (clean - 1) * run["validated_every"]
    return there, run["training_seconds"] * there / run["sequences"]


def lesson_at(step: int, task: EpisodeTask, batch: int, seed: int) -> Lesson:
    """The lesson of a step; a function of step and seed alone."""
    number = seed_of_step(seed, step)
    return task.draw(batch, number, generator(number))


def tested(model: nn.Module, task: EpisodeTask) -> dict[str, float]:
    """Wrong bits per sequence in each test."""
    lessons = {name: task.exact(size, TESTED, TEST_SEED) for name, size in task.tests.items()}
    return {name: round(wrong_per_sequence(model, lesson), 3) for name, lesson in lessons.items()}


def train(model: nn.Module, task: EpisodeTask, recipe: EpisodeRecipe, job: Job, every: int, name: str) -> tuple:
    """Train a model until it makes no mistake any more, or for all its steps.

    Gives the history, and what validation has seen. ``every``: sequences from one validation to the next. An earlier
    attempt under the same ``name`` is gone on from.
    """
    validation = Validation(task)
    history: History = fit(
        model, partial(lesson_at, task=task, batch=recipe.batch, seed=job.seed), job.steps, loss=episode_cost,
        schedule=lambda step: recipe.learning_rate_at(step, job.steps), optimiser=recipe.make_optimiser(),
        max_grad_norm=float("inf"), max_grad_value=MAX_GRAD_VALUE, validate=validation,
        validate_every=max(1, every // recipe.batch), enough=0.0 if task.solvable else None,
        checkpoint=checkpoint_of(name, job, recipe.digest()), progress=False,
    )  # fmt: skip
    return history, validation.seen


def run_episodes(
    task: EpisodeTask, recipe: EpisodeRecipe, job: Job, every: int, name: str,
    more: Callable[[Any], dict] = lambda model: {},
) -> Outcome:  # fmt: skip
    """Train one model, and test its last state and the chosen one; the task says the weights of which are kept.

    ``more``: further figures of a model in its chosen state; the other arguments as in :func:`train`.
    """
    seed_everything(job.seed)
    model = recipe.build(task).to(best_device())
    history, seen = train(model, task, recipe, job, every, name)
    start = time.process_time()
    last, states = tested(model, task), {"last": copy.deepcopy(model.state_dict()), "chosen": seen["kept"]}
    model.load_state_dict(states["chosen"])
    figures = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "training_seconds": round(history.cpu_seconds, 1),
        "sequences": history.steps * recipe.batch,
        "solved": solved(seen["wrong"], every),
        "validated_every": every,
        "costs": chunk_means(history.losses, max(1, every // recipe.batch), digits=4),
        "held_out_costs": seen["costs"],
        "held_out_wrong": seen["wrong"],
        "larger_costs": seen["larger"],
        "chosen": seen["chosen"] * every,
        "wrong_bits": tested(model, task),
        "wrong_bits_last": last,
        **more(model),
    }
    model.load_state_dict(states[task.keeps])
    checkpoint_of(name, job, recipe.digest()).unlink()
    figures["seconds"] = round(history.cpu_seconds + time.process_time() - start, 1)  # less its validations
    return Outcome(figures, model if job.seed < recipe.kept else None)


def settings_of(task: str, rows: int, recipes: Mapping[str, EpisodeRecipe]) -> dict[str, Any]:
    """What a reader of the record would want to know."""
    return {
        "task": task, "rows": rows, "batch": "in each recipe", "learning_rate": "in each recipe", "warmup": 0,
        "max_grad_norm": None, "max_grad_value": MAX_GRAD_VALUE, "loss": "cross-entropy, nats per sequence",
        "sequences": {"validation": HELD_OUT, "test": TESTED},
        "recipes": {name: asdict(recipe) for name, recipe in recipes.items()},
    }  # fmt: skip
