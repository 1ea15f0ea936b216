"""What wrong examples in a prompt still tell SmolLM2 (chapter 11).

Nothing is trained. Every pair of a task is asked once behind AFTER other pairs of it, which are drawn anew for each
question. They are shown in three ways: with their right answers; "shuffled", each with the answer of another one of
them, in no regular order; and "elsewhere", with answers of another task. The right answer to the question is never
shown. ``steps`` says how many draws of the examples are measured per question.

After Min et al. 2022, who give examples of classification random labels.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.models import LanguageModel
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.real_prompts import TASKS, Pair, pairs_of
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

AFTER = (1, 2, 3, 5, 10)  # numbers of examples
KINDS = ("right", "shuffled", "elsewhere")
ROWS = 8  # prompts that are read at once


def deranged(count: int, draw: torch.Generator) -> list[int]:
    """A random order of ``count`` numbers that leaves none where it was.

    Raises:
        ValueError: for one number, which has no other place.
    """
    if count < 2:
        raise ValueError(f"count must be 2 or more, got {count}")
    while True:
        order = torch.randperm(count, generator=draw)
        if bool((order != torch.arange(count)).all()):
            return order.tolist()


def examples(pairs: list[Pair], others: list[Pair], asked: int, count: int, draw: torch.Generator) -> dict[str, Any]:
    """``count`` pairs without the one that is asked, in each of the KINDS; ``others`` are the pairs of another task."""
    order = [i for i in torch.randperm(len(pairs), generator=draw).tolist() if i != asked]
    shown = [pairs[i] for i in order[:count]]
    answers = [answer for _, answer in shown]
    mixed = [answers[i] for i in deranged(count, draw)] if count > 1 else [pairs[order[1]][1]]  # of a pair not shown
    elsewhere = [others[i][1] for i in torch.randperm(len(others), generator=draw)[:count].tolist()]
    return {
        kind: [(word, answer) for (word, _), answer in zip(shown, of, strict=True)]
        for kind, of in zip(KINDS, (answers, mixed, elsewhere), strict=True)
    }


@evaluating
def best_tokens(model: LanguageModel, prompts: list[list[int]]) -> Tensor:
    """The most probable token after each of the prompts, which may have different lengths: ``(N,)``."""
    found = []
    for begin in range(0, len(prompts), ROWS):
        few = prompts[begin : begin + ROWS]
        longest = max(map(len, few))
        rows = torch.tensor([of + [0] * (longest - len(of)) for of in few])  # no token attends to those behind it
        last = torch.tensor([len(of) - 1 for of in few])
        found.append(model(rows)[0][torch.arange(len(few)), last].argmax(dim=-1))
    return torch.cat(found)


def asked(pretrained: Pretrained, shown: list[Pair], word: str) -> list[int]:
    """The tokens of the examples, one per line, and of the question."""
    lines = "".join(f"{a} -> {b}\n" for a, b in shown)
    return pretrained.tokenizer.encode(f"{lines}{word} ->").ids


def by_kind(job: Job) -> dict[str, Any]:
    """Of each task, kind and number of examples: the share of right answers, and of answers that repeat a shown one."""
    pretrained, draw = smollm2(), generator(job.seed)
    first = {
        answer: pretrained.tokenizer.encode(f" {answer}").ids[0]
        for text in TASKS.values()
        for _, answer in pairs_of(text)
    }
    names, found = list(TASKS), {}
    with fused(pretrained.model):
        for name, other in zip(names, names[1:] + names[:1], strict=True):
            pairs, others = pairs_of(TASKS[name]), pairs_of(TASKS[other])
            shares: dict[str, dict[str, list[float]]] = {kind: {"right": [], "repeated": []} for kind in KINDS}
            for count in AFTER:
                drawn = [
                    (i, examples(pairs, others, i, count, draw)) for i in range(len(pairs)) for _ in range(job.steps)
                ]
                for kind in KINDS:
                    best = best_tokens(pretrained.model, [asked(pretrained, of[kind], pairs[i][0]) for i, of in drawn])
                    right = [token == first[pairs[i][1]] for (i, _), token in zip(drawn, best.tolist(), strict=True)]
                    again = [
                        token in {first[answer] for _, answer in of[kind]}
                        for (_, of), token in zip(drawn, best.tolist(), strict=True)
                    ]
                    shares[kind]["right"].append(round(sum(right) / len(right), 4))
                    shares[kind]["repeated"].append(round(sum(again) / len(again), 4))
            found[name] = shares
    return {"by_task": found}


PARTS: Parts = {"examples": (by_kind, 1)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_examples",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "tasks": TASKS, "after": AFTER, "kinds": KINDS},
    on_cpu=True,
)
