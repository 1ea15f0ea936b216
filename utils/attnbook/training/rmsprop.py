"""RMSProp in the form of Graves 2013, which the paper of the neural Turing machine names; torch has another one."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


class GravesRMSprop(torch.optim.Optimizer):
    """Divide each gradient by how much it varies, and go on in the direction of the steps before.

    With g the gradient: n and m are running means of g² and of g, and each step is
    Δ = momentum · Δ − learning rate · g / √(n − m² + damping). Two things differ from ``torch.optim.RMSprop``: the
    damping stands inside the root, so that √damping = 0.01 is the least that a gradient is divided by; and the
    momentum keeps steps, not gradients, so that a new learning rate does not change what is under way.

    Args:
        params: to be trained; lr: the learning rate; decay, momentum, damping: ℵ, ℶ and the last constant there.

    Source: Graves 2013, equations 38 to 41 (0.95, 0.9, 0.0001 each for learning rate and damping).
    """

    def __init__(
        self, params: Iterable[nn.Parameter], lr: float = 1e-4, decay: float = 0.95, momentum: float = 0.9,
        damping: float = 1e-4,
    ) -> None:  # fmt: skip
        super().__init__(params, {"lr": lr, "decay": decay, "momentum": momentum, "damping": damping})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Take one step. Parameters without a gradient stay as they are."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)

    def _move(self, parameter: nn.Parameter, gradient: Tensor, group: dict) -> None:
        state = self.state[parameter]
        if not state:
            state |= {name: torch.zeros_like(parameter) for name in ("squares", "means", "move")}
        state["squares"].lerp_(gradient * gradient, 1 - group["decay"])
        state["means"].lerp_(gradient, 1 - group["decay"])
        spread = (state["squares"] - state["means"].square()).add_(group["damping"]).sqrt_()
        state["move"].mul_(group["momentum"]).addcdiv_(gradient, spread, value=-group["lr"])
        parameter.add_(state["move"])
