"""How many tokens of chapter 10's continuations come from the tail, by the rule that chose them; and greedy decoding
that may not repeat a pair.

Nothing is trained. The paragraphs, seeds and draws are those of ``written_texts``, ``written_settings`` (the settings
near the author) and ``written_manual``, so that a run writes the same texts again; here they are counted by token. A
token comes from the tail if the more probable tokens have 0.95 of the probability or more together, by the model's
unchanged probabilities.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.decoding import beam, stream
from attnbook.measure.text import repetition
from attnruns.experiments import written_manual, written_settings, written_texts
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import BEGINNING, LENGTH, NEVER, WIDTH, Begun, Endless, beginnings, written
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

NUCLEUS = 0.95
AT_ONCE = 6  # texts whose logits are held at the same time


class NoPairTwice:
    """Greedy decoding that forbids each token which would repeat a pair of neighbours written before."""

    def __init__(self) -> None:
        self.tokens = list[Tensor]()

    def __call__(self, logits: Tensor) -> Tensor:
        logits = logits.clone()  # (N, V)
        for first, second in zip(self.tokens, self.tokens[1:], strict=False):
            again = first == self.tokens[-1]  # (N,): whose last token begins this pair
            logits[again, second[again]] = float("-inf")
        self.tokens.append(logits.argmax(dim=-1))
        return self.tokens[-1]


def greedy_without_pairs(model: Endless, prompts: Tensor, length: int) -> Tensor:
    """Continuations of ``prompts (N, t)`` in which no pair of neighbouring tokens stands twice: ``(N, length)``."""
    steps = stream(model, max_length=length, choose=NoPairTwice(), prompt=prompts, eos=NEVER)
    return torch.stack([token for token, _ in steps], dim=1)


def in_tail(logits: Tensor, tokens: Tensor) -> Tensor:
    """Which of the ``tokens (N, T)`` lie outside the nucleus of ``logits (N, T, V)``: ``(N, T)``."""
    p = logits.softmax(dim=-1)
    own = p.gather(-1, tokens[..., None])
    return (p * (p > own)).sum(dim=-1) >= NUCLEUS


def counted(model: Endless, prompts: Tensor, tokens: Tensor) -> dict[str, Any]:
    """Of continuations ``(N, LENGTH)``: the mean surprise, the repeated pairs, and each text's share from the tail."""
    nats, tail = list[Tensor](), list[Tensor]()
    for begun, rows in zip(prompts.split(AT_ONCE), tokens.split(AT_ONCE), strict=True):
        logits = model.logits(torch.cat([begun, rows], dim=1))[:, BEGINNING - 1 : -1]  # (n, LENGTH, V)
        nats.append(-logits.log_softmax(dim=-1).gather(-1, rows[..., None])[..., 0])
        tail.append(in_tail(logits, rows).float().mean(dim=1))
    repeated = [repetition([row]) for row in tokens.tolist()]
    return {"nats": rounded_mean(torch.cat(nats)), "repeated": rounded(repeated), "tail": rounded(torch.cat(tail))}


def by_way(model: Endless, prompts: Tensor, ways: dict[str, dict[str, Any]], seed: int, times: int) -> dict[str, Any]:
    """The counts of each way, with so many texts of each paragraph."""
    repeated = prompts.repeat(times, 1)
    tokens, _ = written(model, repeated, LENGTH, seed, ways)
    return {way: counted(model, repeated, rows) for way, rows in zip(ways, tokens.chunk(len(ways)), strict=True)}


def searched(model: Endless, begun: Begun) -> dict[str, Any]:
    """The counts of the searches, and of the author."""
    prompts = begun.prompts
    found = {f"beam of {WIDTH}": WIDTH, "greedy": 1}
    tokens = {
        way: beam(model, max_length=LENGTH, width=width, prompt=prompts, eos=NEVER).tokens[:, 0]
        for way, width in found.items()
    }
    tokens |= {"greedy, no pair twice": greedy_without_pairs(model, prompts, LENGTH), "the author": begun.real}
    return {way: counted(model, prompts, rows) for way, rows in tokens.items()}


def book(job: Job) -> dict[str, Any]:
    """Paragraphs of the book; the settings near the author three times, as in ``written_settings``."""
    pretrained = smollm2()
    model, begun = Endless(pretrained), beginnings(pretrained, job.steps, job.seed)
    with fused(pretrained.model):
        drawn = by_way(model, begun.prompts, written_texts.WAYS, job.seed, 1)
        drawn |= by_way(model, begun.prompts, written_settings.NEAR, job.seed, written_settings.DRAWS)
        return {"by_way": drawn | searched(model, begun)}


def manual(job: Job) -> dict[str, Any]:
    """Paragraphs of Python's manual."""
    pretrained = smollm2()
    model = Endless(pretrained)
    begun = beginnings(pretrained, job.steps, job.seed, written_manual.manual())
    with fused(pretrained.model):
        drawn = by_way(model, begun.prompts, written_manual.WAYS, job.seed, 1)
        return {"by_way": drawn | searched(model, begun)}


PARTS: Parts = {"book": (book, 6), "manual": (manual, 6)}


def run(job: Job) -> Outcome:
    """Count one kind of text with one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "written_tails",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "beginning": BEGINNING, "length": LENGTH, "nucleus": NUCLEUS},
    on_cpu=True,
)
