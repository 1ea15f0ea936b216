"""Lab 14: what has been visited is closed, and stays closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from ..engine import values
from ..engine.exercise import Exercise, Mistake, Property
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
    mistakes=[
        Mistake(
            "written into the mask",
            "You wrote into `mask` itself. It belongs to the caller, who may still need it: in training, masks of "
            "earlier steps are used again on the way back. Build a new one: clone it first, or use `&`.",
            "mask[torch.arange(len(mask)), chosen] = False\nreturn mask",
        ),
        Mistake(
            "a mask shared by the batch",
            "You closed each chosen place in *every* row (`mask[:, chosen]`). Row b has visited chosen[b] only: give "
            "a row number for each place, `[torch.arange(B), chosen]`.",
            "mask = mask.clone()\nmask[:, chosen] = False\nreturn mask",
        ),
        Mistake(
            "whole rows closed",
            "`mask[chosen] = False` closes whole *rows*: the first index counts the rows of the batch. Give a row and "
            "a place, [torch.arange(B), chosen].",
            "mask = mask.clone()\nmask[chosen] = False\nreturn mask",
        ),
        Mistake(
            "everything closed",
            "You closed all places of all rows. `mask[torch.arange(B)]` alone means whole rows: add the place as a "
            "second index, [torch.arange(B), chosen].",
            "return torch.zeros_like(mask)",
        ),
        Mistake(
            "only row 0 closed",
            "You closed the chosen places in row 0. Row b closes chosen[b].",
            "mask = mask.clone()\nmask[0, chosen] = False\nreturn mask",
        ),
        Mistake(
            "sense reversed",
            "Your mask is True where one has been. In this book True means *may*: what has been visited is False.",
            "return ~(mask & (torch.arange(mask.shape[1], device=mask.device) != chosen[:, None]))",
        ),
        Mistake(
            "only the chosen place open",
            "You kept the chosen place and closed all others. It is the other way round.",
            {"!=": "=="},
        ),
        Mistake(
            "earlier visits forgotten",
            "You closed the place chosen now and opened all the others. Places visited before must stay closed: "
            "combine with `mask` by `&`.",
            {"mask & ": ""},
        ),
        Mistake(
            "or in place of and",
            "You combined by `|`. A place is open when it was open *and* is not the one just chosen.",
            {"mask &": "mask |"},
        ),
        Mistake(
            "opened again",
            "You turned the chosen place over (xor). If it was closed already, that opens it again. Close it whatever "
            "it was before.",
            {"!=": "==", "mask &": "mask ^"},
        ),
        Mistake(
            "all up to the chosen place closed",
            "You closed the chosen place and all before it. Places are numbers in no order of visits: only the "
            "chosen one is closed.",
            {"!=": ">"},
        ),
        Mistake(
            "all from the chosen place on closed",
            "You closed the chosen place and all after it, to the end of the row. Only the chosen one is closed.",
            {"!=": "<"},
        ),
        Mistake(
            "counted from 1",
            "You closed the place before the chosen one, and for place 0 the end of the row (index −1). Places are "
            "counted from 0.",
            "mask = mask.clone()\nmask[torch.arange(len(mask)), chosen - 1] = False\nreturn mask",
        ),
        Mistake(
            "chosen along the places",
            "You compared the places (N,) with `chosen` (B,) as it is: place 0 with row 0's choice, place 1 with row "
            "1's. Each row's choice is compared with all places: chosen[:, None].",
            {"chosen[:, None]": "chosen"},
        ),
        Mistake(
            "nothing closed",
            "You returned the mask as it was. The place that was chosen is closed from now on: False in its row.",
            "return mask.clone()",
        ),
        Mistake(
            "the old mask handed back",
            "Where nothing was left to close you handed back `mask` itself, or something that shares its memory. What "
            "the caller then writes into the one stands in the other too. Always return a new mask: `&` and `.clone()` "
            "make one.",
            "if not mask.gather(1, chosen[:, None]).any():\n    return mask\n"
            "return mask & (torch.arange(mask.shape[1], device=mask.device) != chosen[:, None])",
        ),
    ],
)
