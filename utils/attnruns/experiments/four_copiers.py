"""The four copiers of chapter 17's file, with other seeds: what they copy, and where their first layers look.

Each of the two layers has rotary positions over the whole string or its remedy: a window in the first, no positions in
the second. Of the copier with rotary positions in both, the weights of the first layer are kept by head, as trained
and with all positions halved.
"""

from typing import Any

import torch
from torch import Tensor

from attnruns.experiments import slower_rotation
from attnruns.experiments.slowed_weights import read_in
from attnruns.experiments.slower_rotation import CHAPTER, REPLACED, TESTS, TRAINED, file_shares, scales_of
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

SIZES = (6, 12, 15, 24, 48)  # letters
KINDS = ("rotary, rotary", "window, none", "window, rotary", "rotary, none")  # first layer, second layer
SIZE, TEST_SEED = slower_rotation.SIZES[-1], 171  # letters of the strings whose weights are kept
NEAR = 8  # distances that are kept: 0 to 7
STEPS = {"file": slower_rotation.STEPS["file"]}
UNCHANGED = scales_of("trained", TRAINED)


def near(weights: Tensor, size: int) -> list[list[float]]:
    """Mean weight of each head at the distances 0 to 7, from ``(B, H, T, T)``.

    Only the queries of the string count that have seven letters before them: what they read goes into the keys of the
    next layer.
    """
    mean = weights.double().mean(dim=0)[:, :size]  # (H, size, T)
    every = [[head.diagonal(-back)[NEAR - 1 - back : size - back].mean() for back in range(NEAR)] for head in mean]
    return [rounded(torch.stack(head)) for head in every]


def first_layer(names: dict[str, Any], way: str) -> list[list[float]]:
    """:func:`near` of the first layer of the copier with rotary positions in both, read in one way."""
    return near(read_in(names, names["models"]["rotary, rotary"], scales_of(way, SIZE), SIZE, 0, TEST_SEED), SIZE)


def run(job: Job) -> Outcome:
    """Train the four copiers of the file; let each copy strings of every size, and read the first layer of one."""
    names, spent = run_file(file_of(CHAPTER, REPLACED, job.seed, job.steps))
    copied = {
        kind: {str(size): file_shares(names, names["models"][kind], size, UNCHANGED) for size in SIZES}
        for kind in KINDS
    }
    near_by = {way: first_layer(names, way) for way in ("trained", "both")}
    return Outcome({"seconds": spent, "copied": copied, "first_layer": near_by})  # of the processor, for all four


KEPT = ("task", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("file", KEPT) | {
    "sizes": SIZES, "tests": TESTS, "near": NEAR,
}  # fmt: skip
EXPERIMENT = Experiment("four_copiers", STEPS, run, SETTINGS, on_cpu=True)
