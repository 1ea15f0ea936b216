"""Does a captioner leave the first digit if it is taught to read the second? Chapter 6's file, with a moving average.

A training that has ended takes a lesson, in which the cell of the second digit is read at the relation instead of a
draw: with the scores fixed, so that only the decoder learns to use it; with all else fixed, so that only the policy
learns to go there; or with both. Then the ordinary training goes on. A copy goes on without a lesson, for comparison.
"""

import copy
import time
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import hard_attention, hard_maps
from attnruns.experiments.hard_attention import DRAWS, ENTROPY, MOVING, RATE
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"moving": 1000}
LESSON, AFTER = 100, 200  # steps of a lesson, and of the ordinary training after it
LESSONS = ("none", "decoder", "policy", "both")


class Lesson:
    """The loss of a new batch on which the second digit's cell is read at the relation, and the policy pointed at it.

    Args:
        file: the names of the chapter's file. ordinary: its loss with a baseline. policy: whether the loss also asks
            for the second digit's cell, by its cross-entropy at the relation.
    """

    def __init__(self, file: dict[str, Any], ordinary: hard_attention.HardLoss, policy: bool) -> None:
        self.file, self.ordinary, self.policy = file, ordinary, policy
        self.cell = torch.zeros(0, dtype=torch.long)
        self.pointing = torch.zeros(())

    def canvases(self) -> tuple[Tensor, Tensor, Tensor]:
        """A new batch of the file's, whose second digits are remembered."""
        image, caption, cell = self.file["canvases"]()
        self.cell = cell[:, 1].repeat(DRAWS)
        return image, caption, cell

    def run(self, model: nn.Module, image: Tensor, read: Any, caption: Tensor, copies: int) -> list[Tensor]:
        """The file's ``run``, which reads the second digit's cell at the relation."""
        found = self.file["run"](model, image, hard_maps.forced(read, {2: self.cell}), caption, copies)
        self.pointing = -found[1][torch.arange(len(self.cell)), 1, self.cell].log().mean()
        return found

    def __call__(self, model: nn.Module) -> Tensor:
        """The loss of a new batch."""
        self.ordinary.file = self.file | {"canvases": self.canvases, "run": self.run}
        loss = self.ordinary(model)
        self.ordinary.file = self.file
        return loss + self.pointing if self.policy else loss


def learners(model: Any, lesson: str) -> list[nn.Parameter]:
    """The parameters that learn in a lesson: those of the scores, all others, or all."""
    scores = [*model.W_q.parameters(), *model.W_k.parameters(), *model.v.parameters()]
    own = {id(one) for one in scores}
    rest = [one for one in model.parameters() if id(one) not in own]
    return {"decoder": rest, "policy": scores, "both": [*scores, *rest]}[lesson]


def taught(file: dict[str, Any], model: nn.Module, moving: Tensor, lesson: str, seed: int) -> list[dict[str, Any]]:
    """A copy of the model after a lesson and the ordinary training: what is measured before, between and at the end."""
    model = copy.deepcopy(model)
    loss = hard_attention.HardLoss(file, "moving")
    loss.moving = moving.clone()
    torch.manual_seed(1000 + seed)

    def measured(step: int) -> dict[str, Any]:
        with torch.random.fork_rng(devices=[]):
            found = hard_attention.accuracy(file, model, file["largest"])
            return {"step": step, **found, **hard_maps.at_relation(file, model, file["largest"])}

    curve = [measured(0)]
    if lesson == "none":
        file["train"]([*model.parameters()], lambda: loss(model), LESSON, rate=RATE)
    else:
        given = Lesson(file, loss, policy=lesson != "decoder")
        file["train"](learners(model, lesson), lambda: given(model), LESSON, rate=RATE)
    curve.append(measured(LESSON))
    file["train"]([*model.parameters()], lambda: loss(model), AFTER, rate=RATE)
    return [*curve, measured(LESSON + AFTER)]


def run(job: Job) -> Outcome:
    """Train one model as ``hard_attention`` does, and go on with copies of it: without a lesson, and after each."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file, model, loss = hard_attention.prepared(job)
    assert isinstance(loss, hard_attention.HardLoss)
    file["train"]([*model.parameters()], lambda: loss(model), job.steps, rate=RATE)
    figures: dict[str, Any] = hard_attention.accuracy(file, model, file["largest"])
    figures["lessons"] = {lesson: taught(file, model, loss.moving, lesson, job.seed) for lesson in LESSONS}
    return Outcome(figures | {"seconds": round(time.process_time() - started, 1)})


EXPERIMENT = Experiment(
    "lent_digit",
    STEPS,
    run,
    hard_attention.SETTINGS | {"draws": DRAWS, "moving": MOVING, "entropy": ENTROPY, "lesson": LESSON, "after": AFTER},
    on_cpu=True,
)
