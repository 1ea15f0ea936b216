"""A sublayer and a norm with given weights: what a residual connection is tried on."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def _look_at(name: str, x: object, dim: int) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: it takes the tensor x, (B, T, {dim}), got a {type(x).__name__}")
    if x.dim() != 3 or x.shape[-1] != dim:
        raise ValueError(f"{name}: x has shape {tuple(x.shape)}; wanted (B, T, {dim})")


class FakeSublayer:
    """`sublayer(x (B, T, D)) -> (B, T, D)`: tanh(x W), with a look at the mean of all places, as attention has."""

    def __init__(self, table: Tensor):
        self.table = table  # (D, D)

    def __call__(self, x: Tensor) -> Tensor:
        _look_at("sublayer", x, len(self.table))
        return torch.tanh(x @ self.table) + 0.5 * x.mean(dim=1, keepdim=True)  # (B, T, D)

    def transformed(self, change: Callable[[Tensor], Tensor]) -> FakeSublayer:
        """A copy in which `change` was applied to each tensor."""
        return FakeSublayer(change(self.table))

    def size(self) -> int:
        return self.table.numel()

    def __repr__(self) -> str:
        return "a sublayer (B, T, D) -> (B, T, D)"


class FakeNorm:
    """`norm(x (B, T, D)) -> (B, T, D)`: a layer norm. Its eps is large, so that norm(2x) is not norm(x)."""

    def __init__(self, gain: Tensor, bias: Tensor):
        self.gain, self.bias = gain, bias  # (D,), (D,)

    def __call__(self, x: Tensor) -> Tensor:
        _look_at("norm", x, len(self.gain))
        centred = x - x.mean(dim=-1, keepdim=True)  # (B, T, D)
        spread = (centred.square().mean(dim=-1, keepdim=True) + 0.5).sqrt()  # (B, T, 1)
        return self.gain * centred / spread + self.bias

    def transformed(self, change: Callable[[Tensor], Tensor]) -> FakeNorm:
        """A copy in which `change` was applied to each tensor."""
        return FakeNorm(change(self.gain), change(self.bias))

    def size(self) -> int:
        return self.gain.numel() + self.bias.numel()

    def __repr__(self) -> str:
        return "a norm (B, T, D) -> (B, T, D)"
