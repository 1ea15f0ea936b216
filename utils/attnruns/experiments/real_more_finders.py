"""How much of a copied token's logit goes when more and more heads of SmolLM2 that find are replaced (chapter 19).

Nothing is trained. ``steps`` says how many invented names are measured. Random words, written twice, put all heads in
the order of their prefix-matching scores. Then, in the texts of :mod:`attnruns.experiments.real_names`, the outputs of
the first heads of this order are replaced at the last position by their means over texts with other names. A control
replaces as many other heads of the same layers, and stretches its change to the same length.
"""

from collections import Counter
from typing import Any

import torch

from attnbook.seeding import generator
from attnruns.experiments.real_model import Head, numbered, ordered, scores, segments, smollm2
from attnruns.experiments.real_names import Case, Replaced, above_mean, cases, usual_means
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

COUNTS = (1, 2, 3, 5, 6, 8, 12)  # so many of the first heads are replaced; with more, a layer has too few others
LISTS = 4  # sequences of random words, each of which comes twice
DRAWS = 2  # sets of other heads, per name and count


def others_drawn(heads: list[Head], kept: set[Head], width: int, draw: torch.Generator) -> list[Head]:
    """As many other heads of each layer, of ``width`` a layer: none of ``kept``.

    Raises ValueError where a layer has too few of them.
    """
    found: list[Head] = []
    for layer, count in sorted(Counter(layer for layer, _ in heads).items()):
        left = [head for head in range(width) if (layer, head) not in kept]
        if len(left) < count:
            raise ValueError(f"layer {layer} has {len(left)} other heads; the control needs {count}")
        found += [(layer, left[i]) for i in torch.randperm(len(left), generator=draw)[:count].tolist()]
    return found


def count_figures(text: Replaced, case: Case, heads: list[Head], others: list[list[Head]]) -> dict[str, Any]:
    """The logit of the copied token without some heads and without others, and whether it is the likeliest."""
    at = case.ids.shape[1] - 1
    logits, controls = text.without(heads, at), [text.stretched(of, at, heads) for of in others]
    return {
        "without": above_mean(logits, case.token),
        "copied": int(logits.argmax() == case.token),
        "stretched": [above_mean(of, case.token) for of in controls],
        "copied others": [int(of.argmax() == case.token) for of in controls],
    }


@torch.no_grad()
def counts(job: Job) -> dict[str, Any]:
    """The heads in the order of their scores, and the logits of one draw of names."""
    pretrained, draw = smollm2(), generator(job.seed)
    model = pretrained.model
    order = ordered(scores(model, segments(pretrained, LISTS, job.seed).repeat(1, 2))["induction"])[: max(COUNTS)]
    means = usual_means(pretrained, job.seed)
    found: dict[str, dict[str, Any]] = {}
    for name, case in cases(pretrained, job.steps, job.seed):
        text = Replaced(model, means, case.ids)
        width = text.attentions[0].heads
        found[name] = {"all": above_mean(text.logits[-1], case.token)}
        for count in COUNTS:
            others = [others_drawn(order[:count], set(order), width, draw) for _ in range(DRAWS)]
            found[name][str(count)] = count_figures(text, case, order[:count], others)
    return {"order": numbered(order), "names": found}


PARTS: Parts = {"counts": (counts, 17)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_more_finders",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "counts": COUNTS, "lists": LISTS, "draws": DRAWS},
    on_cpu=True,
)
