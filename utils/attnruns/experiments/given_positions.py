"""Strings to be written backwards, longer than in training: are the annotations at fault, or the search among them?

The trainings are those of :mod:`attnruns.experiments.reversal` with attention. Each model writes strings of one length
twice: with its own weights, and with all the weight given to the position whose letter is due.
"""

from typing import cast

import torch
from torch import Tensor

from attnbook.data.batching import Batch, Task
from attnbook.data.texts.vocabulary import BOS
from attnbook.measure.evaluation import groups_by_size
from attnbook.models import AttentionSeq2Seq
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnruns.experiments import reversal
from attnruns.experiments.reversal import task
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train

STEPS = {"attention": reversal.STEPS["attention"]}
SIZES = (8, 16, 24, 30, 36, 48)  # letters in a string; 24 is the longest in training


@evaluating
def written(model: AttentionSeq2Seq, batch: Batch, given: bool) -> tuple[Tensor, Tensor]:
    """What the model writes, reading its own letters, and its weights: ``(B, T)`` and ``(B, T, Tk)``, T = Tk + 1.

    Args:
        batch: strings of one length. given: whether step t may attend to position Tk - 1 - t alone, whose letter is
            due; the last step, in which the end is due, attends as it likes.
    """
    state = model.start(batch.source, batch.lengths)
    everywhere, size = state.mask, batch.source.shape[1]
    letter, letters, rows = torch.full_like(batch.lengths, BOS), [], []
    for step in range(size + 1):
        mask = everywhere
        if given and step < size:
            mask = torch.zeros_like(everywhere)
            mask[:, size - 1 - step] = True
        logits, state, weights = model.step(letter, state._replace(mask=mask))
        letter = logits.argmax(dim=-1)  # (B,)
        letters.append(letter)
        rows.append(weights)
    return torch.stack(letters, dim=1), torch.stack(rows, dim=1)


def measured(model: AttentionSeq2Seq, batch: Batch) -> dict[str, float]:
    """Shares of correct strings and letters, with the model's own weights and with those that are given.

    A string is correct if all its letters are; whether the model then ends is not asked.

    Returns:
        also, where a string is wrong with the model's own weights, of its first wrong letter: how many letters were
        right before it in the mean; how often the largest weight is more than one letter from the position that is
        due; and how often the letter written is the one at the largest weight. -1 where no string is wrong.
    """
    (own, weights), (given, _) = (written(model, batch, which) for which in (False, True))
    size = batch.source.shape[1]
    found: dict[str, float] = {}
    for name, letters in (("own", own), ("given", given)):
        right = letters[:, :size] == batch.target[:, :size]  # (B, Tk)
        found |= {f"strings_{name}": rounded_mean(right.all(dim=1)), f"letters_{name}": rounded_mean(right)}
    wrong = own[:, :size] != batch.target[:, :size]
    rows = wrong.any(dim=1).nonzero()[:, 0]  # the strings with a wrong letter
    first = wrong.float().argmax(dim=1)[rows]
    largest = weights[rows, first].argmax(dim=-1)
    away = (largest - (size - 1 - first)).abs() > 1
    as_read = batch.source[rows, largest] == own[rows, first]
    shares = {"right_before": first, "first_elsewhere": away, "first_as_read": as_read}
    return found | {name: rounded_mean(share) if len(rows) else -1.0 for name, share in shares.items()}


def by_size(model: AttentionSeq2Seq, task: Task) -> dict[str, dict[str, float]]:
    """The shares of :func:`measured` for the strings of each of ``SIZES`` that the task has."""
    device, groups = next(model.parameters()).device, groups_by_size(task)
    return {str(size): measured(model, task.collate(groups[size]).to(device)) for size in SIZES if size in groups}


def run(job: Job) -> Outcome:
    """Train one model as in "reversal", and let it write."""
    seed_everything(job.seed)
    recipe = chosen(reversal.RECIPES, job.model)
    strings = task(recipe.letters)
    model = cast(AttentionSeq2Seq, recipe.build(strings))
    _, figures = train(model, strings, job, TRAINING)
    return Outcome(figures | {"sizes": by_size(model, strings)})


EXPERIMENT = Experiment("given_positions", STEPS, run, {"task": "reversed_strings()", **TRAINING})
