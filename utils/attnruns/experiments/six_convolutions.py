"""Chapter 16's open shape with six convolutions of 3 × 3, whose field covers the whole picture, in place of two.

Pictures, training and test are those of the chapter's file, at its learning rate and at a sixth of it.
"""

import time
from typing import Any

from torch import nn

from attnruns.experiments.summed_shapes import file_names
from attnruns.shared.runner import Experiment, Job, Outcome

LAYERS, STEPS = 6, 300
RATES = {"rate_of_the_file": 6e-3, "lower_rate": 1e-3}


def deep(file: dict[str, Any], channels: int) -> nn.Module:
    """The file's convolutions, but ``LAYERS`` of them."""
    layer = file["Convolutions"](channels)
    layer.layers = nn.ModuleList([nn.Conv2d(channels, channels, 3, padding=1) for _ in range(LAYERS)])
    return layer


def run(job: Job) -> Outcome:
    """Train one network, and test it by the file's test."""
    start, file = time.process_time(), file_names(job.seed)
    model = file["Painter"](lambda channels: deep(file, channels))
    file["train"](model, file["questions"], rate=RATES[job.model], steps=job.steps)
    share, by_distance = file["test"](model)
    return Outcome({
        "right": round(share, 4),
        "by_distance": {str(distance): round(part, 4) for distance, part in by_distance.items()},
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


SETTINGS = {
    "task": "the colour of an open shape, from its partner among five shapes",
    "layers": LAYERS, "batch": 64, "learning_rate": RATES, "warmup": 0, "max_grad_norm": None,
    "pictures_of_a_test": 4000,
}  # fmt: skip
EXPERIMENT = Experiment("six_convolutions", dict.fromkeys(RATES, STEPS), run, SETTINGS, on_cpu=True)
