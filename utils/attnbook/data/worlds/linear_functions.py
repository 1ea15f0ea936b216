"""Linear functions as sequences, one new function per sequence, and rules that predict the next value (chapter 15)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.seeding import generator
from attnbook.trees import moved

DIM, LENGTH, NOISE = 4, 16, 0.2
Rule = Callable[["LinearSequences"], Tensor]  # predictions (B, T), of which that at t knows t examples


class LinearSequences(NamedTuple):
    """Points and noisy values of a linear function per sequence.

    Fields:
        inputs: ``(B, T, D + 1)``: the point of each step, and the noisy value of the step *before*.
        points: ``(B, T, D)``.
        values: ``(B, T)``, with noise: what a network is trained to predict.
        true: ``(B, T)``, without noise: what predictions are measured with.
    """

    inputs: Tensor
    points: Tensor
    values: Tensor
    true: Tensor

    def to(self, device: torch.device | str) -> "LinearSequences":
        """The same batch on another device."""
        return moved(self, device)


def linear_functions(
    count: int, seed: int = 0, length: int = LENGTH, dim: int = DIM, noise: float = NOISE, scale: float = 1.0
) -> LinearSequences:
    """``count`` sequences, each with weights of its own, whose values have the variance 1 (plus that of the noise).

    Args:
        noise: standard deviation of what is added to each value that is shown.
        scale: the points are stretched by it, and with them the values.

    Raises:
        ValueError: if ``count``, ``length`` or ``dim`` is not positive, or ``noise`` is negative.

    Source: Garg et al. 2022, section 3; the noise is that of their section 4.
    """
    if min(count, length, dim) < 1 or noise < 0:
        wanted = "count, length and dim must be at least 1 and noise at least 0"
        raise ValueError(f"{wanted}; got {count}, {length}, {dim} and {noise}")
    draw = generator(seed)
    weights = torch.randn(count, dim, 1, generator=draw) / dim**0.5  # (B, D, 1)
    points = scale * torch.randn(count, length, dim, generator=draw)  # (B, T, D)
    true = (points @ weights)[..., 0]  # (B, T)
    values = true + noise * torch.randn(true.shape, generator=draw)
    before = F.pad(values[:, :-1], (1, 0))  # (B, T)
    return LinearSequences(torch.cat([points, before[..., None]], dim=-1), points, values, true)


# ---- rules without training; each predicts the value of step t from the t examples before it


def predict_zero(batch: LinearSequences) -> Tensor:
    """Always 0, the mean of all functions."""
    return torch.zeros_like(batch.values)


def nearest_neighbour(batch: LinearSequences) -> Tensor:
    """The value of the nearest point so far; 0 for the first."""
    apart = torch.cdist(batch.points, batch.points)  # (B, T, T)
    future = torch.ones_like(apart[0], dtype=torch.bool).triu()
    nearest = apart.masked_fill(future, torch.inf).argmin(dim=-1)  # (B, T)
    return F.pad(batch.values.gather(1, nearest)[:, 1:], (1, 0))


def softmax_neighbours(beta: float) -> Rule:
    """Attention over the examples with the score −β/2 · squared distance (Nadaraya 1964; Watson 1964); 0 at first."""

    def rule(batch: LinearSequences) -> Tensor:
        scores = -beta / 2 * torch.cdist(batch.points, batch.points).square()  # (B, T, T)
        future = torch.ones_like(scores[0], dtype=torch.bool).triu()
        weights = scores.masked_fill(future, -torch.inf)[:, 1:].softmax(dim=-1)  # (B, T − 1, T)
        return F.pad((weights @ batch.values[..., None])[..., 0], (1, 0))  # (B, T)

    return rule


def least_squares(batch: LinearSequences) -> Tensor:
    """The line of least squares; with fewer examples than features, the one with the smallest weights."""
    return _fitted(batch, lambda points, values: torch.linalg.pinv(points) @ values)


def ridge(penalty: float) -> Rule:
    """Least squares plus ``penalty`` times the squared weights; ``noise² · D`` makes it the best possible rule here."""

    def fit(points: Tensor, values: Tensor) -> Tensor:
        square = points.mT @ points + penalty * torch.eye(points.shape[-1], dtype=points.dtype)
        return torch.linalg.solve(square, points.mT @ values)

    return lambda batch: _fitted(batch, fit)


def _fitted(batch: LinearSequences, fit: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    points, values = batch.points.cpu().double(), batch.values.cpu().double()  # Apple's chips have no float64
    predictions = torch.zeros_like(values)
    for t in range(1, points.shape[1]):
        weights = fit(points[:, :t], values[:, :t, None])  # (B, D, 1)
        predictions[:, t] = (points[:, t, None] @ weights)[:, 0, 0]
    return predictions.to(batch.values.device, batch.values.dtype)
