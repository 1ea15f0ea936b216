"""When full steps spoil a stack of near copies: in the first half of a training, or in the second (chapter 05).

Task, wiring, copies and training are those of ``sum_or_start``, where copies learn to translate if the layers above the
lowest take a tenth of the rate ("copies_slowed"), and translate nothing at the full rate ("copies"). Here these layers
take the tenth in one half of the steps only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from attnruns.experiments import depth_controls, sum_or_start
from attnruns.experiments.depth_controls import STEPS_EACH, Controlled
from attnruns.experiments.sum_or_start import TENTH, TwoRates, above_lowest
from attnruns.shared.runner import Experiment, Job, Outcome

HALF = STEPS_EACH // 2
HALVES = ("first", "second")


@dataclass(frozen=True)
class Recipe(sum_or_start.Recipe):
    """What is chosen about a translator.

    Fields:
        half: in which half of the steps the layers above the lowest learn at a tenth of the rate, "first" or "second".

    Raises:
        ValueError: if there is no such half.
    """

    half: str = "first"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.half not in HALVES:
            raise ValueError(f"half is {self.half!r}; it must be one of {', '.join(map(repr, HALVES))}")

    def optimiser_of(self, model: Controlled) -> Callable[..., torch.optim.Optimizer]:
        """What makes the optimiser of the parameters of such a translator."""
        factors = (TENTH, 1.0) if self.half == "first" else (1.0, TENTH)
        return partial(Switched, slow=above_lowest(model, "both"), factors=factors, after=HALF)


RECIPES = {f"copies_{half}_slowed": Recipe(copies=True, half=half) for half in HALVES}
STEPS = dict.fromkeys(RECIPES, STEPS_EACH)


class Switched(TwoRates):
    """AdamW, in which some parameters learn at one part of the rate at first, and at another part later.

    Args:
        slow: these parameters. factors: their rate by that of the others, before and after. after: so many steps.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], slow: Iterable[nn.Parameter], factors: tuple[float, float], after: int
    ) -> None:
        super().__init__(parameters, slow, factors[0])
        self.factors, self.after, self.taken = factors, after, 0

    def step(self, closure: Any = None) -> Any:
        """One step."""
        self.factor = self.factors[self.taken >= self.after]
        self.taken += 1
        return super().step(closure)


def run(job: Job) -> Outcome:
    """Train a translator; measure signals and gradients before, the top signal and the exact match on the way."""
    return depth_controls.controlled(job, RECIPES)


EXPERIMENT = Experiment("slowed_in_half", STEPS, run, sum_or_start.SETTINGS | {"half": HALF})
