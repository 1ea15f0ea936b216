"""What the first steps of a training do to eight layers that begin as copies, or as sums (chapter 05).

Task, wiring and training are those of ``sum_or_start``. AdamW's first steps move all weights by about the rate. If the
signs of a matrix's changes agree, they stretch one direction: a matrix of 48 × 48 changes of 0.005 has the norm 0.24.
This is measured in the encoder's layers above the lowest, with what becomes of their outputs.
"""

import torch
from torch import Tensor, nn

from attnbook.device import best_device
from attnbook.seeding import seed_everything
from attnruns.experiments import sum_or_start
from attnruns.experiments.depth_controls import Controlled, signals
from attnruns.experiments.residual_sides import HIDDEN, TRAINING, Drawn, pairs, rate, task
from attnruns.experiments.sum_or_start import Recipe
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

EVERY = 10  # steps between two measurements

RECIPES = {
    "copies": sum_or_start.RECIPES["copies"],
    "copies_slowed": sum_or_start.RECIPES["copies_slowed"],
    "sums": Recipe(residual=True),
}
STEPS = dict.fromkeys(RECIPES, 100)


def candidates(model: Controlled) -> list[Tensor]:
    """Of each encoder layer above the lowest, the matrix from the layer below to the candidate of the memory cell."""
    return [
        lstm.get_parameter("weight_ih_l0").detach()[2 * HIDDEN : 3 * HIDDEN].clone() for lstm in model.encoder.upper
    ]


def run(job: Job) -> Outcome:
    """Train a translator; measure the changed matrices and the outputs of its encoder on the way."""
    seed_everything(job.seed)
    lists = task()
    recipe = chosen(RECIPES, job.model)
    model = recipe.build(lists).to(best_device())
    first, second = (batch.to(best_device()) for batch in pairs(lists))
    begun = candidates(model)
    found: dict[str, list] = {"changed": [], "signals": [], "norms": []}

    @torch.no_grad()
    def watch(trained: nn.Module) -> float:
        changed = [
            torch.linalg.matrix_norm(now - then, ord=2) for now, then in zip(candidates(model), begun, strict=True)
        ]
        norms = [outputs.norm(dim=-1).mean() for outputs in model.encoded(first.source, first.lengths)[0]]
        for name, values in {"changed": changed, "norms": norms}.items():
            found[name].append([float(f"{value.item():.3g}") for value in values])
        found["signals"].append(signals(model, first, second))
        return found["signals"][-1][-1]

    watch(model)
    every = min(EVERY, job.steps)
    how = {"schedule": rate, "optimiser": recipe.optimiser_of(model)}
    _, figures = train(model, Drawn(lists), job, TRAINING, validate=watch, validate_every=every, **how)
    return Outcome(figures | found | {"every": every})


EXPERIMENT = Experiment("first_steps", STEPS, run, sum_or_start.SETTINGS)
