"""A score and a recurrent cell with given weights: what a decoder step is tried on."""

import torch
from torch import Tensor

from misread.fakes import Fake, check_shape


class FakeScore(Fake):
    """`score(query (B, Tq, D), key (B, Tk, D)) -> (B, Tq, Tk)`: qᵀ W k, with a kind word for other shapes."""

    words = "a score q · W · k"

    def __init__(self, table: Tensor):
        self.table = table  # (D, D)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        for name, tensor in (("query", query), ("key", key)):
            hint = ", and one query per sentence is (B, 1, D)"
            check_shape("score", name, tensor, "B", "T", len(self.table), hint=hint)
        return query @ self.table @ key.mT  # (B, Tq, Tk)


class FakeCell(Fake):
    """`cell(inputs (B, E + A), state (B, D)) -> (B, D)`: tanh(inputs U + state V).

    A wrong input is told what it consists of: the word vector, and what is `beside` it.
    """

    words = "a cell tanh(inputs U + state V)"

    def __init__(self, from_input: Tensor, from_state: Tensor, beside: str = "the context"):
        self.from_input, self.from_state = from_input, from_state  # (E + A, D), (D, D)
        self.beside = beside

    def __call__(self, inputs: Tensor, state: Tensor) -> Tensor:
        for name, tensor, table in (("inputs", inputs, self.from_input), ("state", state, self.from_state)):
            hint = f", the word vector and {self.beside} side by side" if name == "inputs" else ""
            check_shape("cell", name, tensor, "B", len(table), hint=hint)
        return torch.tanh(inputs @ self.from_input + state @ self.from_state)  # (B, D)
