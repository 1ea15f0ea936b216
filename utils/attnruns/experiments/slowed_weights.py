"""Which positions the second layer of chapter 17's file attends to, if layers turn more slowly.

The models are those of :mod:`attnruns.experiments.slower_rotation` that are trained as the file stands, but for the
seed. Strings of 24 letters are read in several ways with the same weights; the mean weight at each distance between
query and key is kept for strings of the longest trained length, too.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import slower_rotation
from attnruns.experiments.slower_rotation import CHAPTER, REPLACED, TESTS, TRAINED, scaled, scales_of, tested_strings
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

SIZE, TEST_SEED = 2 * TRAINED, 170  # letters; the strings differ from those of slower_rotation
WAYS = ("trained", "first", "both", "second", "wavelengths")
READ = {"trained": (TRAINED, SIZE), "second": (SIZE,), "both": (SIZE,), "window": (TRAINED, SIZE)}  # by distance
STEPS = {"file": slower_rotation.STEPS["file"]}


@torch.no_grad()
def read_in(
    names: Mapping[str, Any],
    model: nn.Module,
    scales: list[Tensor],
    size: int = SIZE,
    layer: int = 1,
    seed: int = TEST_SEED,
) -> Tensor:
    """Weights of a layer ``(B, H, T, T)``, 0 or 1, if positions are multiplied by ``scales``; the model stays."""
    words = tested_strings(names, size, seed)
    with scaled(model, scales):
        weights: Tensor = model(words[:, :-1])[1][layer]
    return weights


def shares(weights: Tensor) -> dict[str, float]:
    """Mean weight in the rows of the copy, over all heads, from the weights ``(B, H, 2 · size, 2 · size)``.

    ``right``: of the position of the right letter. ``next``: of the one behind it; the last row is left out, where
    this is the separator. ``rewarded``: of all positions at the distances that were right in training, 2 to 12.
    """
    size = weights.shape[-1] // 2
    copy = weights[:, :, size:]  # (B, H, size, 2 · size)
    right, behind = (copy[:, :, : size - shift, shift:].diagonal(dim1=-2, dim2=-1) for shift in (0, 1))
    distance = torch.arange(size, 2 * size)[:, None] - torch.arange(2 * size)  # (size, 2 · size)
    rewarded = (copy * ((distance >= 2) & (distance <= TRAINED))).sum(dim=-1)
    found = {"right": right, "next": behind, "rewarded": rewarded}
    return {name: rounded_mean(part) for name, part in found.items()}


def by_distance(weights: Tensor) -> list[float]:
    """Mean weight at the distances 0 to ``2 · size - 1`` in the rows of the copy, over all heads; together they are 1.

    A distance that a row does not have counts as 0 there. The weights are ``(B, H, 2 · size, 2 · size)``.
    """
    size = weights.shape[-1] // 2
    mean = weights.double().mean(dim=(0, 1))[size:]  # (size, 2 · size)
    distances = torch.arange(size, 2 * size)[:, None] - torch.arange(2 * size)
    allowed = distances >= 0
    found = torch.bincount(distances[allowed], weights=mean[allowed], minlength=2 * size) / size
    values: list[float] = rounded(found)
    return values


def distances_of(names: Mapping[str, Any], way: str) -> dict[str, list[float]]:
    """``{letters: mean weights by distance}`` of the rotary model in one way, or of the model with a window."""
    kind, scales = ("window, none", "trained") if way == "window" else ("rotary, rotary", way)
    model = names["models"][kind]
    return {str(n): by_distance(read_in(names, model, scales_of(scales, n), n)) for n in READ[way]}


def run(job: Job) -> Outcome:
    """Train the file's models, and measure the weights in every way; those of the model with a window as trained."""
    names, spent = run_file(file_of(CHAPTER, REPLACED, job.seed, job.steps))
    models = names["models"]
    figures: dict[str, Any] = {"seconds": spent}  # of the processor, for all models of the file
    figures |= {way: shares(read_in(names, models["rotary, rotary"], scales_of(way, SIZE))) for way in WAYS}
    figures["window"] = shares(read_in(names, models["window, none"], scales_of("trained", SIZE)))
    figures["distances"] = {way: distances_of(names, way) for way in READ}
    return Outcome(figures)


KEPT = ("task", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("file", KEPT) | {
    "size": SIZE, "tests": TESTS,
}  # fmt: skip
EXPERIMENT = Experiment("slowed_weights", STEPS, run, SETTINGS, on_cpu=True)
