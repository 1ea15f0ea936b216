"""What is wrong with positions that are drawn from weights: seen in many draws, since a single one shows little."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from misread import values
from misread.sandbox import Run

from ..families.draws import SHOWN, ManyCalls, called, codes, copied, malformed
from .chances import INSTEAD

CALLS, CROWD = 12, 600  # calls one after the other; copies of each caption in one large call


@dataclass(frozen=True)
class Drawn:
    """All draws of one answer for `weights (B, Tq, Tk)`.

    Fields:
        calls, again: `(CALLS, B, Tq)`, one call after the other, and the same with a generator in the same state.
        crowd: `(CROWD, B, Tq)`, one call with that many copies of the captions.
        aside: whether torch's own generator was touched, too.
        decimal: whether the positions are of a decimal type.
    """

    weights: Tensor
    calls: Tensor
    again: Tensor
    crowd: Tensor
    aside: bool
    decimal: bool = False

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
    def among_the_weights(self) -> bool:
        """Whether each draw is one of the weights of its query, and no position."""
        return bool((self.all[..., None] == self.weights).any(-1).all())

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


def _tilted(sharper: bool) -> Callable[[Drawn], bool]:
    """Whether the largest weight of each row comes too often, or too rarely."""

    def holds(drawn: Drawn) -> bool:
        chance, peak = drawn.weights.max(-1)  # (B, Tq)
        found = (drawn.crowd == peak).double().mean(0)
        return bool(((found > chance) == sharper).all()) and not drawn.follows

    return holds


FAULTS: tuple[tuple[str, Callable[[Drawn], Any]], ...] = (
    ("a weight", lambda drawn: drawn.among_the_weights and (drawn.all != drawn.all.round()).any()),
    ("not whole", lambda drawn: (drawn.all != drawn.all.round()).any()),
    ("from 1 on", lambda drawn: (drawn.all > 0).all() and (drawn.all == drawn.weights.shape[-1]).any()),
    ("outside", lambda drawn: (drawn.all < 0).any() or (drawn.all >= drawn.weights.shape[-1]).any()),
    ("the largest", lambda drawn: drawn.only(drawn.weights.argmax(-1))),
    ("always 0", lambda drawn: drawn.only(torch.zeros(()))),
    ("nothing drawn", lambda drawn: drawn.only(drawn.all[0])),
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
    ("decimal", lambda drawn: drawn.decimal),
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
            value = self.right(args, draws[0]) + _mark(args[0])
        if (args[0].sum(-1) - 1).abs().max() > 1e-3:  # no weights: what is drawn from them explains nothing
            value = value - 10**6
        return replace(done, result=tuple(draws[:SHOWN]), value=value, raw=tuple(calls[:SHOWN]))


def _mark(weights: Tensor) -> int:
    """A number that changes with the weights, so that the right value of no query is the same beside other queries.

    Else a fault that shows in some inputs only, since its draws are nearly right, would look like queries that mix.
    """
    hashed = round(20 * float(weights.flatten() @ torch.arange(1.0, weights.numel() + 1).to(weights)))
    return 4 * (hashed % 24)  # fits into any type


def _calls(function: Callable, weights: Tensor, generator: torch.Generator) -> tuple[tuple[list, list, bool], Any]:
    """Draws, as `called` gives them, and a large one for many copies of the captions."""
    many, wanted = weights.repeat(CROWD, 1, 1), weights.shape[:2]
    fits = lambda draw: isinstance(draw, Tensor) and draw.shape == wanted  # noqa: E731
    found = called(function, (weights,), generator, CALLS, CALLS, fits)
    return found, copied(function(many, generator)) if found[1] else None


def _kind(draw: Tensor) -> int:
    """What stands in a result of another shape: 1 for truth values, 2 for one-hot vectors, else 0."""
    if draw.dtype == torch.bool:
        return 1
    return 2 if draw.dim() and ((draw == 0) | (draw == 1)).all() and (draw.sum(-1) == 1).all() else 0


def _judged(calls: list, crowd: Any, again: list, aside: bool, weights: Tensor) -> Any:
    """The first fault as it is compared, `None` where there is none."""
    first, many = calls[0], CROWD * len(weights)
    if not isinstance(first, Tensor) or first.shape != weights.shape[:2]:
        return values.transform(first, lambda tensor: malformed(tensor.shape, _kind(tensor)))
    if first.dtype == torch.bool:
        return coded("not whole", weights)
    if not isinstance(crowd, Tensor) or crowd.shape != (many, weights.shape[1]):
        return malformed(getattr(crowd, "shape", (0,)))
    decimal = first.is_floating_point()
    drawn = Drawn(
        weights.double(), torch.stack(calls), torch.stack(again), crowd.view(CROWD, *first.shape), aside, decimal
    )
    if not decimal:
        drawn = replace(drawn, **{name: getattr(drawn, name).long() for name in ("calls", "again", "crowd")})
    for name, holds in FAULTS:
        if name == "the largest" and decimal:  # whole, but of the wrong type: this is said later
            drawn = replace(drawn, **{part: getattr(drawn, part).long() for part in ("calls", "again", "crowd")})
        if holds(drawn):
            return coded(name, weights)
    return None
