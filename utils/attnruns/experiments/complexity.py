"""What one layer costs, forwards: time, memory and multiplications against length n and features d (chapter 07).

It stays on the CPU: what it measures is the processor's time, and torch's records of memory there.
"""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from attnbook.models.sequence_layers import Convolution, ParameterFreeAttention, Recurrent, SelfAttention
from attnbook.seeding import seed_everything
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import shortest_time

RADIUS, KERNEL = 16, 3
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
FEATURES = (32, 64, 128, 256, 512)
SIZES = {  # what is varied, with what stays
    "by_n": [(n, 64) for n in LENGTHS],
    "by_n_wide": [(n, 256) for n in LENGTHS],
    "by_d": [(512, d) for d in FEATURES],
}
LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "bare": ParameterFreeAttention,
    "bare_fused": lambda dim: ParameterFreeAttention(dim, fused=True),
    "self_attention": SelfAttention,
    "window": lambda dim: SelfAttention(dim, radius=RADIUS),
    "rnn": Recurrent,
    "lstm": lambda dim: Recurrent(dim, "lstm"),
    "convolution": lambda dim: Convolution(dim, KERNEL),
}
REPEATS = 7  # the "steps" of a job: the shortest of so many times counts


def formula(kind: str, n: int, d: int, radius: int = RADIUS, kernel: int = KERNEL) -> int:
    """Multiplications of matrix products in one layer, as one writes them down from its equations.

    Raises ValueError for an unknown kind.
    """
    scores_and_sum = 2 * n * n * d
    formulae = {
        "bare": scores_and_sum,
        "bare_fused": scores_and_sum,
        "self_attention": scores_and_sum + 3 * n * d * d,
        "window": 2 * n * (2 * radius + 1) * d + 3 * n * d * d,
        "rnn": 2 * n * d * d,
        "lstm": 8 * n * d * d,
        "convolution": kernel * n * d * d,
    }
    if kind not in formulae:
        raise ValueError(f"kind must be one of {', '.join(formulae)}, got {kind!r}")
    return formulae[kind]


def multiplications(call: Callable[[], object]) -> int:
    """Count the multiplications of all matrix products and convolutions that ``call`` makes.

    Torch counts each with its addition, two operations, so we halve. Softmax, tanh and gates are not counted, and
    fused kernels that torch's counter does not know (LSTM and attention on the CPU) count as 0.
    """
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops() // 2


def peak_bytes(call: Callable[[], object]) -> int:
    """The most memory of tensors that ``call`` holds at once, beyond what was there before: torch's own records.

    Parameters and input don't count, all that is made on the way does. The same in each run; CPU only.
    """
    call()  # what is made once and kept shall not count
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as records:
        call()
    events = [e for e in records.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()  # negative when memory is given back
        peak = max(peak, live)
    return peak


def exponent(points: Mapping[Any, float], smallest: float = 0) -> float:
    """The power of x with which y grows: the slope of a straight line through the points (log x, log y).

    Args:
        points: ``{x: y}``, all above 0; x may be strings, as JSON makes them.
        smallest: points with a smaller x are left out.

    Raises:
        ValueError: if fewer than two points are left.
    """
    logs = [(math.log(float(x)), math.log(y)) for x, y in points.items() if float(x) >= smallest]
    if len(logs) < 2:
        raise ValueError(f"points must hold at least 2 with x >= {smallest}, got {len(logs)}")
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def crossover(one: Mapping[Any, float], other: Mapping[Any, float]) -> float | None:
    """The x at which ``one`` begins to cost more than ``other``, between two points on straight lines of logarithms.

    Returns ``None`` if it costs more from the start, or nowhere.
    """
    xs = sorted(one, key=float)
    gaps = [math.log(one[x] / other[x]) for x in xs]
    for left, right, x, further in zip(gaps, gaps[1:], xs, xs[1:], strict=False):
        if left <= 0 < right:
            share = -left / (right - left)
            return float(x) * (float(further) / float(x)) ** share
    return None


@torch.no_grad()
def measure(kind: str, n: int, d: int, repeats: int = REPEATS) -> dict[str, float]:
    """Milliseconds, bytes and multiplications of one layer on one sequence, ``(1, n, d)``, forwards."""
    layer, x = LAYERS[kind](d).eval(), torch.randn(1, n, d)

    def call() -> object:
        return layer(x)

    return {
        "bytes": peak_bytes(call),
        "multiplications": multiplications(call) or formula(kind, n, d),  # 0: a kernel that can't be counted
        "milliseconds": round(1000 * shortest_time(repeats, call)[0], 4),
    }


def run(job: Job) -> Outcome:
    """Measure one kind of layer at all sizes; ``job.steps`` is the number of repeats."""
    seed_everything(job.seed)
    start, figures = time.process_time(), {}
    for name, sizes in SIZES.items():
        cells = {str(d if name == "by_d" else n): measure(job.model, n, d, job.steps) for n, d in sizes}
        for field in ("milliseconds", "bytes", "multiplications"):
            figures[f"{field}_{name}"] = {x: cell[field] for x, cell in cells.items()}
    return Outcome({"seconds": round(time.process_time() - start, 1), **figures})


EXPERIMENT = Experiment(
    "complexity",
    dict.fromkeys(LAYERS, REPEATS),
    run,
    {
        "task": "one layer, forwards, no gradients",
        "batch": 1,
        "radius": RADIUS,
        "kernel": KERNEL,
        "by_n": "d = 64",
        "by_n_wide": "d = 256",
        "by_d": "n = 512",
    },
    on_cpu=True,
)
