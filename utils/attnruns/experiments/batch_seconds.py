"""Seconds of a forward pass of SmolLM2 by the number of texts and the tokens of each, beside the machine's speeds.

Chapter 20 calculates the time per token from two speeds, at which memory is read and at which numbers are multiplied.
Here both are measured on one thread of the processor, and with them the times that the calculation should give.
Nothing is trained. It stays on the CPU; run it with ``--workers 1``, and nothing else on the machine. What the tokens
are doesn't matter for the time, so a cache is filled with copies of one token's keys and values.
"""

from typing import Any

import torch

from attnruns.experiments.cache_seconds import read_seconds, tokens
from attnruns.experiments.real_model import smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import shortest_time

TEXTS = (1, 2, 4, 8, 16, 32)  # written together
BEFORE = (16, 512, 2048)  # tokens in the cache of each
READ, MULTIPLIED = 16_384, 2_048  # rows of square matrices: 1 GB, more than a processor's cache holds; a factor
REPEATS = 3  # the "steps": the shortest of so many times counts


def speeds(job: Job) -> dict[str, Any]:
    """Bytes per second of a matrix times a vector, and operations per second of a product of two matrices."""
    large, square = torch.ones(READ, READ), torch.ones(MULTIPLIED, MULTIPLIED)
    reading = shortest_time(job.steps, torch.mv, large, large[0])[0]
    computing = shortest_time(job.steps, torch.mm, square, square)[0]
    per_second = {"bytes": 4 * READ**2 / reading, "operations": 2 * MULTIPLIED**3 / computing}
    return {"per_second": {name: float(f"{number:.3g}") for name, number in per_second.items()}}


def passes(job: Job) -> dict[str, Any]:
    """One forward pass, by the tokens in each cache and by the number of texts."""
    model = smollm2().model
    words = {texts: tokens(model, texts, job.seed).mT for texts in TEXTS}  # (texts, 1): the next token of each
    by_before = {
        str(length): {str(n): round(read_seconds(model, length, words[n], job.steps), 4) for n in TEXTS}
        for length in BEFORE
    }
    return {"by_before": by_before}


PARTS: Parts = {"speeds": (speeds, REPEATS), "passes": (passes, REPEATS)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


SETTINGS = {
    "weights": "SmolLM2-135M-Instruct in four bits", "batch": "1 to 32", "number_type": "float32", "attention": "fused",
}  # fmt: skip
EXPERIMENT = Experiment("batch_seconds", steps_of(PARTS), run, SETTINGS, on_cpu=True)
