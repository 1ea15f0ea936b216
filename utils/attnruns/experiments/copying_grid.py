"""Stored copying machines on a grid of lengths and memory rows; nothing is trained (chapter 13)."""

import time
from dataclasses import dataclass

from attnbook.data import BitBatch
from attnbook.device import best_device
from attnbook.models import NTM
from attnruns.experiments import copying, copying_paper
from attnruns.shared.grid import COUNT, LENGTHS, ROWS, copying_grid
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome


@dataclass(frozen=True)
class Recipe:
    """A stored machine that is tested here.

    Fields:
        model: its name in the experiment that has kept it.
        papers_setting: whether that experiment is "copying_paper"; otherwise it is "copying".
    """

    model: str
    papers_setting: bool = False

    def machine(self, seed: int) -> NTM:
        """The machine as its experiment has kept it. Raises ValueError if nothing was kept of this name and seed."""
        machine = (copying_paper if self.papers_setting else copying).trained(self.model, seed)
        assert isinstance(machine, NTM)  # RECIPES leaves LSTMs out
        return machine

    def prepared(self, bits: BitBatch) -> BitBatch:
        """A batch as the machine has read it in training: with its phases marked, or as it is."""
        return bits if self.papers_setting else copying.prepared(self.model, bits)


OURS = [name for name, recipe in copying.RECIPES.items() if recipe.kept and recipe.machine is not None]
PAPERS = [name for name, recipe in copying_paper.RECIPES.items() if recipe.machine is not None]
RECIPES = {f"copying_{name}": Recipe(name) for name in OURS}
RECIPES |= {f"copying_paper_{name}": Recipe(name, papers_setting=True) for name in PAPERS}


def run(job: Job) -> Outcome:
    """Test one stored machine."""
    start, recipe = time.process_time(), chosen(RECIPES, job.model)
    grid = copying_grid(recipe.machine(job.seed).to(best_device()), recipe.prepared)
    return Outcome({"grid": grid, "seconds": round(time.process_time() - start, 1)})


SETTINGS = {
    "task": "copy_batch(length), phases marked where a machine was trained with marks", "batch": COUNT,
    "state": "the chosen one, as its experiment kept it", "lengths": LENGTHS, "rows": ROWS,
}  # fmt: skip
EXPERIMENT = Experiment("copying_grid", dict.fromkeys(RECIPES, 1), run, SETTINGS)
