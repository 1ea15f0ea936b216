"""Which heads SmolLM2 needs for copying: those that mark, those that find, those that write (chapter 19).

Nothing is trained. ``steps`` says how many sequences or texts are measured.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.measure.circuits import copying_scores
from attnbook.measure.inside import residuals
from attnruns.experiments.real_controls import FOR_MEANS, FOR_TEST, HeldOut
from attnruns.experiments.real_model import Head, common_words, drawn, ordered, smollm2, text_tokens
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

MARKERS: dict[str, Head] = {"17.1": (16, 0), "18.9": (17, 8)}
FINDERS = 5  # the best by prefix matching
WRITERS = (1, 3, 8, 16)  # so many of the best by copying score, in layers behind the finders
BEHIND = 19  # layers; those after it may write
SMALL = 0.1  # other heads have smaller scores of both kinds
DRAWS = 5
TEXT = 128


def late_heads(copies: Tensor, matched: Tensor) -> tuple[list[Head], list[Head]]:
    """Of the heads behind the finders: all, the largest copying score first, and those with small scores of both kinds.

    Args:
        copies, matched: copying and prefix-matching score of each head, ``(L, H)``.
    """
    late = [at for at in ordered(copies.tolist()) if at[0] >= BEHIND]
    return late, [at for at in late if max(copies[at], matched[at]) < SMALL]


def removed(job: Job) -> dict[str, Any]:
    """What is copied without heads of each kind: chosen on some sequences, replaced by means, tested on others."""
    pretrained = smollm2()
    split = HeldOut.drawn(pretrained, job)
    copies = copying_scores(pretrained.model, split.choose, common_words(pretrained))
    matched = torch.tensor(split.scores["induction"])
    finders = ordered(split.scores["induction"])[:FINDERS]
    writers, others = late_heads(copies, matched)
    return {
        "finders": [list(at) for at in finders],
        "writers": [list(at) for at in writers[: WRITERS[-1]]],
        "copying": rounded(torch.stack([copies[at] for at in writers[: WRITERS[-1]]])),
        "all": split.copied([]),
        "without": {
            **{name: split.copied([at]) for name, at in MARKERS.items()},
            "both": split.copied(list(MARKERS.values())),
            "finders": split.copied(finders),
            **{f"writers {count}": split.copied(writers[:count]) for count in WRITERS},
        },
        "others": len(others),
        "controls": [split.copied(drawn(others, WRITERS[-1], draw)) for draw in range(DRAWS)],
    }


def lengths(job: Job) -> dict[str, Any]:
    """Of texts, how many times longer the first vector is than those from position 16 on, by layers read."""
    pretrained = smollm2()
    tokens = text_tokens(pretrained)
    length = min(TEXT, len(tokens) // (3 * job.steps))
    texts = tokens[job.seed * length * job.steps :][: length * job.steps].view(job.steps, length)
    with torch.no_grad():
        sizes = [x.norm(dim=-1) for x in residuals(pretrained.model, texts)]  # each (steps, length)
    ratios = torch.stack([size[:, 0] / size[:, 16:].mean(dim=1) for size in sizes], dim=1)  # (steps, L + 1)
    return {"ratios": rounded(ratios)}


PARTS: Parts = {"removed": (removed, 4), "lengths": (lengths, 4)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_writers",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "markers": sorted(MARKERS), "finders": FINDERS,
        "writers": WRITERS, "behind": BEHIND, "small": SMALL, "draws": DRAWS,
        "for_means": FOR_MEANS, "for_test": FOR_TEST,
    },
    on_cpu=True,
)  # fmt: skip
