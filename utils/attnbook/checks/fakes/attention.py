"""A score and a recurrent cell with given weights: what a decoder step is tried on."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class FakeScore:
    """`score(query (B, Tq, D), key (B, Tk, D)) -> (B, Tq, Tk)`: qᵀ W k, with a kind word for other shapes."""

    def __init__(self, table: Tensor):
        self.table = table  # (D, D)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        for name, tensor in (("query", query), ("key", key)):
            if tensor.dim() != 3 or tensor.shape[2] != len(self.table):
                raise ValueError(
                    f"score: {name} has shape {tuple(tensor.shape)}; wanted (B, T, {len(self.table)}), "
                    "and one query a sentence is (B, 1, D)"
                )
        return query @ self.table @ key.mT  # (B, Tq, Tk)

    def transformed(self, change: Callable[[Tensor], Tensor]) -> FakeScore:
        """A copy in which `change` was applied to each tensor."""
        return FakeScore(change(self.table))

    def size(self) -> int:
        return self.table.numel()

    def __repr__(self) -> str:
        return "a score q · W · k"


class FakeCell:
    """`cell(inputs (B, E + D), state (B, D)) -> (B, D)`: tanh(inputs U + state V)."""

    def __init__(self, from_input: Tensor, from_state: Tensor):
        self.from_input, self.from_state = from_input, from_state  # (E + D, D), (D, D)

    def __call__(self, inputs: Tensor, state: Tensor) -> Tensor:
        for name, tensor, table in (("inputs", inputs, self.from_input), ("state", state, self.from_state)):
            if tensor.dim() != 2 or tensor.shape[1] != len(table):
                raise ValueError(f"cell: {name} has shape {tuple(tensor.shape)}; wanted (B, {len(table)})")
        return torch.tanh(inputs @ self.from_input + state @ self.from_state)  # (B, D)

    def transformed(self, change: Callable[[Tensor], Tensor]) -> FakeCell:
        """A copy in which `change` was applied to each tensor."""
        return FakeCell(change(self.from_input), change(self.from_state))

    def size(self) -> int:
        return self.from_input.numel() + self.from_state.numel()

    def __repr__(self) -> str:
        return "a cell tanh(inputs U + state V)"
