"""Lists of numbers with attention: which part of what the decoder reads says that *hundert* must be written?"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data import Batch, number_list, shift_right
from attnbook.data.batching import Task
from attnbook.models import AttentionSeq2Seq
from attnruns.experiments import numbers
from attnruns.experiments.numbers import task, trained_with_attention
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING

STEPS = {"attention": numbers.STEPS["attention"]}  # the same training as that of the experiment "numbers"
CONTEXT, DIGIT, STATE = "context at hundert", "three at drei", "first state"
EXCHANGES = {"nothing": (), CONTEXT: (CONTEXT,), DIGIT: (DIGIT,), STATE: (STATE,), "both": (DIGIT, STATE)}
DIGITS = range(2, 10)


class Lists(NamedTuple):
    """64 lists such as "three hundred and forty two , seven , eighty five", and what parts of them are taken from.

    Fields:
        own: the lists. without: those with a comma in place of *hundred and*. control: those with another hundred,
            "four hundred , seven , eighty five". place: of *three* in the source and of *drei* in the target.
    """

    own: Batch
    without: Batch
    control: Batch
    place: int


def lists(task: Task, first: bool, device: torch.device | None = None) -> Lists:
    """The lists for all digits from 2 to 9; the number with *hundred* stands first or in the middle."""

    def batch(number: Callable[[int], list[int]]) -> Batch:
        pairs = [(a, b) for a in DIGITS for b in DIGITS]
        examples = [number_list([*number(b), a, 85] if first else [a, *number(b), 85]) for a, b in pairs]
        return task.collate(examples).to(device or torch.device("cpu"))

    return Lists(
        own=batch(lambda b: [100 * b + 42]),
        without=batch(lambda b: [b, 42]),
        control=batch(lambda b: [100 * (2 + (b - 1) % 8)]),
        place=0 if first else 2,
    )


@torch.no_grad()
def after_drei(model: AttentionSeq2Seq, own: Batch, other: Batch, place: int, parts: Collection[str]) -> Tensor:
    """``(B,)``: the number of the word written after *drei*, if ``parts`` of what is read come from the other lists."""
    state, donor = (model.start(batch.source, batch.lengths) for batch in (own, other))
    if STATE in parts:
        state = state._replace(recurrent=donor.recurrent)
    kept, logits = state.annotations, torch.empty(0)
    for step, word in enumerate(shift_right(own.target)[:, : place + 2].unbind(dim=1)):
        _, donor, weights = model.step(word, donor)  # the other lists, with the same German words
        values = kept.clone()  # (B, Tk, D)
        if DIGIT in parts and step == place:
            values[:, place] = donor.annotations[:, place]
        if CONTEXT in parts and step == place + 1:
            values[:] = weights[:, None] @ donor.annotations  # at all positions, so any weights give it
        logits, state, _ = model.step(word, state._replace(annotations=values))
    return logits.argmax(dim=-1)


@torch.no_grad()
def sizes(model: AttentionSeq2Seq, own: Batch, other: Batch, place: int) -> dict[str, float]:
    """How far each part moves when it is exchanged, as a share of its own length: means over the lists."""
    ours, theirs = (_parts(model, own, batch, place) for batch in (own, other))
    moved = {name: (theirs[name] - part).norm(dim=-1) / part.norm(dim=-1) for name, part in ours.items()}
    return {name: round(share.mean().item(), 4) for name, share in moved.items()}


def _parts(model: AttentionSeq2Seq, own: Batch, batch: Batch, place: int) -> dict[str, Tensor]:
    """The three parts of ``batch``, ``(B, D)`` each, given the German words of ``own``."""
    state = model.start(batch.source, batch.lengths)
    digit, first = state.annotations[:, place], state.recurrent
    weights = torch.empty(0)
    for word in shift_right(own.target)[:, : place + 2].unbind(dim=1):
        _, state, weights = model.step(word, state)
    context = (weights[:, None] @ state.annotations)[:, 0]
    return {CONTEXT: context, DIGIT: digit, STATE: first}


def swaps(model: AttentionSeq2Seq, task: Task) -> dict[str, dict]:
    """For each position of the number and each exchange: how many of 64 lists keep *hundert*, and the parts' sizes."""
    (hundert,) = task.target_vocabulary.encode(["hundert"])
    device, found = next(model.parameters()).device, {}
    for name in ("first", "middle"):
        own, without, control, place = lists(task, name == "first", device)
        counts = {
            exchange: [
                int((after_drei(model, own, other, place, parts) == hundert).sum()) for other in (without, control)
            ]
            for exchange, parts in EXCHANGES.items()
        }
        sizes_of = [sizes(model, own, other, place) for other in (without, control)]
        moved = {part: [one[part] for one in sizes_of] for part in sizes_of[0]}
        found[name] = {"kept": counts, "moved": moved}
    return found


def run(job: Job) -> Outcome:
    """Train one model as in "numbers"; measure exact match and the exchanges."""
    model, figures = trained_with_attention(job, task())
    return Outcome(figures | swaps(model, task()))


EXPERIMENT = Experiment("hundred_swaps", STEPS, run, {"task": "number_lists()", **TRAINING})
