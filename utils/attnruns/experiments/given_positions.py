"""Strings to be written backwards, longer than in training: are the annotations at fault, or the search among them?

The trainings are those of :mod:`attnruns.experiments.reversal` with attention. Each model writes strings of one length
three times: with its own weights; with all the weight at the letter that is due; and with the weights that it usually
has around this letter, in the mean over strings of a trained length, put around it at each step.
"""

from typing import Any, cast

import torch
from torch import Tensor

from attnbook.data import shift_right
from attnbook.data.batching import Batch, Task
from attnbook.data.texts.vocabulary import BOS
from attnbook.measure.evaluation import groups_by_size
from attnbook.models import AttentionSeq2Seq
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnruns.experiments import reversal
from attnruns.experiments.reversal import task
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train

STEPS = {"attention": reversal.STEPS["attention"]}
SIZES = (8, 12, 16, 20, 24, 30, 36, 48)  # letters in a string; 24 is the longest in training
REACH = 4  # letters on each side of the one that is due


def due(size: int, step: int, around: Tensor) -> Tensor:
    """``(size,)`` weights: ``around`` (an odd number of them) put around the letter that step ``step`` has to write.

    What would lie outside of the string is left out, and the rest made to sum to one.
    """
    reach, at = len(around) // 2, size - 1 - step
    row = torch.zeros(size + 2 * reach)
    row[at : at + len(around)] = around.cpu()
    inside = row[reach : reach + size]
    return inside / inside.sum()


@evaluating
def written(model: AttentionSeq2Seq, batch: Batch, around: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What the model writes, reading its own letters, and its weights: ``(B, Tk)`` and ``(B, Tk, Tk)``.

    Args:
        batch: strings of one length. around: weights that replace the model's own, put around the letter that is due.
    """
    state, size = model.start(batch.source, batch.lengths), batch.source.shape[1]
    kept, letter, letters, rows = state.annotations, torch.full_like(batch.lengths, BOS), [], []
    for step in range(size):
        values = kept
        if around is not None:  # the context at all positions, so that any weights give it
            context = due(size, step, around).to(kept) @ kept  # (B, D)
            values = context[:, None].expand_as(kept)
        logits, state, weights = model.step(letter, state._replace(annotations=values))
        letter = logits.argmax(dim=-1)  # (B,)
        letters.append(letter)
        rows.append(weights)
    return torch.stack(letters, dim=1), torch.stack(rows, dim=1)


@evaluating
def usual(model: AttentionSeq2Seq, batch: Batch, reach: int = REACH) -> Tensor:
    """``(2 · reach + 1,)``: the mean weights from ``reach`` letters left of the one that is due to as many right of it.

    The model reads the correct letters; steps whose letter is too near to an end are left out.
    """
    size = batch.source.shape[1]
    _, weights = model(batch.source, batch.lengths, shift_right(batch.target))  # (B, T, Tk)
    rows = weights[:, :size].flip(1).mean(dim=0)  # (Tk, Tk): the letter that is due lies on the diagonal
    starts = {shift: reach + min(0, shift) for shift in range(-reach, reach + 1)}
    parts = [rows.diagonal(shift)[start : start + size - 2 * reach].mean() for shift, start in starts.items()]
    return torch.stack(parts)


def measured(model: AttentionSeq2Seq, batch: Batch, around: Tensor) -> dict[str, float]:
    """Shares of correct strings and letters, with the model's own weights, with one position, and with ``around``.

    A string is correct if all its letters are; whether the model then ends is not asked.

    Returns:
        also, where a string is wrong with the model's own weights, of its first wrong letter: how many letters were
        right before it in the mean; how often the largest weight is more than one letter from the position that is
        due; and how often the letter written is the one at the largest weight. -1 where no string is wrong.
    """
    own, weights = written(model, batch)
    answers = {"own": own, "one": written(model, batch, torch.ones(1))[0], "usual": written(model, batch, around)[0]}
    size, found = batch.source.shape[1], dict[str, float]()
    for name, letters in answers.items():
        right = letters == batch.target[:, :size]  # (B, Tk)
        found |= {f"strings_{name}": rounded_mean(right.all(dim=1)), f"letters_{name}": rounded_mean(right)}
    wrong = own != batch.target[:, :size]
    rows = wrong.any(dim=1).nonzero()[:, 0]  # the strings with a wrong letter
    first = wrong.float().argmax(dim=1)[rows]
    largest = weights[rows, first].argmax(dim=-1)
    away = (largest - (size - 1 - first)).abs() > 1
    as_read = batch.source[rows, largest] == own[rows, first]
    shares = {"right_before": first, "first_elsewhere": away, "first_as_read": as_read}
    return found | {name: rounded_mean(share) if len(rows) else -1.0 for name, share in shares.items()}


def by_size(model: AttentionSeq2Seq, task: Task) -> dict[str, Any]:
    """The shares of :func:`measured` for the strings of each of ``SIZES`` that the task has."""
    device, groups = next(model.parameters()).device, groups_by_size(task)
    batches = {size: task.collate(examples).to(device) for size, examples in groups.items()}
    longest = max(example.size for example in task.test)
    around = usual(model, batches[longest], min(REACH, (longest - 1) // 2))
    found = {str(size): measured(model, batches[size], around) for size in SIZES if size in groups}
    return found | {"around": rounded(around)}


def run(job: Job) -> Outcome:
    """Train one model as in "reversal", and let it write."""
    seed_everything(job.seed)
    recipe = chosen(reversal.RECIPES, job.model)
    strings = task(recipe.letters)
    model = cast(AttentionSeq2Seq, recipe.build(strings))
    _, figures = train(model, strings, job, TRAINING)
    return Outcome(figures | {"sizes": by_size(model, strings)})


EXPERIMENT = Experiment("given_positions", STEPS, run, {"task": "reversed_strings()", **TRAINING})
