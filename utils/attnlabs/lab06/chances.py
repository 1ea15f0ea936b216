"""The chances with which wrong answers draw positions: what their draws follow instead of the weights."""

from collections.abc import Callable

import torch
from torch import Tensor


def _peak_of_noise(weights: Tensor, steps: int = 4000) -> Tensor:
    """The chance of each position to be the largest of weight times a uniform number."""
    level = (torch.arange(steps, dtype=weights.dtype) + 0.5) / steps  # (S,), of the product, up to 1
    share = (level / weights[..., None].clamp_min(1e-9)).clamp(max=1)  # (…, Tk, S): chance to stay below
    lowest = share.prod(-2, keepdim=True) / share  # (…, Tk, S): that all others do
    density = (level < weights[..., None]) / weights[..., None].clamp_min(1e-9)
    return (lowest * density).mean(-1)


def _counted_by_itself(weights: Tensor) -> Tensor:
    """The chances if each cumulative sum is compared with a random number of its own, and those below it counted."""
    below = 1 - weights.cumsum(-1)  # (…, Tk): the chance that a sum lies below its number
    chances = torch.zeros_like(weights)
    chances[..., 0] = 1.0
    for number in below.clamp(0, 1).unbind(-1):
        chances = chances * (1 - number[..., None]) + chances.roll(1, -1) * number[..., None]
    return chances


def _peak_of_sum(weights: Tensor, steps: int = 4000) -> Tensor:
    """The chance of each position to be the largest of weight plus a uniform number."""
    level = 2 * (torch.arange(steps, dtype=weights.dtype) + 0.5) / steps  # (S,), of the sum, up to 2
    density = ((level > weights[..., None]) & (level < weights[..., None] + 1)).to(weights.dtype)  # (…, Tk, S)
    stays = (level - weights[..., None]).clamp(0, 1)  # (…, Tk, S): the chance to stay below
    lowest = (stays[..., None, :, :] + torch.eye(weights.shape[-1])[..., None]).clamp(max=1).prod(-2)
    return 2 * (lowest * density).mean(-1)


def _peak_of_waits(weights: Tensor, steps: int = 4000) -> Tensor:
    """The chance of each position to be the largest of weight times an exponential number."""
    level = 20 * (torch.arange(steps, dtype=weights.dtype) + 0.5) / steps  # (S,), of the product over the weight
    share = weights[..., :, None] / weights[..., None, :].clamp_min(1e-9)  # (…, Tk, Tk): how much more the others need
    stays = -torch.expm1(-share[..., None] * level) + torch.eye(weights.shape[-1])[..., None]  # (…, Tk, Tk, S)
    return 20 * (stays.clamp(max=1).prod(-2) * (-level).exp()).mean(-1)


def _first_success(weights: Tensor) -> Tensor:
    """The chance of each position to be the first whose own random number lies below its weight; 0 if none does."""
    missed = (1 - weights).cumprod(-1)  # (…, Tk)
    chances = weights * torch.cat([torch.ones_like(missed[..., :1]), missed[..., :-1]], -1)
    chances[..., 0] += missed[..., -1]
    return chances


def _queries_first(weights: Tensor) -> Tensor:
    """The rows of (B, Tq, Tk), read as (Tq, B, Tk) and transposed."""
    batch, queries, positions = weights.shape
    return weights.reshape(queries, batch, positions).transpose(0, 1)


def _first_above(weights: Tensor) -> Tensor:
    """The chance of each position to be the first whose weight is above a random number; position 0 if none is."""
    before = weights.cummax(-1).values.roll(1, -1)
    before[..., 0] = 0.0
    first = (weights - before).clamp(min=0)
    first[..., 0] += 1 - weights.amax(-1)
    return first


# Chances that answers follow instead of the weights.
INSTEAD: dict[str, Callable[[Tensor], Tensor]] = {
    "evenly": lambda weights: torch.full_like(weights, 1 / weights.shape[-1]),
    "evenly where open": lambda weights: (weights > 0) / (weights > 0).sum(-1, keepdim=True),
    "softmax again": lambda weights: weights.softmax(-1),
    "squared": lambda weights: weights**2 / (weights**2).sum(-1, keepdim=True),
    "weight times noise": _peak_of_noise,
    "mirrored": lambda weights: weights.flip(-1),
    "sorted": lambda weights: weights.sort(-1, descending=True).values,
    "one too far": lambda weights: weights.roll(1, -1),
    "the first query's weights": lambda weights: weights[:, :1],
    "the first caption's weights": lambda weights: weights[:1],
    "another query's weights": lambda weights: weights.transpose(0, 1).reshape(weights.shape),
    "the queries in another order": _queries_first,
    "a throw per position": _counted_by_itself,
    "weight plus noise": _peak_of_sum,
    "Gumbel noise negated": _peak_of_waits,
    "one minus the weights": lambda weights: (1 - weights) / (weights.shape[-1] - 1),
    "first success": _first_success,
    "first success of the sums": lambda weights: _first_success(weights.cumsum(-1).clamp(max=1)),
    "the mean of the queries": lambda weights: weights.mean(1, keepdim=True),
    "compared with the weights": _first_above,
}
