"""Whether deep stacks need the sum of a residual connection, or only a start that passes the input on (chapter 05).

Task, wiring, training and measurements are those of ``depth_controls``, which begins plain layers near four times an
orthogonal matrix or four times the identity. This experiment closes the square. Plain layers begin as copies of their
input, with open gates; the identity is tried with another rate; and sums from the third layer on, as in GNMT, have
another path around the layer: a fixed random rotation, or a matrix that begins as the identity or as a rotation and is
trained; or that trained matrix stands there alone, without a layer beside it. Then all layers above the lowest are
frozen as they begin, in one stack or both, or the whole model learns at a tenth of the rate, or only these layers do,
which shows whether a start fails, or what training makes of it, where, and whether by the size of its steps.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.batching import Task
from attnbook.measure.evaluation import accuracy
from attnbook.models.gnmt import FIRST_RESIDUAL
from attnruns.experiments import depth_controls
from attnruns.experiments.depth_controls import LAYERS, STEPS_EACH, Controlled
from attnruns.experiments.residual_sides import HIDDEN, RATE, TRAINING
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

TENTH = 0.1
SLOW = RATE / 10
PATHS, STACKS = ("", "rotation", "trained", "trained_rotation"), ("", "encoder", "decoder", "both")
OPEN = 3.0  # the bias of a gate that begins open: the sigmoid of 3 is 0.95, and that of -3 is 0.05


@dataclass(frozen=True)
class Recipe(depth_controls.Recipe):
    """What is chosen about a translator.

    Fields:
        copies: whether all layers above the lowest begin as copies of their input.
        path: what leads around the layers from the third on: a fixed "rotation", a matrix that is "trained" and begins
            as the identity, or one that begins as a rotation, "trained_rotation"; or nothing.
        alone: whether nothing but this path is left of the layers from the third on.
        frozen: where all layers above the lowest stay as they begin: in the "encoder", the "decoder" or "both".
        slowed: where these layers learn at a tenth of the rate, while all else learns at the whole of it.

    Raises:
        ValueError: if there is no such path, or nothing so named to freeze or to slow.
    """

    copies: bool = False
    path: str = ""
    alone: bool = False
    frozen: str = ""
    slowed: str = ""

    def __post_init__(self) -> None:
        known = {"path": PATHS, "frozen": STACKS, "slowed": STACKS}
        for what, values in known.items():
            if (value := getattr(self, what)) not in values:
                raise ValueError(f"{what} is {value!r}; it must be one of {', '.join(map(repr, values))}")

    def build(self, task: Task) -> "Summed":
        """A fresh translator for a task."""
        return Summed(task, self)

    def optimiser_of(self, model: Controlled) -> Callable[..., torch.optim.Optimizer]:
        """What makes the optimiser of the parameters of such a translator."""
        if not self.slowed:
            return super().optimiser_of(model)
        return partial(TwoRates, slow=above_lowest(model, self.slowed), factor=TENTH)


RECIPES = {
    "copies": Recipe(copies=True),
    "identity_0.002": Recipe(candidate="identity", rate=2e-3),
    "rotated": Recipe(path="rotation"),
    "trained": Recipe(path="trained"),
    "copies_frozen": Recipe(copies=True, frozen="both"),
    "orthogonal_frozen": Recipe(candidate="orthogonal", frozen="both"),
    "identity_frozen": Recipe(candidate="identity", frozen="both"),
    "copies_encoder_frozen": Recipe(copies=True, frozen="encoder"),
    "copies_decoder_frozen": Recipe(copies=True, frozen="decoder"),
    "copies_slow": Recipe(copies=True, rate=SLOW),
    "orthogonal_slow": Recipe(candidate="orthogonal", rate=SLOW),
    "identity_slow": Recipe(candidate="identity", rate=SLOW),
    "trained_rotation": Recipe(path="trained_rotation"),
    "copies_slowed": Recipe(copies=True, slowed="both"),
    "plain_slowed": Recipe(slowed="both"),
    "identity_slowed": Recipe(candidate="identity", slowed="both"),
    "orthogonal_slowed": Recipe(candidate="orthogonal", slowed="both"),
    "matrices": Recipe(path="trained_rotation", alone=True),
    "copies_encoder_slowed": Recipe(copies=True, slowed="encoder"),
}
STEPS = dict.fromkeys(RECIPES, STEPS_EACH)


class TwoRates(torch.optim.AdamW):
    """AdamW, in which some parameters learn at a part of the rate that the others have.

    Args:
        slow: these parameters. factor: their rate is that of the others times this.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], slow: Iterable[nn.Parameter], factor: float) -> None:
        slow = list(slow)
        of_slow = {id(parameter) for parameter in slow}
        super().__init__([{"params": [p for p in parameters if id(p) not in of_slow]}, {"params": slow}])
        self.factor = factor

    def step(self, closure: Any = None) -> Any:
        """One step; the rate that both groups were given is that of the first."""
        slow = self.param_groups[1]
        rate = slow["lr"]
        slow["lr"] = self.factor * rate
        loss = super().step(closure)
        slow["lr"] = rate
        return loss


@torch.no_grad()
def make_copying(lstm: nn.LSTM) -> None:
    """Let an LSTM begin by passing on the first ``HIDDEN`` features of its input.

    The candidate of the memory cell reads this input and no state; the input and output gates are open, and the forget
    gate is closed, so that the cell keeps nothing of the word before. All of this is only where training begins. What
    comes behind these features, in the decoder the context, is read with random weights, as in any other layer.
    """
    inputs, states = (
        w.view(4, HIDDEN, -1) for w in (lstm.get_parameter("weight_ih_l0"), lstm.get_parameter("weight_hh_l0"))
    )
    inputs[2, :, :HIDDEN] = torch.eye(HIDDEN)  # the order is that of i, f, g, o
    states[2] = 0.0
    biases, others = (b.view(4, HIDDEN) for b in (lstm.get_parameter("bias_ih_l0"), lstm.get_parameter("bias_hh_l0")))
    biases[2] = others[2] = 0.0
    biases[0] += OPEN
    biases[1] -= OPEN
    biases[3] += OPEN


class Summed(Controlled):
    """The translator of ``depth_controls``, with copying or frozen layers, or with a matrix on the path around one."""

    def __init__(self, task: Task, recipe: Recipe) -> None:
        super().__init__(task, recipe)
        if recipe.copies:
            for lstm in [*self.encoder.upper, *self.upper]:
                make_copying(lstm)
        self.paths = nn.ModuleDict()
        for stack in ("encoder", "decoder") if recipe.path else ():
            around = [nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(FIRST_RESIDUAL, LAYERS + 1)]
            for matrix in around:
                if recipe.path == "trained":
                    nn.init.eye_(matrix.weight)
                else:
                    nn.init.orthogonal_(matrix.weight).requires_grad_(recipe.path == "trained_rotation")
            self.paths[stack] = nn.ModuleList(around)
        self.alone = recipe.alone
        for parameter in above_lowest(self, recipe.frozen):
            parameter.requires_grad_(False)

    def passed_on(self, x: Tensor, out: Tensor, number: int, stack: str) -> Tensor:
        """As in ``depth_controls``, with the matrix of this layer on the path around it."""
        if not self.paths or number < FIRST_RESIDUAL:
            return super().passed_on(x, out, number, stack)
        matrices = self.paths[stack]
        assert isinstance(matrices, nn.ModuleList)
        around: Tensor = matrices[number - FIRST_RESIDUAL](x)
        return around if self.alone else around + out


def above_lowest(model: Controlled, stack: str) -> list[nn.Parameter]:
    """The parameters of the layers above the lowest in a stack, "encoder" or "decoder", or in "both"; or none."""
    layers = {"encoder": model.encoder.upper, "decoder": model.upper}
    return [weight for name, of_stack in layers.items() if stack in (name, "both") for weight in of_stack.parameters()]


@torch.no_grad()
def put_back(model: Controlled, begun: Mapping[str, Tensor], stack: str) -> dict[str, float]:
    """How far the layers above the lowest have moved, and what is translated when they are put back.

    Returns:
        "moved", the norm of what was added to their weights by the norm of these weights when the training began; and
        "put_back", the exact match with the weights with which the training began in these layers.
    """
    now = dict(model.named_parameters())
    of_stack = {id(weight) for weight in above_lowest(model, stack)}
    above = [name for name, weight in now.items() if id(weight) in of_stack]
    added, first = (
        torch.cat([w.flatten() for w in of])
        for of in ([now[name] - begun[name] for name in above], [begun[name] for name in above])
    )
    for name in above:
        now[name].copy_(begun[name])
    task = depth_controls.task()
    return {
        "moved": round((added.norm() / first.norm()).item(), 3),
        "put_back": round(accuracy(model, task, task.test), 4),
    }


def run(job: Job) -> Outcome:
    """Train a translator; measure signals and gradients before, the top signal and the exact match on the way.

    Where layers learn more slowly, they are then put back to where they began.
    """
    slowed = chosen(RECIPES, job.model).slowed
    return depth_controls.controlled(job, RECIPES, partial(put_back, stack=slowed) if slowed else None)


SETTINGS = {
    "task": "single_numbers(train=800, validation=0, test=200, below=1000)",
    "hidden": HIDDEN,
    **TRAINING,
    "open": OPEN,
    "slowed": TENTH,
}
EXPERIMENT = Experiment("sum_or_start", STEPS, run, SETTINGS)
