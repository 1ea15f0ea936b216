"""Stored copying machines on a grid of lengths and memory rows; nothing is trained (chapter 13)."""

import time

from attnbook.experiments import copying, copying_paper
from attnbook.experiments.copying import prepared
from attnbook.experiments.shared.grid import COUNT, LENGTHS, ROWS, copying_grid
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.models import NTM

OURS, PAPERS = "copying_", "copying_paper_"  # what stands before the name of a model of another experiment
MODELS = [OURS + name for name, recipe in copying.RECIPES.items() if recipe.kept and recipe.machine is not None]
MODELS += [PAPERS + name for name, recipe in copying_paper.RECIPES.items() if recipe.machine is not None]


def stored(name: str, seed: int) -> NTM:
    """A machine that another experiment has kept. Raises ValueError if it kept none of this name and seed."""
    if name.startswith(PAPERS):
        machine = copying_paper.trained(name.removeprefix(PAPERS), seed)
    else:
        machine = copying.trained(name.removeprefix(OURS), seed)
    assert isinstance(machine, NTM)  # MODELS leaves LSTMs out
    return machine


def run(job: Job) -> Outcome:
    """Test one stored machine."""
    start, machine = time.process_time(), stored(job.model, job.seed)
    if job.model.startswith(PAPERS):
        grid = copying_grid(machine)
    else:
        grid = copying_grid(machine, lambda bits: prepared(job.model.removeprefix(OURS), bits))
    return Outcome({"grid": grid, "seconds": round(time.process_time() - start, 1)})


SETTINGS = {
    "task": "copy_batch(length), phases marked where a machine was trained with marks", "batch": COUNT,
    "state": "the chosen one, as its experiment kept it", "lengths": LENGTHS, "rows": ROWS,
}  # fmt: skip
EXPERIMENT = Experiment("copying_grid", dict.fromkeys(MODELS, 1), run, SETTINGS)
