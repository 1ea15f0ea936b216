"""What is wrong with positions that are drawn from weights: seen in many draws, since a single one shows little."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from misread import values
from misread.sandbox import Run

from ..families.draws import MALFORMED, SHOWN, ManyCalls, called, codes, copied

CALLS, CROWD = 12, 600  # calls one after the other; copies of each caption in one large call


@dataclass(frozen=True)
class Drawn:
    """All draws of one answer for `weights (B, Tq, Tk)`.

    Fields:
        calls, again: `(CALLS, B, Tq)`, one call after the other, and the same with a generator in the same state.
        crowd: `(CROWD, B, Tq)`, one call with that many copies of the captions.
        aside: whether torch's own generator was touched, too.
    """

    weights: Tensor
    calls: Tensor
    again: Tensor
    crowd: Tensor
    aside: bool

    @property
    def all(self) -> Tensor:
        return torch.cat([self.calls, self.crowd])

    def only(self, position: Tensor) -> bool:
        return bool((self.all == position).all())

    @cached_property
    def counts(self) -> Tensor:
        """How many of the crowd drew each position `(B, Tq, Tk)`."""
        return torch.nn.functional.one_hot(self.crowd, self.weights.shape[-1]).sum(0)

    def excess(self, chances: Tensor) -> float:
        """How far the draws are from `chances (B, Tq, Tk)`: chi-square less what right answers hardly ever exceed."""
        chances = chances.expand_as(self.weights)
        wanted, possible = CROWD * chances, chances > 0
        if (self.counts[~possible] > 0).any():
            return float("inf")
        square = ((self.counts - wanted) ** 2 / wanted)[possible].sum()
        freedom = possible.sum() - possible.any(-1).sum()
        return float(square - freedom - 6 * (2 * freedom) ** 0.5 - 28)  # above 0 in one check of 10⁹

    @cached_property
    def follows(self) -> bool:
        """Whether the draws could come from the weights."""
        return self.excess(self.weights) <= 0

    @cached_property
    def other(self) -> str:
        """What the draws follow instead of the weights: the nearest of `INSTEAD`; empty where nothing fits."""
        if self.follows:
            return ""
        excess = {name: self.excess(chances(self.weights)) for name, chances in INSTEAD.items()}
        nearest = min(excess, key=excess.__getitem__)
        return nearest if excess[nearest] <= 0 else ""

    @cached_property
    def tied(self) -> bool:
        """Whether a draw says something about another one: of another query, or of the next copy of the captions."""
        chances = self.weights.flatten(0, 1)  # (Q, Tk), Q = B · Tq
        kinds = torch.nn.functional.one_hot(self.crowd.flatten(1), chances.shape[-1]).to(chances.dtype)  # (N, Q, Tk)
        alike = torch.eye(len(chances), dtype=torch.bool)[:, None, :, None]  # a query with itself
        wanted = torch.einsum("qi,rj->qirj", chances, chances)
        queries = torch.einsum("nqi,nrj->qirj", kinds, kinds)
        copies = torch.einsum("nqi,nrj->qirj", kinds[::2], kinds[1::2])
        return _too_far(queries, CROWD * wanted * ~alike) or _too_far(copies, CROWD / 2 * wanted)

    def as_one(self, rows: Tensor) -> bool:
        """Whether all copies of a caption (or of a query) always drew the same position."""
        return rows.shape[0] > 1 and bool((rows == rows[:1]).all())

    @property
    def frozen(self) -> bool:
        """Whether each call drew the same; not because the draws are sharper than the weights."""
        return self.as_one(self.calls) and (self.follows or self.as_one(self.crowd))

    @property
    def copies_agree(self) -> bool:
        return self.as_one(self.crowd)

    @property
    def queries_agree(self) -> bool:
        """True where the queries of a caption have the same weights, and always draw the same."""
        alike = (self.weights == self.weights[:, :1]).all()
        return bool(alike) and self.as_one(self.all.movedim(-1, 0))

    @property
    def never_alike(self) -> bool:
        """Whether no two queries of a caption ever draw the same position."""
        ordered = self.crowd.sort(-1).values
        return ordered.shape[-1] > 1 and not (ordered.diff() == 0).any()

    @property
    def missing(self) -> bool:
        """Whether a position with a weight of 0.1 or more never comes."""
        found = torch.nn.functional.one_hot(self.crowd, self.weights.shape[-1]).sum(0)
        return bool(((found == 0) & (self.weights >= 0.1)).any())


def _too_far(found: Tensor, wanted: Tensor) -> bool:
    """Whether a pair of queries, `(Q, Tk, Q, Tk)`, has counts that two independent draws hardly ever have."""
    likely = wanted >= 10  # in rarer cells a few counts more or less would decide
    square = torch.where(likely, (found - wanted) ** 2 / wanted.clamp_min(1), 0.0).sum((1, 3))  # (Q, Q)
    freedom = likely.sum((1, 3))
    return bool((square > freedom + 6 * (2 * freedom) ** 0.5 + 28).any())


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
    "the mean of the queries": lambda weights: weights.mean(1, keepdim=True),
    "compared with the weights": _first_above,
}


def _tilted(sharper: bool) -> Callable[[Drawn], bool]:
    """Whether the largest weight of each row comes too often, or too rarely."""

    def holds(drawn: Drawn) -> bool:
        chance, peak = drawn.weights.max(-1)  # (B, Tq)
        found = (drawn.crowd == peak).double().mean(0)
        return bool(((found > chance) == sharper).all()) and not drawn.follows

    return holds


FAULTS: tuple[tuple[str, Callable[[Drawn], Any]], ...] = (
    ("not whole", lambda drawn: (drawn.all != drawn.all.round()).any()),
    ("from 1 on", lambda drawn: (drawn.all > 0).all() and (drawn.all == drawn.weights.shape[-1]).any()),
    ("outside", lambda drawn: (drawn.all < 0).any() or (drawn.all >= drawn.weights.shape[-1]).any()),
    ("the largest", lambda drawn: drawn.only(drawn.weights.argmax(-1))),
    ("the same in each call", lambda drawn: drawn.frozen),
    ("generator unused", lambda drawn: not torch.equal(drawn.calls, drawn.again)),
    ("one throw for all", lambda drawn: drawn.copies_agree and drawn.queries_agree),
    ("one throw per query", lambda drawn: drawn.copies_agree),
    ("one throw per caption", lambda drawn: drawn.queries_agree),
    ("never alike", lambda drawn: drawn.never_alike),
    *((name, lambda drawn, name=name: drawn.other == name) for name in INSTEAD),
    ("never", lambda drawn: drawn.missing),
    ("too sharp", _tilted(True)),
    ("too even", _tilted(False)),
    (
        "closed",
        lambda drawn: (drawn.weights.expand(len(drawn.all), -1, -1, -1).gather(-1, drawn.all[..., None]) == 0).any(),
    ),
    ("uneven", lambda drawn: not drawn.follows),
    ("tied", lambda drawn: drawn.tied),
    ("torch's own, too", lambda drawn: drawn.aside),
)
CODES = codes(FAULTS)


def coded(fault: str, weights: Tensor) -> Tensor:
    """A fault in the form in which it is compared, `(B, Tq)`: no numbers that a look at results would explain."""
    batch, queries, positions = weights.shape
    return CODES[fault] - 10_000 * positions - torch.arange(batch * queries).view(batch, queries)


class ManyLocations(ManyCalls):
    """Positions are drawn in some calls one after the other, and in one call for many copies of the captions."""

    def run(self, function: Callable, args: tuple) -> Run:
        done = super().run(partial(_calls, function), args)
        if done.failure is not None:
            return done
        (calls, again, aside), crowd = done.raw
        if calls[0] is None:
            return replace(done, result=None, value=None, raw=None)
        draws = [values.plain(draw) for draw in calls]
        value = _judged(draws, crowd, again, aside, args[0])
        if value is None:
            value = self.right(args, draws[0])
        if (args[0].sum(-1) - 1).abs().max() > 1e-3:  # no weights: what is drawn from them explains nothing
            value = value - 10**6
        return replace(done, result=tuple(draws[:SHOWN]), value=value, raw=tuple(calls[:SHOWN]))


def _calls(function: Callable, weights: Tensor, generator: torch.Generator) -> tuple[tuple[list, list, bool], Any]:
    """Draws, as `called` gives them, and a large one for many copies of the captions."""
    many, wanted = weights.repeat(CROWD, 1, 1), weights.shape[:2]
    fits = lambda draw: isinstance(draw, Tensor) and draw.shape == wanted  # noqa: E731
    found = called(function, (weights,), generator, CALLS, CALLS, fits)
    return found, copied(function(many, generator)) if found[1] else None


def _judged(calls: list, crowd: Any, again: list, aside: bool, weights: Tensor) -> Any:
    """The first fault as it is compared, `None` where there is none."""
    first, many = calls[0], CROWD * len(weights)
    if not isinstance(first, Tensor) or first.dtype == torch.bool or first.shape != weights.shape[:2]:
        return values.transform(first, lambda tensor: torch.full_like(tensor, MALFORMED))
    if not isinstance(crowd, Tensor) or crowd.shape != (many, weights.shape[1]):
        return torch.full(getattr(crowd, "shape", (0,)), MALFORMED)
    drawn = Drawn(weights.double(), torch.stack(calls), torch.stack(again), crowd.view(CROWD, *first.shape), aside)
    if not first.is_floating_point():
        drawn = replace(drawn, **{name: getattr(drawn, name).long() for name in ("calls", "again", "crowd")})
    for name, holds in FAULTS:
        if name == "the largest" and first.is_floating_point():  # whole, but of the wrong type: this is said later
            drawn = replace(drawn, **{part: getattr(drawn, part).long() for part in ("calls", "again", "crowd")})
        if holds(drawn):
            return coded(name, weights)
    return None
