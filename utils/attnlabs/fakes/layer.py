"""Layers with given weights: what a stack of them, and a bidirectional layer, are tried on."""

import torch
from torch import Tensor

from misread.fakes import Fake, check_shape


class FakeLayer(Fake):
    """`layer(inputs (B, T, E)) -> (B, T, D)`: h_t = tanh(x_t U + h_{t−1} V + b), from left to right, h_0 = 0."""

    words = "a layer that reads from left to right"

    def __init__(self, from_input: Tensor, from_state: Tensor, bias: Tensor, hint: str):
        self.from_input, self.from_state, self.bias = from_input, from_state, bias  # (E, D), (D, D), (D,)
        self.hint = hint

    def __call__(self, inputs: Tensor) -> Tensor:
        check_shape("layer", "its input", inputs, "B", "T", len(self.from_input), hint=self.hint)
        states = [inputs.new_zeros(len(inputs), len(self.from_state))]  # (B, D)
        for x in (inputs @ self.from_input + self.bias).unbind(dim=1):  # zeros at padding change the state, too
            states.append(torch.tanh(x + states[-1] @ self.from_state))
        return torch.stack(states[1:], dim=1)  # (B, T, D)


def fake_layer(draw, inputs: int, outputs: int, hint: str = "") -> FakeLayer:
    """A random layer; `hint` is what it adds to its complaint about an input of another shape."""
    return FakeLayer(draw.normal(inputs, outputs), draw.normal(outputs, outputs), draw.normal(outputs), hint)
