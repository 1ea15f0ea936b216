"""What soft and hard attention attend to at each word, and whether a word needs it: the captioner of chapter 6's file.

The trainings are those of ``hard_attention``, to their last step. At the relation and at the name of the second digit
the decoder is also given another cell than its own. It stays on the CPU, as the file does.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import hard_attention
from attnruns.experiments.hard_attention import ENTROPY, TEST_SEED, TESTS
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = dict.fromkeys(("soft", "leave_one_out", "moving"), 1000)
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


def forced(read: Callable, cells: Mapping[int, Tensor]) -> Callable:
    """A way to read that takes at word ``w`` what ``cells[w]`` says, and does as ``read`` at the other words.

    Args:
        cells: ``{word, from 1: positions (B,), or annotations (B, D) that are read in place of the canvas's own}``.
    """
    word = 0

    def reading(alpha: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal word
        word += 1
        if word not in cells:
            return read(alpha, a)
        given = cells[word]
        return given if given.dim() == 2 else a[torch.arange(len(a)), given], alpha.new_zeros(len(a))

    return reading


def held_out(file: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
    """The canvases on which all is measured, always the same: images, captions and the cells of both digits."""
    torch.manual_seed(TEST_SEED)
    return file["canvases"](TESTS)


@torch.no_grad()
def at_relation(file: dict[str, Any], model: nn.Module, read: Callable) -> dict[str, Any]:
    """What the model attends to at the second word, the relation, and what it gains there from either digit.

    Returns:
        "on", the shares of the largest weights that lie on the first digit and on the second; "relation", how often
        the relation is right; and "reward", the mean log-probability of the relation and the name after it, if the
        cell of the first digit is read at the relation, and if that of the second is.
    """
    image, caption, cell = held_out(file)
    log_p, alpha, _ = file["run"](model, image, read, caption)
    on = (alpha[:, 1].argmax(dim=1)[:, None] == cell).double().mean(dim=0)  # (2,)
    reward = []
    for digit in (0, 1):
        other = file["run"](model, image, forced(read, {2: cell[:, digit]}), caption)[0]
        reward.append(other.gather(2, caption[:, :, None])[:, 1:, 0].sum(dim=1).mean().item())
    right = log_p[:, 1].argmax(dim=1) == caption[:, 1]
    return {"on": rounded(on), "relation": rounded_mean(right), "reward": [round(one, 3) for one in reward]}


@torch.no_grad()
def attended(file: dict[str, Any], model: nn.Module, read: Callable) -> dict[str, Any]:
    """What the model attends to at each of the three words, and what it writes if it must read another cell.

    Returns:
        "largest", the mean largest weight per word; "on", per word the share of the largest weights on the first digit
        and on the second; "relations", how often *left-of* and *above* are written where they are correct;
        "second", how often the second word is right with the cell of either digit; "third", how often the third is
        by the cell that is read there, on canvases that have an empty one; with "empty at words 2 and 3" the empty
        cell is read at both; "canvases", their number; and "donor", of :func:`names_with_a_donor`.
    """
    image, caption, cell = held_out(file)
    log_p, alpha, _ = file["run"](model, image, read, caption)
    peak = alpha.argmax(dim=2)  # (B, 3)
    on = (peak[:, :, None] == cell[:, None]).double().mean(dim=0)  # (3, 2)
    found: dict[str, Any] = {"largest": rounded(alpha.amax(dim=2).mean(dim=0)), "on": rounded(on)}
    right = log_p.argmax(dim=2) == caption  # (B, 3)
    left = caption[:, 1] == file["LEFT"]
    found["relations"] = {"left-of": rounded_mean(right[left, 1]), "above": rounded_mean(right[~left, 1])}
    ways, there = other_cells(cell)

    def share(word: int, cells: Mapping[int, Tensor], rows: Tensor) -> float:
        written = file["run"](model, image, forced(read, cells), caption)[0][:, word - 1].argmax(dim=1)
        return rounded_mean((written == caption[:, word - 1])[rows])

    every = torch.ones_like(there)
    found["second"] = {name: share(2, {2: ways[way]}, every) for name, way in (("first", "first"), ("second", "own"))}
    third: dict[str, dict[int, Tensor]] = {"as trained": {}} | {name: {3: position} for name, position in ways.items()}
    third["empty at words 2 and 3"] = {2: ways["empty"], 3: ways["empty"]}
    found["third"] = {name: share(3, cells, there) for name, cells in third.items()}
    return found | {"canvases": int(there.sum()), "donor": names_with_a_donor(file, model, read)}


@torch.no_grad()
def names_with_a_donor(file: dict[str, Any], model: Any, read: Callable) -> dict[str, Any]:
    """What the model names if it reads the second digit of *another* canvas at the relation, and then an empty cell.

    Returns:
        The shares of canvases whose third word is the "donor" digit and their "own", of those that have an empty cell
        and a second digit other than the donor's; and their number, "canvases".
    """
    image, caption, cell = held_out(file)
    ways, there = other_cells(cell)
    own, donor = caption[:, 2], caption[:, 2].roll(1)
    given = model.annotate(image)[torch.arange(len(image)), cell[:, 1]].roll(1, dims=0)  # (B, D)
    log_p = file["run"](model, image, forced(read, {2: given, 3: ways["empty"]}), caption)[0]
    written, rows = log_p[:, 2].argmax(dim=1), there & (own != donor)
    shares = {name: rounded_mean((written == digit)[rows]) for name, digit in (("donor", donor), ("own", own))}
    return shares | {"canvases": int(rows.sum())}


def run(job: Job) -> Outcome:
    """Train one model as ``hard_attention`` does, and measure what it attends to, on the way only at the relation."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file, model, loss = hard_attention.prepared(job)
    read = file["soft" if job.model == "soft" else "largest"]

    def measured(step: int) -> dict[str, Any]:
        with torch.random.fork_rng(devices=[]):  # the training's random numbers go on as if nobody had measured
            return {"step": step, **at_relation(file, model, read)}

    curve = hard_attention.followed(file, model, lambda: loss(model), job.steps, measured)
    figures = hard_attention.accuracy(file, model, read) | attended(file, model, read) | {"curve": curve}
    if job.model != "soft":
        figures["drawn"] = hard_attention.accuracy(file, model, file["draw"])
    figures["seconds"] = round(time.process_time() - started, 1)
    return Outcome(figures, model if job.seed == 0 else None)


EXPERIMENT = Experiment(
    "hard_maps",
    STEPS,
    run,
    hard_attention.SETTINGS | {"draws": hard_attention.DRAWS, "moving": hard_attention.MOVING, "entropy": ENTROPY},
    build=build,
    on_cpu=True,
)
trained = EXPERIMENT.trained
