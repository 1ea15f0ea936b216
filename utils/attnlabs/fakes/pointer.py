"""A pointer without weights: its scores depend on which point it reads, and on how many it has read."""

from typing import Any

import torch
from torch import Tensor

from misread.fakes import Fake, check_device, check_shape


class FakePointer(Fake):
    """`pointer(point (B, P), state (B, 2)) -> (scores (B, N), state (B, 2))`, for some or all rows.

    The scores after reading position n of row b in step t are `table[b, n] + drift[b, t]`; after reading something
    that is no point of the row, those of `table[b, N]`. (Of two equal points it sees the first.) It knows nothing of
    what has been visited. The state holds each row's number and its step, so any rows may be stepped together.
    """

    def __init__(self, points: Tensor, table: Tensor, drift: Tensor):
        self.points, self.table, self.drift = points, table, drift  # (B, N, P), (B, N + 1, N), (B, N, N)

    def __call__(self, point: Tensor, state: Any) -> tuple[Tensor, Any]:
        row, step = self._row_and_step(point, state)
        self._check(point, len(row))
        return self.scores(point, row, step), self.start(row, step + 1)

    def scores(self, point: Tensor, row: Tensor, step: Tensor) -> Tensor:
        """`(rows, N)`, for the rows `row` in their steps `step`."""
        same = (self.points[row] == point[:, None]).all(dim=-1)  # (B, N)
        size = self.points.shape[1]
        at = torch.where(same.any(dim=1), same.int().argmax(dim=1), size)  # (B,)
        return self.table[row, at] + self.drift[row, step.clamp(max=size - 1)]  # (B, N)

    def _row_and_step(self, point: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        """Which rows are asked, and how much each of them has read."""
        check_shape("step", "state", state, "B", 2, hint="; give back the state that step returned")
        return state.long().unbind(1)

    def _check(self, point: Tensor, rows: int) -> None:
        hint = ", the chosen point of each row itself, not its number"
        if point.dim() > 2:
            hint = ", one point for each row: points[rows, chosen], with rows = torch.arange(B), not points[:, chosen]"
        check_shape("step", "point", point, rows, self.points.shape[2], hint=hint)
        if not point.is_floating_point():
            raise TypeError(f"step: point is {point.dtype}; a point is real numbers, not the number of a position")
        if point.dtype != self.points.dtype:
            raise TypeError(f"step: point is {point.dtype}, and the points are {self.points.dtype}; give it as it is")
        check_device("step", "point", point, self.points)

    def start(self, row: Tensor | None = None, step: Tensor | None = None) -> Any:
        """The state `(B, 2)` before anything was read, or of some rows in some step."""
        row = torch.arange(len(self.points), device=self.points.device) if row is None else row
        return torch.stack([row, torch.zeros_like(row) if step is None else step], dim=1).to(self.table.dtype)

    def size(self) -> int:
        return self.points.numel()

    def __repr__(self) -> str:
        batch, places, features = self.points.shape
        return f"a pointer (for B = {batch} rows of N = {places} points with P = {features})"


class PairPointer(FakePointer):
    """Its state is a tuple of two tensors `(B,)`, as that of an LSTM is one."""

    def _row_and_step(self, point, state):
        if not isinstance(state, tuple) or len(state) != 2:
            raise TypeError("step: the state was a tuple of two tensors; give back the state that step returned")
        return state[0].long(), state[1].long()

    def start(self, row=None, step=None):
        return tuple(part.contiguous() for part in super().start(row, step).unbind(1))


class ForgetfulPointer(FakePointer):
    """It needs no state, which is None, and answers for all B rows at once."""

    def _row_and_step(self, point, state):
        if state is not None:
            raise TypeError("step: the state was None; give back the state that step returned")
        row = torch.arange(len(self.points), device=self.points.device)
        return row, torch.zeros_like(row)

    def start(self, row=None, step=None):
        return None


class EchoPointer(FakePointer):
    """Its state is the scores themselves: the same tensor `(B, N)` twice. They echo in the scores of the next step."""

    def __call__(self, point, state):
        check_shape("step", "state", state, *self.points.shape[:2], hint="; give back the state that step returned")
        self._check(point, len(state))
        row = torch.arange(len(state), device=state.device)
        scores = self.scores(point, row, torch.zeros_like(row)) + 0.5 * state.roll(1, dims=1)
        return scores, scores

    def start(self, row=None, step=None):
        return self.table[:, -1].clone()


def fake_pointer(
    draw,
    batch: int,
    places: int,
    features: int,
    first: Tensor,
    scale: float = 1.0,
    shift: float = 0.0,
    kind: type[FakePointer] = FakePointer,
) -> FakePointer:
    """A random pointer that would like to go to `first (B,)` again, and to stay where it is.

    Its scores lie about `shift`, some `scale` apart.
    """
    table = draw.normal(batch, places + 1, places)
    table[:, :places] += 1.5 * torch.eye(places, dtype=table.dtype)
    table[torch.arange(batch), :, first] += 1.5
    drift = draw.normal(batch, places, places)
    return kind(draw.normal(batch, places, features), scale * table + shift, scale * drift)
