"""Lab 14: the loop that points, goes there, and points again."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..fakes.pointer import EchoPointer, ForgetfulPointer, PairPointer, fake_pointer
from .visited import mask_visited


def greedy_pointer_decode(step, state, points, first):
    rows = torch.arange(len(points), device=points.device)  # (B,)
    mask = torch.ones(points.shape[:2], dtype=torch.bool, device=points.device)  # (B, N)
    place, tour = first, [first]  # (B,)
    for _ in range(points.shape[1] - 1):
        mask = mask_visited(mask, place)
        scores, state = step(points[rows, place], state)  # (B, N)
        place = scores.masked_fill(~mask, -torch.inf).argmax(-1)  # (B,)
        tour.append(place)
    return torch.stack(tour, dim=1)  # (B, N)


def _journeys(draw):
    sizes = ((1, 3, 1), (1, 3, 2), (2, 3, 1))
    if not draw.compact:
        batch, places, features = draw.sizes(3, low=2)
        sizes = ((batch, places + 2, features), (4, 4, 4), (3, 3, 3), (1, 5, 2), (2, 1, 2), (3, 2, 1), (2, 12, 2))
        sizes = (*sizes, (5, 7, 1))
    for batch, places, features in sizes:
        first = draw.integers(0, places, batch)
        pointer = fake_pointer(draw, batch, places, features, first)
        yield pointer, pointer.start(), pointer.points.clone(), first
    if draw.compact:
        return
    for scale, shift in ((1.0, -9.0), (1.0, 9.0), (1e-9, 1.0), (1e10, -1e11)):  # all below 0; above; close; immense
        first = draw.integers(1, 6, 3)  # never place 0
        pointer = fake_pointer(draw, 3, 6, 2, first, scale, shift)
        yield pointer, pointer.start(), pointer.points.clone(), first
    for kind in (ForgetfulPointer, PairPointer, EchoPointer):  # whatever the state may be
        first = draw.integers(0, 6, 3)
        pointer = fake_pointer(draw, 3, 6, 2, first, kind=kind)
        yield pointer, pointer.start(), pointer.points.clone(), first
    pointer = fake_pointer(draw, 3, 6, 2, first)
    pointer.points[:, 4] = pointer.points[:, 2]  # two places at one point
    yield pointer, pointer.start(), pointer.points.clone(), first


_MASKED = "scores.masked_fill(~mask, -torch.inf)"

GREEDY_POINTER_DECODE = Exercise(
    greedy_pointer_decode,
    cases=_journeys,
    gradients=False,
    properties=[
        Property(
            "begins at the first place",
            "Each tour begins at the place that is given: column 0 is `first`.",
            lambda result, step, state, points, first: (result[:, 0] == first).all(),
        ),
        Property(
            "each place once",
            "A tour names each place exactly once. Yours names one twice, and leaves another out.",
            lambda result, step, state, points, first: (
                result.sort(dim=1).values == torch.arange(points.shape[1])
            ).all(),
        ),
        Property(
            "the second place is the best of the others",
            "After `first` has been read, the next place is the one with the highest score among all others.",
            lambda result, step, state, points, first: (
                points.shape[1] < 2 or (result == greedy_pointer_decode(step, state, points, first))[:, 1].all()
            ),
        ),
    ],
)

_NEXT = "mask = mask_visited(mask, place)"

wrong = GREEDY_POINTER_DECODE.mistakes
wrong("visited places not masked", {_MASKED: "scores"}).says("""
    You took the highest of all scores, and came back to places seen before. Is your mask never updated?
    `mask_visited` returns a *new* mask: mask = mask_visited(mask, place). And fill the scores of what it closes with
    −inf before argmax.""")
wrong(
    "first place not masked", {f"        {_NEXT}\n": "", "tour.append(place)": f"tour.append(place)\n        {_NEXT}"}
).says("""
    You forgot that `first` has been visited too, so the tour comes back to it. Close it before the first step.""")
wrong("only the newest place masked", {_NEXT: "mask = mask_visited(torch.ones_like(mask), place)"}).says("""
    You closed only the place where you stand, and opened those before. Hand the new mask on from step to step.""")
wrong("sense reversed", {"~mask": "mask"}).says("""
    You never leave the first place. Either you filled the open places, and those where the mask is False are to be
    filled; or you took argmin, and visited places, with −inf, are the lowest: argmax.""")
wrong("multiplied by the mask", {_MASKED: "(scores * mask)"}).says("""
    You multiplied the scores by the mask. Visited places get 0, and 0 wins over all below it. Fill with −inf.""")
wrong("filled with −1e9", {_MASKED: "scores.masked_fill(~mask, -1e9)"}).says("""
    You gave visited places a number such as −1e9, and other scores may lie below it. Fill with float('-inf').""")
wrong("always the first point read", {"points[rows, place]": "points[rows, first]"}).says("""
    You gave `step` the first place's point every time. It must read the place that was chosen *last*.""")
wrong(
    "read in the order of the input", {"for _ in range": "for t in range", "points[rows, place]": "points[:, t]"}
).says("""
    You gave `step` the points in their given order. It must read the place that it chose in the step before.""")
wrong("written into the scores", {"masked_fill(": "masked_fill_("}).says("""
    You wrote −inf into the scores themselves. They belong to `step`, which may go on working with them: here they are
    its state too. Fill a copy: masked_fill without an underscore makes one.""")
wrong("the first place left out", {"[first]": "[]"}).says("""
    Your tour has N − 1 places: `first` is missing. It is the first of the N.""")
