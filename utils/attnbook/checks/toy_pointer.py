"""A pointer without weights: its scores depend on which point it reads, and on how many it has read."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class ToyPointer:
    """`pointer(point (B, P), state (B, 2)) -> (scores (B, N), state (B, 2))`, for some or all rows.

    The scores after reading place n of row b in step t are `table[b, n] + drift[b, t]`; after reading something that is
    no point of the row, those of `table[b, N]`. It knows nothing of what has been visited. The state holds each row's
    number and its step, so any rows may be stepped together.
    """

    def __init__(self, points: Tensor, table: Tensor, drift: Tensor):
        self.points, self.table, self.drift = points, table, drift  # (B, N, P), (B, N + 1, N), (B, N, N)

    def __call__(self, point: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        self._look_at(point, state)
        row, step = state.long().unbind(1)  # (B,), (B,)
        away = (self.points[row] - point[:, None]).abs().sum(dim=-1)  # (B, N)
        size = self.points.shape[1]
        place = torch.where(away.amin(dim=1) < 1e-4, away.argmin(dim=1), size)  # (B,)
        scores = self.table[row, place] + self.drift[row, step.clamp(max=size - 1)]  # (B, N)
        return scores, torch.stack([state[:, 0], state[:, 1] + 1], dim=1)

    def _look_at(self, point: Tensor, state: Tensor) -> None:
        came, features = tuple(state.shape), self.points.shape[2]
        if len(came) != 2 or came[1] != 2:
            raise ValueError(f"step: state has shape {came}; give back the state that step returned")
        if tuple(point.shape) != (came[0], features):
            raise ValueError(
                f"step: point has shape {tuple(point.shape)}; wanted {(came[0], features)}, the chosen point of each "
                "row itself, not its number"
            )
        if not point.is_floating_point():
            raise TypeError(f"step: point is {point.dtype}; a point is real numbers, not the number of a place")
        if point.device != state.device:
            raise RuntimeError(f"step: point on {point.device} is not on the expected device {state.device}")

    def start(self) -> Tensor:
        """The state `(B, 2)` before anything was read."""
        rows = torch.arange(len(self.points), dtype=self.table.dtype)
        return torch.stack([rows, torch.zeros_like(rows)], dim=1)  # (B, 2)

    def transformed(self, change: Callable[[Tensor], Tensor]) -> ToyPointer:
        """A copy in which `change` was applied to each tensor."""
        return ToyPointer(change(self.points), change(self.table), change(self.drift))

    def size(self) -> int:
        return self.points.numel()

    def __repr__(self) -> str:
        batch, places, features = self.points.shape
        return f"a pointer (for B = {batch} rows of N = {places} points with P = {features})"


def toy_pointer(
    draw, batch: int, places: int, features: int, first: Tensor, scale: float = 1.0, shift: float = 0.0
) -> ToyPointer:
    """A random pointer that would like to go to `first (B,)` again, and to stay where it is.

    Its scores lie about `shift`, some `scale` apart.
    """
    table = draw.normal(batch, places + 1, places)
    table[:, :places] += 1.5 * torch.eye(places, dtype=table.dtype)
    table[torch.arange(batch), :, first] += 1.5
    drift = draw.normal(batch, places, places)
    return ToyPointer(draw.normal(batch, places, features), scale * table + shift, scale * drift)
