"""Controls for what chapter 19 says of copying in SmolLM2: heads tested on new sequences, and float32 far away.

Nothing is trained. ``steps`` says how many sequences or lists are measured.
"""

from collections import Counter
from contextlib import AbstractContextManager
from itertools import chain, combinations, product
from typing import Any

import torch
from torch import Tensor

from attnbook.measure.circuits import contexts_of
from attnbook.measure.induction import prefix_matching_score
from attnbook.measure.inside import attentions_of, without_heads
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import (
    GAPS,
    PERIOD,
    SHARES,
    Head,
    copied,
    fused,
    numbered,
    ordered,
    other_heads,
    scores,
    segments,
    smollm2,
    states_along,
    text_tokens,
)
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

FOR_MEANS, FOR_TEST = 100, 200  # added to the seed: sequences over which means are taken, and those of the test
GROUP, FINDERS, CONTROLS = 8, 5, 10
DRAWS = 40  # sets of other heads of the finders' layers
NAMED: dict[str, Head] = {"19.7": (18, 6), "12.2": (11, 1), "17.1": (16, 0)}
WRITERS: dict[str, Head] = {"23.8": (22, 7), "24.1": (23, 0), "24.3": (23, 2)}
LISTS = 4  # lists that a seed draws, as in real_model; the first of them are measured


class HeldOut:
    """Heads are chosen on some sequences and ablated on others, by their means over a third set.

    Attributes:
        choose: the sequences for the choice. scores: of all heads, on them. words: the sequences of the test.
    """

    def __init__(self, model, choose: Tensor, means: Tensor, test: Tensor) -> None:
        self.model, self.choose, self.words, self.attentions = model, choose, test, attentions_of(model)
        self.scores = scores(model, choose)
        self.contexts = [context.mean(dim=(0, 1)) for context in contexts_of(model, means)]  # each (H, D/H)

    @classmethod
    def drawn(cls, pretrained: Pretrained, job: Job) -> "HeldOut":
        """Three sets of ``job.steps`` sequences each, which come twice: ``(steps, 2 · PERIOD)``."""
        seeds = (job.seed + more for more in (0, FOR_MEANS, FOR_TEST))
        return cls(pretrained.model, *(segments(pretrained, job.steps, seed).repeat(1, 2) for seed in seeds))

    def without(self, heads: list[Head], zeros: bool = False) -> AbstractContextManager[None]:
        """Inside this block, these heads are replaced by their means, or by zeros."""
        return without_heads(
            self.attentions, heads, [0.0 if zeros else self.contexts[layer][head] for layer, head in heads]
        )

    def copied(self, heads: list[Head], zeros: bool = False) -> float:
        """Share right of the second round of the test without some heads."""
        with fused(self.model), torch.no_grad(), self.without(heads, zeros):
            return round(copied(self.model, self.words)[1], 4)

    def writers(self, heads: list[Head]) -> dict[str, float]:
        """Prefix matching of the heads that write, on the test, without some other heads."""
        with torch.no_grad(), self.without(heads):
            maps = self.model.maps(self.words)
        matched = [prefix_matching_score(weights, self.words) for weights in maps]
        return {name: round(matched[layer][head].item(), 4) for name, (layer, head) in WRITERS.items()}


def held_out(job: Job) -> dict[str, Any]:
    """Heads chosen on some sequences, ablated on others; and what writing heads attend to without the finding ones."""
    split = HeldOut.drawn(smollm2(), job)
    best = ordered(split.scores["induction"])
    others = [other_heads(split.scores, GROUP, draw) for draw in range(CONTROLS)]
    return {
        "chosen": [list(at) for at in best[:GROUP]],
        "all": split.copied([]),
        "single": {name: split.copied([at]) for name, at in NAMED.items()},
        "group": {"mean": split.copied(best[:GROUP]), "zero": split.copied(best[:GROUP], zeros=True)},
        "controls": [split.copied(heads) for heads in others],
        "writers": {
            "all": split.writers([]),
            "without finders": split.writers(best[:FINDERS]),
            "controls": [split.writers(heads[:FINDERS]) for heads in others[: CONTROLS // 2]],
        },
    }


def others_of_their_layers(heads: list[Head], width: int) -> list[list[Head]]:
    """All sets of other heads that have as many heads of each layer as ``heads``; a layer has ``width`` heads.

    >>> others_of_their_layers([(4, 0), (5, 1)], width=3)
    [[(4, 1), (5, 0)], [(4, 1), (5, 2)], [(4, 2), (5, 0)], [(4, 2), (5, 2)]]
    """
    of_each = Counter(layer for layer, _ in sorted(heads))
    left = {layer: [(layer, head) for head in range(width) if (layer, head) not in heads] for layer in of_each}
    return [list(chain(*parts)) for parts in product(*(combinations(left[at], of_each[at]) for at in of_each))]


def same_layers(job: Job) -> dict[str, Any]:
    """What is copied without the finders, and without as many other heads of the same layers, in several draws."""
    split = HeldOut.drawn(smollm2(), job)
    finders = ordered(split.scores["induction"])[:FINDERS]
    sets = others_of_their_layers(finders, len(split.scores["induction"][0]))
    draws = [sets[i] for i in torch.randperm(len(sets), generator=generator(job.seed))[:DRAWS].tolist()]
    return {
        "finders": numbered(finders),
        "sets": len(sets),
        "all": split.copied([]),
        "without": split.copied(finders),
        "draws": [{"heads": numbered(heads), "copied": split.copied(heads)} for heads in draws],
    }


@evaluating
def copied_far_and_near(
    model, words: Tensor, new: Tensor, between: Tensor, gaps: tuple[int, ...]
) -> dict[str, dict[int, float]]:
    """By the length of the text that lies before: the share right of a list that stands before the text, and of a new
    list that is read twice after it. Lists ``words (B, PERIOD)`` and ``new (B, PERIOD)``; text ``between (G,)``.
    """
    right: dict[str, dict[int, float]] = {"far": {}, "near": {}}
    twice = new.repeat(1, 2)
    for gap, state in states_along(model, words, between, gaps):
        for name, read in (("far", words), ("near", twice)):
            logits, _, _ = model.read(read, state)
            of_second = logits[:, -PERIOD:-1].argmax(dim=-1) == read[:, 1 - PERIOD :]
            right[name][gap] = of_second.double().mean().item()
    return right


def late(job: Job) -> dict[str, Any]:
    """In float32, the lists and texts of real_model's ``copying``, and new lists that come twice behind the text."""
    pretrained = smollm2()
    tokens = text_tokens(pretrained)
    words, new = (segments(pretrained, LISTS, job.seed + more)[: job.steps] for more in (0, FOR_TEST))
    begin = job.seed % SHARES * (len(tokens) - GAPS[-1]) // SHARES
    with fused(pretrained.model):
        right = copied_far_and_near(pretrained.model, words, new, tokens[begin : begin + GAPS[-1]], GAPS)
    return {name: {str(gap): round(share, 4) for gap, share in of.items()} for name, of in right.items()}


PARTS: Parts = {"held_out": (held_out, 4), "same_layers": (same_layers, 4), "late": (late, 1)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_controls",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "period": PERIOD, "gaps": GAPS, "group": GROUP,
        "finders": FINDERS, "controls": CONTROLS, "draws": DRAWS, "for_means": FOR_MEANS, "for_test": FOR_TEST,
    },
    on_cpu=True,
)  # fmt: skip
