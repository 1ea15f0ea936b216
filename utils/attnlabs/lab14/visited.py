"""Lab 14: what has been visited is closed, and stays closed."""

from collections.abc import Callable
from dataclasses import replace

import torch

from misread import values
from misread.exercise import About, Exercise
from misread.sandbox import Run


def mask_visited(mask, chosen):
    """Close the chosen position (B,) of each row: a new mask (B, N)."""
    return mask & (torch.arange(mask.shape[1], device=mask.device) != chosen[:, None])  # (B, N)


def _half_way(draw, batch, positions):
    """A mask with some positions closed, and one open position per row to be closed next."""
    mask = draw.mask(batch, positions, empty_rows=False)
    return mask, draw.uniform(batch, positions).masked_fill(~mask, -1.0).argmax(dim=-1)


def _masks(draw):
    if draw.compact:
        yield torch.ones(1, 3, dtype=torch.bool), draw.integers(0, 3, 1)
        yield torch.ones(2, 3, dtype=torch.bool), draw.order(3)[:2]
        yield _half_way(draw, 1, 3)
        yield _half_way(draw, 2, 3)
    batch, positions = draw.sizes(2, low=3)
    yield _half_way(draw, batch, positions)
    for shape in ((4, 4), (3, 3), (1, 5), (2, 13), (7, 2)):  # square; one row; many positions; many rows
        yield _half_way(draw, *shape)
    yield torch.ones(3, 4, dtype=torch.bool), torch.tensor([0, 3, draw.integer(1, 3)])  # nothing visited; both ends
    mask, chosen = _half_way(draw, 3, 5)
    mask[torch.arange(3), chosen] = False
    yield mask, chosen  # visited already
    yield torch.zeros(2, 3, dtype=torch.bool), draw.integers(0, 3, 2)  # all visited
    yield torch.ones(2, 1, dtype=torch.bool), torch.zeros(2, dtype=torch.long)  # one position
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
    telling=lambda mask, chosen: mask.shape[1] > 1,
    about=About(points=2, minutes=9, difficulty=2, read_again="Masks: each position once"),
)

must = MASK_VISITED.properties
must(
    "the chosen position is closed", lambda result, mask, chosen: not result.bool().gather(1, chosen[:, None]).any()
).says("""
    The position that was chosen must be closed, which means False, in its row.""")
must("what was closed stays closed", lambda result, mask, chosen: not (result.bool() & ~mask).any()).says("""
    A position that was closed before must be closed afterwards, even if it is chosen once more: nothing is opened.""")

wrong = MASK_VISITED.mistakes
wrong("written into the mask", "mask[range(len(mask)), chosen] = False\nreturn mask").says("""
    You wrote into `mask` itself, which belongs to the caller. In training, the masks of earlier steps may be needed
    again when the gradients are computed. Build a new mask: clone the old one first, or use `&`.""")
wrong("a mask shared by the batch", "mask = mask.clone()\nmask[:, chosen] = False\nreturn mask").says("""
    You closed the chosen positions of all rows in *every* row, as `mask[:, chosen] = False` does, but row b has visited
    only chosen[b]. Index rows and positions together, as in mask[torch.arange(B), chosen].""")
wrong("the mask as it was", "return mask.clone()").says("""
    Nothing was closed: your result is the mask as it was. `scatter` and `masked_fill` do not change the mask but return
    a new one, and what is written into `mask.clone()` is lost if the clone has no name. Return the mask that you have
    changed.""")
_OPENED = """
    You {}. The chosen position must be *closed*: True means that a position may still be chosen, so it gets False, and
    all others stay as they were."""
wrong("the chosen position opened", "mask = mask.clone()\nmask[range(len(mask)), chosen] = True\nreturn mask").says(
    _OPENED.format(
        "wrote True at the chosen position, which opens it (in a boolean mask, −inf and −1 are True as well)"
    )
)
wrong("or in place of and", {"mask & (": "mask | ("}).says("""
    You joined the old mask and `!=` with `|`, the *or*: the chosen position stays as it was, and all others are opened.
    The chosen position must be closed, and what was closed before stays closed: a position is open if it was open
    before *and* is not the chosen one, `&`.""")
wrong("all but the chosen one closed", {"!= chosen": "== chosen"}).says(
    _OPENED.format("closed every position except the chosen one, because the comparison is reversed")
)
wrong("whole rows closed", "mask = mask.clone()\nmask[chosen] = False\nreturn mask").says("""
    `mask[chosen]` closes whole *rows*, because the first index counts the batch. Index rows and positions together, as
    in mask[torch.arange(B), chosen].""")
wrong(
    "rows and positions exchanged", "mask = mask.clone()\nmask[chosen, range(len(mask))] = False\nreturn mask"
).says("""
    You exchanged the two axes, as in `mask[chosen, rows]` or `scatter(0, …)`: the first axis counts the batch, and the
    second one the positions. Write mask[torch.arange(B), chosen].""")
wrong("the flat number of another row", "mask = mask.clone()\nmask.view(-1)[chosen] = False\nreturn mask").says("""
    You closed the chosen positions of *all* rows in row 0. Either you used `chosen` as a number in the flat mask, where
    0 to N − 1 belong to row 0, or your index for `scatter` has the shape (1, B): chosen[:, None] has the shape (B, 1).
    Or index rows and positions together: mask[torch.arange(B), chosen].""")
wrong("all up to the chosen one", {"!= chosen": "> chosen"}).says("""
    You closed all positions up to the chosen one. Only the chosen position is closed, with `!=`: the others may still
    be visited, in any order.""")
wrong("all from the chosen one on", {"!= chosen": "< chosen"}).says("""
    You closed all positions from the chosen one on. Only the chosen position is closed, with `!=`: the others may still
    be visited, in any order.""")
wrong("the chosen position toggled", {"& (": "^ ~("}).says("""
    You exchanged True and False at the chosen position, as `^` and `~` do, so that a position that was closed before is
    opened when it is chosen once more. Write False there, whatever it was: nothing is opened.""")
wrong("as many positions as rows", {"mask.shape[1]": "mask.shape[0]"}).says("""
    You counted the positions with the number of *rows*, as len(mask) does. There are N positions, so write
    torch.arange(mask.shape[1]).""")
wrong("positions down the rows", "return mask & (torch.arange(mask.shape[1])[:, None] != chosen)").says("""
    You gave the axis of size 1 to the positions, so that they meet `chosen` as (N, B), while the mask is (B, N). Give
    it to the choices: torch.arange(N) != chosen[:, None] has the shape (B, N).""")
wrong("counted from 1", {"!= chosen[:, None]": "!= (chosen[:, None] - 1) % mask.shape[1]"}).says("""
    You closed the position before the chosen one, as if positions were counted from 1. They are counted from 0, so
    `chosen` is an index as it is.""")
wrong("chosen along the positions", {"chosen[:, None]": "chosen"}).says("""
    You compared the positions (N,) with `chosen` (B,) as it is, so that position 0 meets the choice of row 0, and
    position 1 that of row 1. The choice of each row must meet all positions, as chosen[:, None] does.""")
wrong(
    "the old mask handed back",
    "new = mask.scatter(1, chosen[:, None], False)\nreturn mask if torch.equal(new, mask) else new",
).says("""
    Where nothing was left to close you returned `mask` itself, or a tensor that shares its memory. What the caller
    writes into one of them then changes the other. Always return a new mask, as `&` and `.clone()` do.""")
