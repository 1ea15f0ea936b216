"""What a graphics card gains: words per second of the layers of ``parallel_layers`` on it, and on the CPU (chapter 07).

Nothing is trained. One layer, forwards and backwards, on random vectors. Seconds by the clock: run it alone, with
``--workers 1``, on an idle machine with a card. Without a card only the processor is measured.
"""

import os
import time

import torch
from torch import nn

from attnbook.device import best_device
from attnbook.seeding import seed_everything
from attnbook.threads import threads
from attnruns.experiments.parallel_layers import FEATURES, KERNEL, LAYERS, training_step
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import card_name, shortest_wall_seconds

LENGTH, BATCHES = 512, (1, 16)  # on the processor
CARD_LENGTHS, CARD_BATCHES = (128, 512, 2048), (1, 16, 128)
REPEATS = 7  # the "steps" of a job: the shortest of so many times counts


def words_per_second(layer: nn.Module, batch: int, length: int, device: torch.device, repeats: int) -> int:
    """Words that pass in a second of the fastest of ``repeats`` training steps; one more comes first, to warm up."""
    x = torch.randn(batch, length, FEATURES, device=device, requires_grad=True)  # (B, T, D)
    return round(batch * length / shortest_wall_seconds(repeats, training_step, layer, x, device=device))


def on_processor(layer: nn.Module, repeats: int) -> dict[str, dict[str, int]]:
    """Words per second by the number of threads, then by the batch."""
    found: dict[str, dict[str, int]] = {}
    for count in (1, os.cpu_count() or 1):
        with threads(count):
            speeds = {batch: words_per_second(layer, batch, LENGTH, torch.device("cpu"), repeats) for batch in BATCHES}
        found[str(count)] = {str(batch): speed for batch, speed in speeds.items()}
    return found


def on_card(layer: nn.Module, device: torch.device, repeats: int) -> dict[str, dict[str, int]]:
    """Words per second by the length, then by the batch."""
    layer = layer.to(device)
    return {
        str(length): {str(batch): words_per_second(layer, batch, length, device, repeats) for batch in CARD_BATCHES}
        for length in CARD_LENGTHS
    }


def run(job: Job) -> Outcome:
    """Measure one kind of layer on the processor, and on the card if there is one; ``job.steps`` are the repeats."""
    seed_everything(job.seed)
    start, device, layer = time.process_time(), best_device(), LAYERS[job.model](FEATURES)
    figures = {"cores": os.cpu_count(), "card": card_name(device), "processor": on_processor(layer, job.steps)}
    if device.type != "cpu":
        figures["on_card"] = on_card(layer, device, job.steps)
    return Outcome(figures | {"seconds": round(time.process_time() - start, 1)})


EXPERIMENT = Experiment(
    "card_layers",
    dict.fromkeys(LAYERS, REPEATS),
    run,
    {
        "task": "one layer, forwards and backwards, in 32 bits",
        "batch": {"processor": BATCHES, "card": CARD_BATCHES},
        "features": FEATURES,
        "length": {"processor": LENGTH, "card": CARD_LENGTHS},
        "kernel": KERNEL,
    },
)
