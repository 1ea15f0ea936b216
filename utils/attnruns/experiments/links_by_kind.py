"""Lists of numbers with attention: of which kinds of word is the largest weight right, and which need their context?"""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnbook.data import Batch, shift_right
from attnbook.data.batching import Example, Task
from attnbook.measure.evaluation import task_alignment_error
from attnbook.measure.metrics import alignment_error_rate, alignment_from_weights
from attnbook.models import AttentionSeq2Seq
from attnbook.models.seq2seq import AttentionState
from attnruns.experiments import numbers
from attnruns.experiments.numbers import task, trained_with_attention
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING

STEPS = {"attention": numbers.STEPS["attention"]}  # the same training as that of the experiment "numbers"
KINDS = ("number words", "comma", "und", "hundert")


def kind(word: str) -> str:
    """Which of the four kinds a German word is."""
    return {"hundert": "hundert", "und": "und", ",": "comma"}.get(word, "number words")


@torch.no_grad()
def forced_weights(model: AttentionSeq2Seq, task: Task, examples: Sequence[Example]) -> list[Tensor]:
    """For each example its weights ``(T, Tk)`` when the model reads the correct words."""
    batch = task.collate(examples).to(next(model.parameters()).device)
    weights = model(batch.source, batch.lengths, shift_right(batch.target))[1].cpu()  # (B, T, Tk)
    return [w[: len(e.target), : len(e.source)] for e, w in zip(examples, weights, strict=True)]


def pooled_error(examples: Sequence[Example], matrices: Sequence[Tensor], only: str | None = None) -> float:
    """Alignment error rate of the links from each target word (of one kind) to the position with its largest weight."""
    pools: tuple[set, set, set] = (set(), set(), set())  # sure, possible, found
    for n, (e, matrix) in enumerate(zip(examples, matrices, strict=True)):
        for pool, links in zip(pools, (e.sure, e.possible, alignment_from_weights(matrix)), strict=True):
            pool.update((n, s, t) for s, t in links if only in (None, kind(e.target[t])))
    return alignment_error_rate(*pools)


def blurred(state: AttentionState) -> AttentionState:
    """The same state, but each annotation, as a value, is the mean of all annotations of its source."""
    total = state.annotations.sum(1, keepdim=True)  # (B, 1, D); padding is zero
    mean = total / state.mask.sum(1)[:, None, None]  # (B, 1, D) / (B, 1, 1)
    return state._replace(annotations=mean.expand_as(state.annotations))


@torch.no_grad()
def changed(model: AttentionSeq2Seq, batch: Batch) -> Tensor:
    """``(B, T)``: does the word change when the context of its step alone becomes the mean annotation?"""
    state, different = model.start(batch.source, batch.lengths), []
    for token in shift_right(batch.target).unbind(1):  # (B,)
        blurred_logits, _, _ = model.step(token, blurred(state))  # (B, V)
        logits, state, _ = model.step(token, state)
        different.append(blurred_logits.argmax(-1) != logits.argmax(-1))  # (B,)
    return torch.stack(different, 1).cpu()


def shares_by_kind(model: AttentionSeq2Seq, task: Task, examples: Sequence[Example]) -> dict[str, dict[str, float]]:
    """For each kind that occurs: the share of correct links, and that of words which the mean annotation changes."""
    matrices = forced_weights(model, task, examples)
    batch = task.collate(examples).to(next(model.parameters()).device)
    by_kind: dict[str, list[bool]] = {name: [] for name in KINDS}
    for example, row in zip(examples, changed(model, batch).tolist(), strict=True):
        for word, value in zip(example.target, row, strict=False):
            by_kind[kind(word)].append(value)
    there = [name for name in KINDS if by_kind[name]]
    return {
        "links": {name: round(1 - pooled_error(examples, matrices, name), 4) for name in there},
        "changed": {name: round(sum(by_kind[name]) / len(by_kind[name]), 4) for name in there},
    }


def run(job: Job) -> Outcome:
    """Train one model; measure exact match, the alignment error as in "numbers", and both shares on every 8th list."""
    model, figures = trained_with_attention(job, task())
    figures["alignment_error_rate"] = round(task_alignment_error(model, task(), task().test[::4]), 4)
    return Outcome(figures | shares_by_kind(model, task(), task().test[::8]))


EXPERIMENT = Experiment("links_by_kind", STEPS, run, {"task": "number_lists()", **TRAINING})
