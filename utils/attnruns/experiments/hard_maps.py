"""What soft and hard attention attend to at each word, and whether a word needs it: the captioner of chapter 6's file.

The trainings are those of ``hard_attention``, to their last step. At the third word, the name of the second digit, the
trained decoder is also given another cell than its own. It stays on the CPU, as the file does.
"""

import time
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import hard_attention
from attnruns.experiments.hard_attention import ENTROPY, RATE, TEST_SEED, TESTS
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = dict.fromkeys(("soft", "leave_one_out"), 1000)
TRAINED = ("file-pretrain", "file-report", "file-soft", "file-answer")  # what a fresh model leaves out


def build(name: str) -> nn.Module:
    """A fresh captioner of the file."""
    chosen(STEPS, name)
    file = run_file(file_of("06_captioning", {}, 0, 1, without=TRAINED))[0]
    return file["Captioner"](file["feature_map"]())


def other_cells(cell: Tensor) -> tuple[dict[str, Tensor], Tensor]:
    """Cells ``(B,)`` to read in place of a model's own, where ``cell`` ``(B, 2)`` holds the two digits.

    Returns:
        {"own": that of the second digit, "first": that of the first, "empty": one without a digit that doesn't touch
        the second digit's, so that its 14 × 14 pixels show nothing of it}, and ``(B,)``, whether there is an empty one.
    """
    row, column = torch.arange(9) // 3, torch.arange(9) % 3
    second = cell[:, 1:]
    beside = ((row - second // 3).abs() <= 1) & ((column - second % 3).abs() <= 1)  # (B, 9)
    order = torch.rand(len(cell), 9).masked_fill(beside, -1.0).scatter(1, cell, -1.0)
    return {"own": cell[:, 1], "first": cell[:, 0], "empty": order.argmax(dim=1)}, order.amax(dim=1) >= 0


def forced(read: Callable, position: Tensor, words: Collection[int] = (3,)) -> Callable:
    """A way to read that takes the cell ``position`` ``(B,)`` at these words, and does as ``read`` at the others."""
    word = 0

    def reading(alpha: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal word
        word += 1
        if word in words:
            return a[torch.arange(len(a)), position], alpha.new_zeros(len(a))
        return read(alpha, a)

    return reading


@torch.no_grad()
def attended(file: dict[str, Any], model: nn.Module, read: Callable) -> dict[str, Any]:
    """What the model attends to at each of the three words, and how often its third word is right with another cell.

    Returns:
        "largest", the mean largest weight per word; "on", per word the share of the largest weights on the first digit
        and on the second; "third", the accuracy of the third word by the cell that is read there, on canvases that have
        an empty one; with "empty at words 2 and 3" the empty cell is read at both; and "canvases", their number.
    """
    torch.manual_seed(TEST_SEED)
    image, caption, cell = file["canvases"](TESTS)
    _, alpha, _ = file["run"](model, image, read, caption)
    peak = alpha.argmax(dim=2)  # (B, 3)
    on = (peak[:, :, None] == cell[:, None]).double().mean(dim=0)  # (3, 2)
    found: dict[str, Any] = {"largest": rounded(alpha.amax(dim=2).mean(dim=0)), "on": rounded(on)}
    ways, there = other_cells(cell)
    third = {"as trained": read} | {name: forced(read, position) for name, position in ways.items()}
    third["empty at words 2 and 3"] = forced(read, ways["empty"], (2, 3))
    found["third"] = {}
    for name, way in third.items():
        log_p = file["run"](model, image, way, caption)[0]
        right = log_p[:, 2].argmax(dim=1) == caption[:, 2]
        found["third"][name] = rounded_mean(right[there])
    return found | {"canvases": int(there.sum())}


def run(job: Job) -> Outcome:
    """Train one model as ``hard_attention`` does, and measure what it attends to."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file, model, loss = hard_attention.prepared(job)
    file["train"]([*model.parameters()], lambda: loss(model), job.steps, rate=RATE)
    read = file["soft" if job.model == "soft" else "largest"]
    figures = hard_attention.accuracy(file, model, read) | attended(file, model, read)
    if job.model != "soft":
        figures["drawn"] = hard_attention.accuracy(file, model, file["draw"])
    return Outcome(figures | {"seconds": round(time.process_time() - started, 1)}, model if job.seed == 0 else None)


EXPERIMENT = Experiment(
    "hard_maps",
    STEPS,
    run,
    {
        "task": "canvases with two digits, the file of chapter 6",
        "batch": 32,
        "learning_rate": RATE,
        "draws": hard_attention.DRAWS,
        "entropy": ENTROPY,
        "warmup": 0,
        "max_grad_norm": 1.0,
        "tests": TESTS,
    },
    build=build,
    on_cpu=True,
)
trained = EXPERIMENT.trained
