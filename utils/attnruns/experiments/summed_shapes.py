"""Chapter 16's open shape when every position receives the plain sum of all values: can a link without weights do it?

The pictures and the test are those of the chapter's file. A sum of patches holds each colour times each form, so a
readout that is wide enough may find the partner's colour in it by the open form; attention stands beside it, with the
same readout. The training stays on the CPU, as the file does.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnruns.experiments.matching_shapes import CHAPTER, OTHER
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

TRAINING = "file-run"  # the cell of the file that trains its three networks
EVERY = 500  # steps from one test to the next


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a network and its training.

    Fields:
        summed: each position receives the sum of all values, in place of attention.
        channels: C. hidden: the features of each hidden layer of the readout.
        batch, rate: of the training; the rate falls to a tenth, as in the file. steps: of the training.
    """

    summed: bool
    channels: int = 128
    hidden: tuple[int, ...] = (256, 256)
    batch: int = 128
    rate: float = 2e-3
    steps: int = 3000


RECIPES = {
    "sum": Recipe(True),
    "attention": Recipe(False, steps=500),
    "sum_as_in_the_file": Recipe(True, channels=64, hidden=(64,), batch=64, rate=6e-3, steps=300),
}


class PlainSum(nn.Module):
    """Every position receives the sum of the values of all positions: no weights, and the same for all pictures."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.value = nn.Conv2d(channels, channels // 2, 1, bias=False)
        self.output = nn.Conv2d(channels // 2, channels, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, C, H, W)`` -> the same shape."""
        return self.output(self.value(x).sum(dim=(2, 3), keepdim=True)) + x


class OnePosition(nn.Module):
    """The file's painter with another readout, which is computed for the position of the open shape alone."""

    def __init__(self, mix: Callable[[int], nn.Module], recipe: Recipe, patch: int) -> None:
        super().__init__()
        self.read = nn.Conv2d(4, recipe.channels, patch, stride=patch)
        self.mix = mix(recipe.channels)
        sizes = (recipe.channels, *recipe.hidden)
        layers = [part for pair in pairwise(sizes) for part in (nn.ReLU(), nn.Linear(*pair))]
        self.write = nn.Sequential(*layers, nn.ReLU(), nn.Linear(sizes[-1], 4))

    def forward(self, images: Tensor, position: Tensor) -> Tensor:
        """Images ``(B, 4, H, W)`` and one position each, ``(B,)`` -> one logit per colour, ``(B, 4)``."""
        x = self.mix(self.read(images)).flatten(2)  # (B, C, N)
        return self.write(x[torch.arange(len(images)), :, position])


def file_names(seed: int) -> dict[str, Any]:
    """What the file defines, with this seed; it trains nothing."""
    seeded = {"torch.manual_seed(0)": "torch.manual_seed({seed})"}
    return run_file(file_of(CHAPTER, seeded, seed, 1, without=[TRAINING, *OTHER]))[0]


def run(job: Job) -> Outcome:
    """Train one network, and test it every so many steps by the file's test."""
    start, recipe, file = time.process_time(), chosen(RECIPES, job.model), file_names(job.seed)
    model = OnePosition(PlainSum if recipe.summed else file["quick_attention"], recipe, file["P"])
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.rate)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1, 0.1, job.steps)
    right, by_distance = {}, {}
    for step in range(1, job.steps + 1):
        images, positions, colour = file["pictures"](recipe.batch)
        loss = F.cross_entropy(model(images, positions[:, 0]), colour)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        slower.step()
        if step % EVERY == 0 or step == job.steps:
            share, by_distance = file["test"](model)
            right[str(step)] = round(share, 4)
    return Outcome({
        "right": right,
        "by_distance": {str(distance): round(part, 4) for distance, part in by_distance.items()},
        "parameters": sum(part.numel() for part in model.parameters()),
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


SETTINGS = {
    "task": "the colour of an open shape, from its partner among five shapes",
    "batch": {name: recipe.batch for name, recipe in RECIPES.items()},
    "learning_rate": {name: recipe.rate for name, recipe in RECIPES.items()}, "warmup": 0, "max_grad_norm": None,
    "pictures_of_a_test": 4000, "every": EVERY, "recipes": {name: asdict(recipe) for name, recipe in RECIPES.items()},
}  # fmt: skip
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}
EXPERIMENT = Experiment("summed_shapes", STEPS, run, SETTINGS, on_cpu=True)
