"""Lab 14: what has been visited is closed, and stays closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from ..engine import values
from ..engine.exercise import Exercise, Property
from ..engine.sandbox import Run


def mask_visited(mask, chosen):
    return mask & (torch.arange(mask.shape[1], device=mask.device) != chosen[:, None])  # (B, N)


def _half_way(draw, batch, places):
    """A mask with some places closed, and one open place a row to be closed next."""
    mask = draw.mask(batch, places, empty_rows=False)
    return mask, draw.uniform(batch, places).masked_fill(~mask, -1.0).argmax(dim=-1)


def _masks(draw):
    if draw.compact:
        yield _half_way(draw, 1, 3)
        yield _half_way(draw, 2, 3)
    batch, places = draw.sizes(2, low=3)
    yield _half_way(draw, batch, places)
    for shape in ((4, 4), (3, 3), (1, 5), (2, 13), (7, 2)):  # square; one row; many places; many rows
        yield _half_way(draw, *shape)
    yield torch.ones(3, 4, dtype=torch.bool), torch.tensor([0, 3, draw.integer(1, 3)])  # nothing visited; both ends
    mask, chosen = _half_way(draw, 3, 5)
    mask[torch.arange(3), chosen] = False
    yield mask, chosen  # visited already
    yield torch.zeros(2, 3, dtype=torch.bool), draw.integers(0, 3, 2)  # all visited
    yield torch.ones(2, 1, dtype=torch.bool), torch.zeros(2, dtype=torch.long)  # one place
    mask, chosen = _half_way(draw, 3, 4)
    yield mask.mT.contiguous().mT, chosen  # batch first in name, not in memory
    for shape in ((1, 70), (2, 200)):  # more than a number has bits
        yield _half_way(draw, *shape)


class ThenWritten(Exercise):
    """The caller writes into its own mask after each call: a result that is no new mask changes with it."""

    def run(self, function: Callable, args: tuple) -> Run:
        done = super().run(function, args)
        after = values.clone(done.after)
        if done.after:
            done.after[0].logical_not_()
        return replace(done, after=after)


MASK_VISITED = ThenWritten(
    mask_visited,
    cases=_masks,
    properties=[
        Property(
            "the chosen place is closed",
            "After a place has been chosen it is closed: False, in this row.",
            lambda result, mask, chosen: not result.bool().gather(1, chosen[:, None]).any(),
        ),
        Property(
            "what was closed stays closed",
            "A place that was closed before is closed afterwards.",
            lambda result, mask, chosen: not (result.bool() & ~mask).any(),
        ),
    ],
)

wrong = MASK_VISITED.mistakes
wrong("written into the mask", "mask[range(len(mask)), chosen] = False\nreturn mask").says("""
    You wrote into `mask` itself. It belongs to the caller, who may still need it: in training, masks of earlier steps
    are used again on the way back. Build a new one: clone it first, or use `&`.""")
wrong("a mask shared by the batch", "mask = mask.clone()\nmask[:, chosen] = False\nreturn mask").says("""
    You closed the chosen places in *every* row. Row b has visited chosen[b] only: `[torch.arange(B), chosen]`.""")
wrong("whole rows closed", "mask = mask.clone()\nmask[chosen] = False\nreturn mask").says("""
    `mask[chosen]` closes whole *rows*: the first index counts the batch. Give both, [torch.arange(B), chosen].""")
wrong("only the chosen place open", {"!=": "=="}).says("""
    You kept the chosen place and closed all others. It is the other way round.""")
wrong("earlier visits forgotten", {"mask & ": ""}).says("""
    You closed this place and opened all others. Places visited before must stay closed: combine with `mask` by `&`.""")
wrong("chosen along the places", {"chosen[:, None]": "chosen"}).says("""
    You compared the places (N,) with `chosen` (B,) as it is: place 0 with row 0's choice, place 1 with row 1's. Each
    row's choice is compared with all places: chosen[:, None].""")
wrong(
    "the old mask handed back",
    "new = mask.scatter(1, chosen[:, None], False)\nreturn mask if torch.equal(new, mask) else new",
).says("""
    Where nothing was left to close you handed back `mask` itself, or something that shares its memory. What the
    caller then writes into the one stands in the other too. Always return a new mask: `&` and `.clone()` make one.""")
