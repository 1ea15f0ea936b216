"""What chapter 1's vector still stores of six numbers: a probe names them from c alone, without the decoder.

Run 1 of the chapter (``plain`` in the experiment ``numbers``, seed 0) writes about half of the numbers of a list of six
correctly. Its encoder is frozen here. A small network receives c, the encoder's last state, and names the three digits
of each of the six numbers; it learns this from new lists, and is tested on the chapter's 300. What it names correctly
is stored in c. What it does not name may be lost, or stored in a form that this probe has not learned to read.

The control, ``untrained``, is the same probe on the encoder before its training. If it named as much, the probe would
say nothing about what the training stored.
"""

import time
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from attnbook.data.symbols.numbers import number_list
from attnbook.decoding import translate
from attnbook.device import best_device
from attnbook.models import PlainSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.experiments import numbers
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

ENCODER = "plain"  # of the experiment numbers: run 1
SIZE, DIGITS = 6, 3  # numbers in a list, and digits of a number below 1,000
LISTS, AT_ONCE, WIDTH = 120_000, 500, 512  # new lists; how many are encoded at once; features of the probe's two layers
# Of each model, whether its encoder is trained.
RECIPES = {"trained": True, "untrained": False}
STEPS = dict.fromkeys(RECIPES, 6000)
TRAINING = {"batch": 128, "learning_rate": 2e-3, "warmup": 300, "max_grad_norm": 1.0}


class Vectors(NamedTuple):
    """The lessons: vectors ``c (N, D)`` of lists of six, and their numbers' ``digits (N, 6, 3)``."""

    c: Tensor
    digits: Tensor

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> tuple[Tensor, Tensor]:
        """The batch of a training step, always the same for the same step and seed."""
        drawn = torch.Generator().manual_seed(1_000_000 * seed + step)
        rows = torch.randint(len(self.c), (batch_size,), generator=drawn)
        return self.c[rows], self.digits[rows]


class Probe(nn.Sequential):
    """c ``(B, D)`` -> logits ``(B, 6, 3, 10)``: of each number, each digit."""

    def __init__(self, size: int) -> None:
        hidden = nn.Linear(size, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU()
        super().__init__(*hidden, nn.Linear(WIDTH, SIZE * DIGITS * 10), nn.Unflatten(1, (SIZE, DIGITS, 10)))


def digits_of(lists: Tensor) -> Tensor:
    """Numbers below 1,000 -> their hundreds, tens and units: ``(N, 6)`` -> ``(N, 6, 3)``."""
    return torch.stack([lists // 100, lists // 10 % 10, lists % 10], dim=-1)


def digit_loss(probe: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Cross-entropy per digit, in nats."""
    c, digits = batch
    return nn.functional.cross_entropy(probe(c).flatten(0, 2), digits.flatten())


def values_of(words: Iterable[str]) -> list[int]:
    """German words of a list -> its first six numbers; -1 for words that are no number, or for none."""
    value = {" ".join(number_list([n]).target): n for n in range(1000)}
    found = [value.get(number, -1) for number in " ".join(words).split(" , ")]
    return (found + [-1] * SIZE)[:SIZE]


@cache
def tested() -> tuple[Tensor, Tensor]:
    """The chapter's test lists of six, and what run 1 writes for them: each ``(300, 6)``."""
    task = numbers.task()
    examples = [example for example in task.test if example.size == SIZE]
    written, _ = translate(numbers.trained(ENCODER).to(best_device()), task, examples)
    return torch.tensor([values_of(one.target) for one in examples]), torch.tensor(list(map(values_of, written)))


@torch.no_grad()
def vectors(encoder: nn.Module, lists: Tensor) -> Tensor:
    """c of each list: ``(N, 6)`` -> ``(N, D)``, on the CPU."""
    rows = []
    for part in lists.split(AT_ONCE):
        batch = numbers.task().collate([number_list(row) for row in part.tolist()]).to(best_device())
        rows.append(encoder(batch.source, batch.lengths).last.cpu())
    return torch.cat(rows)


def encoder_of(name: str) -> nn.Module:
    """The frozen encoder that this probe reads, in evaluation mode."""
    model = numbers.trained(ENCODER) if chosen(RECIPES, name) else numbers.build(ENCODER)
    return cast(PlainSeq2Seq, model).eval().encoder.to(best_device())


@torch.no_grad()
def shares(probe: nn.Module, c: Tensor, lists: Tensor, written: Tensor) -> dict[str, Any]:
    """How much of ``lists (N, 6)`` the probe names correctly, beside what run 1 has ``written (N, 6)``.

    Returns:
        ``positions``, ``numbers`` and ``exact_match``: shares of the numbers at each position, of all, of whole lists.
        ``of_missed`` and ``of_written``: of the numbers that run 1 writes wrongly, and correctly, the share named.
    """
    named = probe(c.to(best_device())).argmax(dim=-1).cpu()  # (N, 6, 3)
    right = (named == digits_of(lists)).all(dim=-1).double()  # (N, 6)
    wrote = written == lists
    of = {"numbers": right, "exact_match": right.prod(dim=1), "of_missed": right[~wrote], "of_written": right[wrote]}
    positions = {str(k): round(share, 4) for k, share in enumerate(right.mean(dim=0).tolist(), start=1)}
    return {"positions": positions} | {name: round(values.mean().item(), 4) for name, values in of.items()}


def run(job: Job) -> Outcome:
    """Train one probe on new lists, and let it name the numbers of the test lists."""
    start = time.process_time()
    seed_everything(job.seed)
    encoder = encoder_of(job.model)
    lists = torch.randint(1000, (LISTS, SIZE), generator=torch.Generator().manual_seed(1 + job.seed))
    target, written = tested()
    c, c_tested = vectors(encoder, lists), vectors(encoder, target)
    mean, spread = c.mean(dim=0), c.std(dim=0) + 1e-6  # (D,): entries of one scale are easier to learn from
    lessons, probe = Vectors((c - mean) / spread, digits_of(lists)), Probe(c.shape[1])
    _, figures = train(probe, lessons, job, TRAINING, loss=digit_loss)  # type: ignore[arg-type]
    figures["seconds"] = round(time.process_time() - start, 1)
    return Outcome({**figures, **shares(probe, (c_tested - mean) / spread, target, written)})


SETTINGS = {"task": f"c of lists of {SIZE} numbers of number_lists(), to their digits", "lists": LISTS, "width": WIDTH}
EXPERIMENT = Experiment("vector_probe", STEPS, run, SETTINGS | TRAINING)
