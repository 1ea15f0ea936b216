"""What soft and hard attention attend to at each word, and whether a word needs it: the captioner of chapter 6's file.

The trainings are those of ``hard_attention``, to their last step. At the third word, the name of the second digit, the
trained decoder is also given another cell than its own. It stays on the CPU, as the file does.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import hard_attention
from attnruns.experiments.hard_attention import ENTROPY, RATE, TEST_SEED, TESTS
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = dict.fromkeys(("soft", "leave_one_out"), 1000)
TRAINED = ("file-pretrain", "file-report", "file-soft", "file-answer", "file-straight")  # what a fresh model leaves out


def build(name: str) -> nn.Module:
    """A fresh captioner of the file."""
    chosen(STEPS, name)
    file = run_file(file_of("06_captioning", {}, 0, 1, without=TRAINED))[0]
    return file["Captioner"](file["feature_map"]())


def other_cell(image: Tensor, cell: Tensor) -> dict[str, Tensor]:
    """Cells ``(B,)`` to read at the third word, where ``cell`` ``(B, 2)`` holds the two digits: own, first, empty."""
    order = torch.rand(len(image), 9)
    order.scatter_(1, cell, -1.0)  # never a cell with a digit
    return {"own": cell[:, 1], "first": cell[:, 0], "empty": order.argmax(dim=1)}


def forced(read: Callable, position: Tensor, word: int = 2) -> Callable:
    """A way to read that takes the cell ``position`` ``(B,)`` at one word, and does as ``read`` at the others."""
    at_word = 0

    def reading(alpha: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal at_word
        at_word += 1
        if at_word == word + 1:
            return a[torch.arange(len(a)), position], alpha.new_zeros(len(a))
        return read(alpha, a)

    return reading


@torch.no_grad()
def attended(file: dict[str, Any], model: nn.Module, read: Callable) -> dict[str, Any]:
    """What the model attends to at each of the three words, and how often its third word is right with another cell.

    Returns:
        "largest", the mean largest weight per word; "on", per word the share of the largest weights on the first digit
        and on the second; and "third", the accuracy of the third word by the cell that is read there.
    """
    torch.manual_seed(TEST_SEED)
    image, caption, cell = file["canvases"](TESTS)
    _, alpha, _ = file["run"](model, image, read, caption)
    peak = alpha.argmax(dim=2)  # (B, 3)
    on = (peak[:, :, None] == cell[:, None]).double().mean(dim=0)  # (3, 2)
    found: dict[str, Any] = {"largest": _rounded(alpha.amax(dim=2).mean(dim=0)), "on": [_rounded(row) for row in on]}
    third = {"as trained": file["run"](model, image, read, caption)[0]}
    for name, position in other_cell(image, cell).items():
        third[name] = file["run"](model, image, forced(read, position), caption)[0]
    right = {name: (log_p[:, 2].argmax(dim=1) == caption[:, 2]).double().mean() for name, log_p in third.items()}
    return found | {"third": {name: round(share.item(), 4) for name, share in right.items()}}


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def run(job: Job) -> Outcome:
    """Train one model as ``hard_attention`` does, and measure what it attends to."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file = hard_attention.names_of(job.seed)
    torch.manual_seed(job.seed)
    model = file["Captioner"](file["feature_map"]())
    model.cnn.load_state_dict(file["cnn"].state_dict())
    loss = file["soft_loss"] if job.model == "soft" else hard_attention.HardLoss(file, job.model)
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
