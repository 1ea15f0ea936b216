"""What a model does after an error of its own, and what scheduled sampling changes about it (chapter 10)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.symbols.numbers import COMMA, number_lists
from attnbook.data.texts.vocabulary import BOS, EOS, PAD
from attnbook.decoding import DecoderModule, greedy
from attnbook.device import device_of
from attnbook.models import PlainSeq2Seq, Transformer, TransformerConfig
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnbook.training import (
    ScheduledSampling,
    TwoPass,
    exponential_decay,
    inverse_sigmoid_decay,
    linear_decay,
    teacher_forcing_loss,
)
from attnbook.training.loop import Loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train_and_measure

LONGEST = 3  # numbers in a list
LEAST = 0.25  # each schedule ends here: one right word in four
REACH = 8  # words after an error that are looked at
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 5e-3, "warmup": 100, "max_grad_norm": 1.0}
UNITS = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a training.

    Fields:
        schedule: of the right words, see :func:`schedules`; ``None`` = teacher forcing to the end.
        transformer: 32 wide, sampled in two passes; else a plain model of 64 units, sampled word by word.
        steps: of the training.
    """

    schedule: str | None = None
    transformer: bool = False
    steps: int = 1500

    def build(self, task: Task) -> nn.Module:
        """A fresh model for a task: small enough to err."""
        words = len(task.source_vocabulary), len(task.target_vocabulary)
        if self.transformer:
            return Transformer(*words, TransformerConfig(d_model=32, d_ff=64))
        return PlainSeq2Seq(*words, hidden=64)


RECIPES = {
    "teacher_forcing": Recipe(),
    "fewer_steps": Recipe(steps=1100),  # teacher forcing, stopped where it is no better than the schedules
    "linear": Recipe("linear"),
    "exponential": Recipe("exponential"),
    "inverse_sigmoid": Recipe("inverse_sigmoid"),
    "transformer": Recipe(transformer=True, steps=600),
    "transformer_two_pass": Recipe("linear", transformer=True, steps=600),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


@cache
def task() -> Task:
    """Lists of one to three numbers, made once a process."""
    return number_lists(test_per_size=500, longest=LONGEST, longer=(4,), longer_per_size=100)


def build(name: str, task: Task) -> nn.Module:
    """A fresh model of this experiment, for this task or another."""
    return chosen(RECIPES, name).build(task)


def inverse_sigmoid_width(steps: int, least: float = LEAST) -> float:
    """The k with which the inverse sigmoid has fallen to ``least`` after ``steps`` steps."""
    k = float(steps)
    for _ in range(100):  # k = steps / ln(k (1 / least − 1)), again and again until it no longer moves
        k = max(1.0, steps / max(torch.tensor(k * (1 / least - 1)).log().item(), 0.1))
    return k


def schedules(steps: int) -> dict[str, Callable[[int], float]]:
    """The three schedules of Bengio et al. 2015, fitted to a training of ``steps`` steps: all end at ``LEAST``."""
    return {
        "linear": partial(linear_decay, slope=(1 - LEAST) / steps, least=LEAST),
        "exponential": partial(exponential_decay, k=LEAST ** (1 / steps)),
        "inverse_sigmoid": partial(inverse_sigmoid_decay, k=inverse_sigmoid_width(steps)),
    }


def loss_of(name: str, steps: int, seed: int) -> Loss:
    """What a model of that name is trained with."""
    recipe = chosen(RECIPES, name)
    if recipe.schedule is None:
        return teacher_forcing_loss
    sampled = TwoPass if recipe.transformer else ScheduledSampling
    return sampled(schedules(steps)[recipe.schedule], seed)


@evaluating
def errors_after_first(model: DecoderModule, batch: Batch, reach: int = REACH) -> dict:
    """Part of the words that are wrong 1, 2, … positions after a sentence's first error, on two prefixes.

    own: the model reads what it wrote itself. forced: it reads the right words. Up to the first error the two are the
    same, so both have it at the same position; the sentences are the same too.

    Returns:
        errors, how many sentences have one; own and forced, ``reach`` shares each (``None`` where no sentence is as
        long).
    """
    batch = batch.to(device_of(model))
    target = batch.target
    real = target != PAD  # (B, T)
    free = greedy(model, batch.source, batch.lengths, max_length=target.shape[1]).tokens  # (B, L), L <= T
    free = torch.nn.functional.pad(free, (0, target.shape[1] - free.shape[1]), value=EOS)  # (B, T)
    forced = model(batch.source, batch.lengths, shift_right(target))[0].argmax(dim=-1)  # (B, T)
    wrong = {"own": (free != target) & real, "forced": (forced != target) & real}
    rows = wrong["own"].any(dim=1).nonzero()[:, 0]  # (N,)
    first = wrong["own"][rows].int().argmax(dim=1)  # (N,)
    shares: dict[str, list] = {"own": [], "forced": []}
    for away in range(1, reach + 1):
        there = first + away < real[rows].sum(dim=1)  # (N,): the target has a word there
        for kind, share in shares.items():
            errors = wrong[kind][rows[there], first[there] + away]
            share.append(rounded_mean(errors) if len(errors) else None)
    return {"errors": len(rows), **shares}


@evaluating
def write_on(model: DecoderModule, batch: Batch, prefix: Tensor, max_length: int) -> Tensor:
    """Read ``prefix (B, t)`` as if the model had written it, then write on greedily: ``(B, max_length)`` in all."""
    prompt = torch.nn.functional.pad(prefix, (1, 0), value=BOS)  # (B, 1 + t)
    never, room = -1, max_length - prefix.shape[1]  # no word ends a sentence
    written = greedy(model, batch.source, batch.lengths, max_length=room, prompt=prompt, eos=never).tokens
    return torch.cat([prefix, written], dim=1)


def plantable(examples: list[Example]) -> list[Example]:
    """Those whose target begins with a units word, of which another can be made, and that have a second number."""
    return [example for example in examples if example.target[0] in UNITS and COMMA in example.target]


def items(words: list[str]) -> list[str]:
    """The numbers of a list, each as one string."""
    return " ".join(words).split(f" {COMMA} ")


def later_right(model: nn.Module, task: Task, examples: list[Example]) -> dict[str, float]:
    """Part of the numbers after the first that are right: after a right first word, and after a planted wrong one.

    The first word of each target, a units word, is put in front of the model: as it is, or replaced by the next one
    (zwei becomes drei). From there the model writes alone. Numbers are compared at their positions in the list.
    """
    batch = task.collate(examples).to(next(model.parameters()).device)
    length = batch.target.shape[1] + 4
    found = {}
    for kind, shift in (("untouched", 0), ("planted", 1)):
        words = [[UNITS[(UNITS.index(example.target[0]) + shift) % len(UNITS)]] for example in examples]
        prefix = torch.tensor([task.target_vocabulary.encode(word) for word in words]).to(batch.target.device)  # (B, 1)
        right = []
        for row, example in zip(write_on(model, batch, prefix, length).tolist(), examples, strict=True):
            written, wanted = items(task.target_vocabulary.decode(row)), items(list(example.target))
            right += [number < len(written) and written[number] == wanted[number] for number in range(1, len(wanted))]
        found[kind] = round(sum(right) / len(right), 4)
    return found


def run(job: Job) -> Outcome:
    """Train one model; measure exact match, and what follows an error, its own and a planted one."""
    seed_everything(job.seed)
    model = build(job.model, task())
    how = {**TRAINING, "loss": loss_of(job.model, job.steps, job.seed)}
    figures = train_and_measure(model, task(), job, how)
    longest = [example for example in task().test if example.size == LONGEST]
    after = errors_after_first(model, task().collate(longest))
    return Outcome({**figures, "after_error": after, "later_right": later_right(model, task(), plantable(longest))})


EXPERIMENT = Experiment(
    "scheduled_sampling",
    STEPS,
    run,
    {"task": "number_lists(test_per_size=500, longest=3, …)", "least": LEAST, "hidden": 64, **TRAINING},
)
