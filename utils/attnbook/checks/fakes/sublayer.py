"""A sublayer and a norm with given weights: what a residual connection is tried on."""

from __future__ import annotations

import torch
from torch import Tensor

from .base import Fake


def _look_at(name: str, x: object, dim: int) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: it takes the tensor x, (B, T, {dim}), got a {type(x).__name__}")
    if x.dim() != 3 or x.shape[-1] != dim:
        raise ValueError(f"{name}: x has shape {tuple(x.shape)}; wanted (B, T, {dim})")


class FakeSublayer(Fake):
    """`sublayer(x (B, T, D)) -> (B, T, D)`: tanh(x W), with a look at the mean of all places, as attention has."""

    words = "a sublayer (B, T, D) -> (B, T, D)"

    def __init__(self, table: Tensor):
        self.table = table  # (D, D)

    def __call__(self, x: Tensor) -> Tensor:
        _look_at("sublayer", x, len(self.table))
        return torch.tanh(x @ self.table) + 0.5 * x.mean(dim=1, keepdim=True)  # (B, T, D)


class FakeNorm(Fake):
    """`norm(x (B, T, D)) -> (B, T, D)`: a layer norm. Its eps is large, so that norm(2x) is not norm(x)."""

    words = "a norm (B, T, D) -> (B, T, D)"

    def __init__(self, gain: Tensor, bias: Tensor):
        self.gain, self.bias = gain, bias  # (D,), (D,)

    def __call__(self, x: Tensor) -> Tensor:
        _look_at("norm", x, len(self.gain))
        centred = x - x.mean(dim=-1, keepdim=True)  # (B, T, D)
        spread = (centred.square().mean(dim=-1, keepdim=True) + 0.5).sqrt()  # (B, T, 1)
        return self.gain * centred / spread + self.bias
