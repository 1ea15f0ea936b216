"""What a second core gains: words per second of layers that can, and can't, compute all positions at once (chapter 07).

Nothing is trained. One layer, forwards and backwards, on random vectors, with one thread and with all cores, one
sequence and several side by side. Seconds by the clock: run it alone, with ``--workers 1``, on an idle machine.
"""

import os
import time
from collections.abc import Callable

import torch
from torch import nn

from attnbook.models.sequence_layers import Convolution, Recurrent, SelfAttention
from attnbook.seeding import seed_everything
from attnbook.threads import threads
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import wall_seconds

FEATURES, KERNEL, LENGTH, BATCHES = 256, 3, 512, (1, 16)
LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "rnn": Recurrent,
    "lstm": lambda dim: Recurrent(dim, "lstm"),
    "convolution": lambda dim: Convolution(dim, KERNEL),
    "self_attention": SelfAttention,
}
REPEATS = 9  # the "steps" of a job: the shortest of so many times counts


def training_step(layer: nn.Module, x: torch.Tensor) -> None:
    """Forwards, and the gradients of the input and of all parameters."""
    torch.autograd.grad(layer(x).sum(), [x, *layer.parameters()])


def measure(name: str, batch: int, repeats: int) -> dict[str, int]:
    """Words per second by the number of threads, which take turns, so that a busy machine slows all alike."""
    layer, x = LAYERS[name](FEATURES), torch.randn(batch, LENGTH, FEATURES, requires_grad=True)  # (B, T, D)
    counts = [1, os.cpu_count() or 1]
    fastest: dict[int, float] = {}
    for _ in range(repeats):
        for count in counts:
            with threads(count):
                seconds = wall_seconds(training_step, layer, x)
            fastest[count] = min(seconds, fastest.get(count, seconds))
    return {str(count): round(batch * LENGTH / seconds) for count, seconds in fastest.items()}


def run(job: Job) -> Outcome:
    """Measure one kind of layer with all batches; ``job.steps`` is the number of repeats."""
    seed_everything(job.seed)
    start = time.process_time()
    found = {str(batch): measure(job.model, batch, job.steps) for batch in BATCHES}
    return Outcome({"device": "cpu", "words_per_second": found, "seconds": round(time.process_time() - start, 1)})


EXPERIMENT = Experiment(
    "parallel_layers",
    dict.fromkeys(LAYERS, REPEATS),
    run,
    {
        "task": "one layer, forwards and backwards",
        "batch": BATCHES,
        "features": FEATURES,
        "length": LENGTH,
        "kernel": KERNEL,
    },
    on_cpu=True,
)
