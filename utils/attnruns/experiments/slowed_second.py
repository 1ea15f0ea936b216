"""Chapter 17's copiers with rotary positions in the second layer, which alone is slowed: does a window help?

The copiers are those of :mod:`attnruns.experiments.four_copiers`. In one the first layer sees all letters, in the other
four. Strings of 24 letters are read with the second layer's positions as trained, and multiplied by two scales. The
copier with a window and no positions in the second layer tells which strings it copies: those in which the last two
letters find the next one, or the others.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnruns.experiments import slower_rotation
from attnruns.experiments.four_copiers import stand_twice
from attnruns.experiments.slower_rotation import CHAPTER, FOUR, TESTS, file_shares, scales_of, tested_strings
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.runner import Experiment, Job, Outcome

SIZE = 2 * slower_rotation.TRAINED  # letters
KINDS, SCALES = ("rotary, rotary", "window, rotary"), (1.0, 0.5, 0.4)
STEPS = {"file": slower_rotation.STEPS["file"]}


def slowed(names: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """``{kind: {scale: shares}}`` at 24 letters; only the second layer's positions are multiplied by the scale."""
    ones = scales_of("trained", SIZE)[0]
    return {
        kind: {str(scale): file_shares(names, names["models"][kind], SIZE, [ones, scale * ones]) for scale in SCALES}
        for kind in KINDS
    }


def by_pairs(right: Tensor, twice: Tensor) -> dict[str, float]:
    """Share of strings copied, from which letters are right and of which the last two stand twice: bool ``(B, size)``.

    ``twice`` is the share of strings with such a letter that are copied, ``once`` that of the others, and ``strings``
    says how many have such a letter.
    """
    repeats, exact = twice.any(dim=1), right.all(dim=1)
    found = {"strings": repeats, "twice": exact[repeats], "once": exact[~repeats]}
    return {name: round(of.double().mean().item(), 4) for name, of in found.items()}


@torch.no_grad()
def window_by_pairs(names: Mapping[str, Any]) -> dict[str, float]:
    """:func:`by_pairs` of the copier with a window and no positions in the second layer, at 24 letters."""
    words = tested_strings(names, SIZE, slower_rotation.TEST_SEED + SIZE)
    logits = names["models"]["window, none"](words[:, :-1])[0][:, SIZE:]  # (B, size, 26)
    return by_pairs(logits.argmax(dim=-1) == words[:, SIZE + 1 :], stand_twice(words[:, :SIZE]))


def run(job: Job) -> Outcome:
    """Train the four copiers of the file, and let three of them copy."""
    names, spent = run_file(file_of(CHAPTER, FOUR, job.seed, job.steps))
    return Outcome({"seconds": spent, "slowed": slowed(names), "by_pairs": window_by_pairs(names)})


KEPT = ("task", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("file", KEPT) | {"size": SIZE, "tests": TESTS, "scales": SCALES}
EXPERIMENT = Experiment("slowed_second", STEPS, run, SETTINGS, on_cpu=True)
