"""A neural Turing machine's parts for lab 13: a controller with known weights, and the orders that it gives."""

import torch
from torch import Tensor

from attnbook.models.ntm_addressing import Address, in_range
from misread.fakes import Fake, check_shape


class FakeMachine(Fake):
    """Everything of a machine but the step, each part one matrix: ``tables`` in the order of the methods."""

    def __init__(self, *tables: Tensor):
        self.tables = tables  # (I + M, D), (D, M + 6), (D, M + 6), (D, 2 · M), (D + M, O)

    def controller(self, x: Tensor, last_read: Tensor) -> Tensor:
        """``x (B, I)`` and what was read last, ``(B, M)`` -> hidden vector ``(B, D)``."""
        inputs, width = len(self.tables[0]) - self._width(), self._width()
        _check("controller", x=(x, inputs), last_read=(last_read, width))
        return (torch.cat([x, last_read], dim=-1) @ self.tables[0]).tanh()

    def read_head(self, hidden: Tensor) -> Address:
        """Hidden vector ``(B, D)`` -> orders for the read head."""
        _check("read_head", hidden=(hidden, len(self.tables[1])))
        return in_range(hidden @ self.tables[1])

    def write_head(self, hidden: Tensor) -> Address:
        """Hidden vector ``(B, D)`` -> orders for the write head."""
        _check("write_head", hidden=(hidden, len(self.tables[2])))
        return in_range(hidden @ self.tables[2])

    def writing(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vector ``(B, D)`` -> what to erase, ``(B, M)`` from 0 to 1, and what to add, ``(B, M)``."""
        _check("writing", hidden=(hidden, len(self.tables[3])))
        erase, add = (hidden @ self.tables[3]).chunk(2, dim=-1)
        return erase.sigmoid(), add

    def output(self, hidden: Tensor, read: Tensor) -> Tensor:
        """Hidden vector ``(B, D)`` and what is read now, ``(B, M)`` -> logits ``(B, O)``."""
        _check("output", hidden=(hidden, len(self.tables[3])), read=(read, self._width()))
        return torch.cat([hidden, read], dim=-1) @ self.tables[4]

    def _width(self) -> int:
        return self.tables[1].shape[1] - 6

    def __repr__(self) -> str:
        width, hidden = self._width(), len(self.tables[1])
        inputs, outputs = len(self.tables[0]) - width, self.tables[4].shape[1]
        return f"a machine ({inputs} inputs, D = {hidden} hidden, M = {width} features a row, {outputs} outputs)"


def _check(part: str, **given: tuple[Tensor, int]) -> None:
    for name, (tensor, features) in given.items():
        check_shape(f"machine.{part}", name, tensor, "B", features)


def fake_machine(draw, inputs: int, hidden: int, width: int, outputs: int) -> FakeMachine:
    """A random machine whose heads are sharp enough that each step of theirs can be seen."""
    sharp = torch.ones(width + 6, dtype=torch.float64)
    sharp[width:] = 3.0  # β, gate, shift and γ far from each other in a batch
    return FakeMachine(
        draw.normal(inputs + width, hidden), draw.normal(hidden, width + 6) * sharp,
        draw.normal(hidden, width + 6) * sharp, draw.normal(hidden, 2 * width), draw.normal(hidden + width, outputs),
    )  # fmt: skip


def loud_machine(
    draw, inputs: int, hidden: int, width: int, outputs: int, beta: float = 0.0, gamma: float = 0.0,
) -> FakeMachine:  # fmt: skip
    """A machine that adds to β and γ of both heads, before they are brought into range.

    The first hidden feature does it, which is nearly 1 where the first input is at least 1.
    """
    tables = fake_machine(draw, inputs, hidden, width, outputs).tables
    tables[0][:, 0] = 0.0
    tables[0][0, 0] = 3.0
    for head in tables[1:3]:
        head[0, width] += beta
        head[0, -1] += gamma
    return FakeMachine(*tables)
