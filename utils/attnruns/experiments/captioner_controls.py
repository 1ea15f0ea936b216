"""The captioner of chapter 6's file without attention, without a pretrained CNN, and trained straight-through.

What is not named is the file's: canvases, captioner, pretrained CNN (but for one), optimiser, loss of the words. It
stays on the CPU, as the file does.
"""

import time
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import hard_attention, hard_maps
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"no_attention": 1000, "not_pretrained": 300, "straight_through": 300}


def average(alpha: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Without attention: the mean of all annotations ``(B, D)`` at each word, and no draw."""
    return a.mean(dim=1), alpha.new_zeros(len(a))


def straight_through(alpha: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Draw one position by Gumbel noise; the backward pass takes the softmax of the noisy sums for the weights."""
    sums = alpha.log() - torch.empty_like(alpha).exponential_().log()  # (B, Tk)
    smooth = sums.softmax(dim=1)
    one_hot = torch.nn.functional.one_hot(sums.argmax(dim=1), alpha.shape[1])
    weights = one_hot + smooth - smooth.detach()  # the value of one_hot, the gradient of smooth
    return (weights[:, None] @ a)[:, 0], alpha.new_zeros(len(a))


def build(name: str) -> nn.Module:
    """A fresh captioner of the file."""
    chosen(STEPS, name)
    return hard_maps.build("soft")


@torch.no_grad()
def names(file: dict[str, Any], model: nn.Module, read: Any) -> dict[str, float]:
    """How often both digits are named on held-out canvases: in any order ("which"), in the correct one ("order")."""
    image, caption, _ = hard_maps.held_out(file)
    written, correct = file["run"](model, image, read)[0].argmax(dim=2)[:, [0, 2]], caption[:, [0, 2]]  # (B, 2)
    which = (written.sort(dim=1).values == correct.sort(dim=1).values).all(dim=1)
    return {"which": rounded_mean(which), "order": rounded_mean((written == correct).all(dim=1))}


def run(job: Job) -> Outcome:
    """Train one captioner as the file's ``trained`` does, and test it on its own words."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file = hard_attention.names_of(0)  # its CNN is the one that the chapter pretrains
    train = {"no_attention": average, "straight_through": straight_through}.get(job.model, file["soft"])
    test = {"no_attention": average, "straight_through": file["largest"]}.get(job.model, file["soft"])
    if job.model == "not_pretrained":
        torch.manual_seed(job.seed)
        file["cnn"].load_state_dict(file["feature_map"]().state_dict())
    model = file["trained"](lambda model: file["soft_loss"](model, train), seed=job.seed, steps=job.steps)
    figures: dict[str, Any] = hard_attention.accuracy(file, model, test) | names(file, model, test)
    figures["seconds"] = round(time.process_time() - started, 1)
    return Outcome(figures, model if (job.model, job.seed) == ("no_attention", 0) else None)


EXPERIMENT = Experiment("captioner_controls", STEPS, run, hard_attention.SETTINGS, build=build, on_cpu=True)
trained = EXPERIMENT.trained
