"""Whether eight plain layers only need more steps, or one of two well-known starts (chapter 05).

Task, wiring, training and measurements are those of ``depth_controls``. The plain stack trains for ten times as many
steps. Two others begin as was proposed against vanishing gradients, in all LSTM layers: with a bias of one in the
forget gates, or with orthogonal matrices (``gnmt.STARTS``).
"""

from dataclasses import dataclass

from attnbook.data.batching import Task
from attnruns.experiments import depth_controls
from attnruns.experiments.depth_controls import STEPS_EACH, Controlled
from attnruns.experiments.gnmt import STARTS
from attnruns.experiments.residual_sides import HIDDEN, TRAINING
from attnruns.shared.runner import Experiment, Job, Outcome


@dataclass(frozen=True)
class Recipe(depth_controls.Recipe):
    """What is chosen about a translator, and about its training.

    Fields:
        start: how the weights of the LSTM layers are drawn: a name in ``gnmt.STARTS``; or as PyTorch draws them.
        steps: of the training.
    """

    start: str = ""
    steps: int = STEPS_EACH

    def build(self, task: Task) -> Controlled:
        """A fresh translator for a task."""
        model = super().build(task)
        if self.start:
            STARTS[self.start](model)
        return model


RECIPES = {
    "plain": Recipe(steps=10 * STEPS_EACH),
    "forget": Recipe(start="forget"),
    "orthogonal": Recipe(start="orthogonal"),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def run(job: Job) -> Outcome:
    """Train a translator; measure signals and gradients before, the top signal and the exact match on the way."""
    return depth_controls.controlled(job, RECIPES)


EXPERIMENT = Experiment(
    "ten_times",
    STEPS,
    run,
    {"task": "single_numbers(train=800, validation=0, test=200, below=1000)", "hidden": HIDDEN, **TRAINING},
)
