"""What exact attention costs: time and peak memory over length, whole, in blocks, in a window, fused (chapter 12).

Nothing is trained. ``attend_in_blocks`` and ``attend_in_window`` are those that the chapter shows; they and ``causal``
have a causal mask, all others attend to everything. One sequence, one head, forwards alone and forwards and backwards.
Measured alone, with ``--workers 1``, on an idle machine; on the CPU with one thread, or on the device that
``ATTNBOOK_DEVICE`` names.
"""

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention import attend, blocked_attention
from attnbook.device import best_device
from attnbook.seeding import generator
from attnruns.experiments.complexity import exponent, peak_bytes
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import shortest_time

FEATURES, WINDOW, BLOCK = 64, 128, 256  # the blocks of the chapter's own functions are of 128
LENGTHS = (512, 1024, 2048, 4096, 8192)
REPEATS = 3  # the "steps" of a job: the shortest of so many times counts
Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


def whole(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """All T × T scores at once."""
    return attend(query, key, value)[0]


def causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """All T × T scores at once, those of the future masked: what the chapter's functions are compared with."""
    T, D = query.shape[1:]
    future = torch.ones(T, T, dtype=torch.bool, device=query.device).triu(1)
    scores = (query @ key.mT / D**0.5).masked_fill(future, -math.inf)
    return scores.softmax(dim=-1) @ value


@cache
def shown() -> dict[str, Any]:
    """What the first cells of the chapter's model in one file define, without what is compared there."""
    return run_file(file_of("12_longer_text", {}, 0, 0, without=("equal",)))[0]


def as_shown(name: str, query: Tensor, key: Tensor, value: Tensor, **limits: int) -> Any:
    """The function ``name`` as it stands in the chapter; it makes its positions where the query is."""
    with nullcontext() if query.device.type == "cpu" else query.device:  # the device's context would be timed, too
        return shown()[name](query, key, value, **limits)


def in_blocks(query: Tensor, key: Tensor, value: Tensor, **limits: int) -> Tensor:
    """The contexts of the chapter's ``attend_in_blocks``, without the number per query that its gradient needs."""
    return as_shown("attend_in_blocks", query, key, value, **limits)[0]


def blocked(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Block by block, with the gradient in blocks as well."""
    return blocked_attention(query, key, value, block=BLOCK)[0]


def fused_4d(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Torch's fused kernel on ``(B, 1, T, D)``."""
    return F.scaled_dot_product_attention(query[:, None], key[:, None], value[:, None])[:, 0]


ATTENTIONS: dict[str, Attention] = {
    "whole": whole,
    "blocked": blocked,
    "causal": causal,
    "attend_in_blocks": in_blocks,
    "attend_in_window": partial(as_shown, "attend_in_window", window=WINDOW),
    "fused_3d": F.scaled_dot_product_attention,  # on (B, T, D): torch may take another path than with heads
    "fused_4d": fused_4d,
}


def forwards(attention: Attention, inputs: list[Tensor]) -> None:
    """The context alone, as in a model that answers."""
    with torch.no_grad():
        attention(*inputs)


def both_ways(attention: Attention, inputs: list[Tensor]) -> None:
    """The context and the gradients of query, key and value, as in training."""
    torch.autograd.grad(attention(*inputs).sum(), inputs)


def peak_on(device: torch.device, call: Callable[[], object]) -> int:
    """The most memory that ``call`` holds at once beyond what was there, in bytes.

    Torch's own records on the CPU, the allocator's count on a GPU.
    """
    if device.type != "cuda":
        return peak_bytes(call)
    call()  # what is made once and kept shall not count
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    return torch.cuda.max_memory_allocated(device) - before


def seconds_on(device: torch.device, repeats: int, call: Callable[[], object]) -> float:
    """Seconds of the fastest call: of the processor on the CPU, by the clock with all kernels finished on a GPU."""
    if device.type != "cuda":
        return shortest_time(repeats, call)[0]
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize(device)
        start = time.perf_counter()
        call()
        torch.cuda.synchronize(device)
        times.append(time.perf_counter() - start)
    return min(times)


def measure(name: str, length: int, repeats: int, device: torch.device) -> dict[str, float]:
    """Milliseconds and bytes of one attention on ``(1, length, 64)``, forwards and both ways."""
    draw = generator(0)
    inputs = [torch.randn(1, length, FEATURES, generator=draw).to(device).requires_grad_() for _ in range(3)]
    figures: dict[str, float] = {}
    for way, work in (("forwards", forwards), ("both_ways", both_ways)):
        call = partial(work, ATTENTIONS[name], inputs)
        figures[f"bytes_{way}"] = peak_on(device, call)
        figures[f"milliseconds_{way}"] = round(1000 * seconds_on(device, repeats, call), 3)
    return figures


@torch.no_grad()
def largest_difference(name: str, length: int) -> float:
    """The largest difference from the whole attention in float64, on the CPU; 0 is no difference."""
    draw = generator(1)
    inputs = [torch.randn(1, length, FEATURES, generator=draw, dtype=torch.float64) for _ in range(3)]
    return (ATTENTIONS[name](*inputs) - whole(*inputs)).abs().max().item()


def run(job: Job) -> Outcome:
    """Measure one kind of attention at all lengths; ``job.steps`` is the number of repeats."""
    start, device = time.process_time(), best_device()
    cells = {length: measure(job.model, length, job.steps, device) for length in LENGTHS}
    figures: dict = {"device": device.type}
    for field in cells[LENGTHS[0]]:
        figures[field] = {str(length): cell[field] for length, cell in cells.items()}
        figures[f"exponent_{field}"] = round(exponent(figures[field], smallest=LENGTHS[-1] / 4), 3)
    if job.model in ("blocked", "fused_3d", "fused_4d"):  # the others don't attend to all positions
        figures["largest_difference"] = largest_difference(job.model, LENGTHS[0])
    return Outcome({"seconds": round(time.process_time() - start, 1), **figures})


EXPERIMENT = Experiment(
    "attention_cost",
    dict.fromkeys(ATTENTIONS, REPEATS),
    run,
    {
        "task": "one attention, with and without gradients",
        "batch": 1,
        "features": FEATURES,
        "window": WINDOW,
        "block": BLOCK,
        "lengths": LENGTHS,
    },
)
