"""A sublayer and a norm with given weights: what a residual connection is tried on."""

import torch
from torch import Tensor

from misread.fakes import Fake, check_shape


class FakeSublayer(Fake):
    """`sublayer(x (B, T, D)) -> (B, T, D)`: tanh(x W), plus the mean of all positions, as attention has."""

    words = "a function from (B, T, D) to (B, T, D)"

    def __init__(self, table: Tensor):
        self.table = table  # (D, D)

    def __call__(self, x: Tensor) -> Tensor:
        check_shape("sublayer", "x", x, "B", "T", len(self.table))
        return torch.tanh(x @ self.table) + 0.5 * x.mean(dim=1, keepdim=True)  # (B, T, D)


class FakeNorm(Fake):
    """`norm(x (B, T, D)) -> (B, T, D)`: a layer norm. Its eps is large, so that norm(2x) is not norm(x)."""

    words = "a layer norm with its own gain and bias, from (B, T, D) to (B, T, D)"

    def __init__(self, gain: Tensor, bias: Tensor):
        self.gain, self.bias = gain, bias  # (D,), (D,)

    def __call__(self, x: Tensor) -> Tensor:
        check_shape("norm", "x", x, "B", "T", len(self.gain))
        centred = x - x.mean(dim=-1, keepdim=True)  # (B, T, D)
        spread = (centred.square().mean(dim=-1, keepdim=True) + 0.5).sqrt()  # (B, T, 1)
        return self.gain * centred / spread + self.bias
