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
    if draw.compact:
        sizes = ((1, 3, 1), (1, 3, 2), (2, 3, 1))
    else:
        batch, places, features = draw.sizes(3, low=2)
        sizes = (
            (batch, places + 2, features),
            (4, 4, 4),
            (3, 3, 3),
            (1, 5, 2),
            (2, 1, 2),
            (3, 2, 1),
            (2, 12, 2),
            (5, 7, 1),
        )
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

wrong = GREEDY_POINTER_DECODE.mistakes
wrong("visited places not masked", {_MASKED: "scores"}).says("""
    You took the highest of all scores, and came back to places seen before. Is your mask never updated?
    `mask_visited` returns a *new* mask: mask = mask_visited(mask, place). And fill the scores of what it closes with
    −inf before argmax.""")
wrong(
    "argmax taken before the mask",
    {
        f"{_MASKED}.argmax(-1)": "scores.argmax(-1)\n        place = torch.where(mask[rows, place], place, "
        "mask.int().argmax(-1))"
    },
).says("""
    You took the argmax first and looked at the mask afterwards: where the winner was closed, you took another place,
    which needn't be the best that is left. First fill with −inf, then argmax.""")
wrong(
    "first place not masked",
    {
        "        mask = mask_visited(mask, place)\n": "",
        "tour.append(place)": "tour.append(place)\n        mask = mask_visited(mask, place)",
    },
).says("""
    You forgot that `first` has been visited too: the tour comes back to it in the middle. Close it before the first
    step.""")
wrong(
    "only the newest place masked",
    {"mask = mask_visited(mask, place)": "mask = mask_visited(torch.ones_like(mask), place)"},
).says("""
    You closed only the place where you stand; those visited before were open again. Hand the new mask on from step to
    step.""")
wrong("only the first place masked", {"mask = mask_visited(mask, place)": "mask = mask_visited(mask, first)"}).says("""
    You closed `first` and nothing after it. Every place that is chosen must be closed before the next choice.""")
wrong(
    "a mask shared by the batch",
    {"mask = mask_visited(mask, place)": "mask = mask.clone()\n        mask[:, place] = False"},
).says("""
    What one row visits is closed for all rows. Each row has its own tour, and its own row of the mask.""")
wrong("sense reversed", {"~mask": "mask"}).says("""
    You never leave the first place. Either you filled the open places, and those where the mask is False are to be
    filled; or you took argmin, and visited places, with −inf, are the lowest: argmax.""")
wrong("multiplied by the mask", {_MASKED: "(scores * mask)"}).says("""
    You multiplied the scores by the mask. Visited places then score 0, and that wins as soon as the others are below
    0. Fill with −inf.""")
wrong("filled with −1e9", {_MASKED: "scores.masked_fill(~mask, -1e9)"}).says("""
    You gave visited places a number such as −1e9. Scores may lie below that, and here they do: a visited place wins.
    Fill with float('-inf').""")
wrong("probabilities times the mask", {_MASKED: "(scores.softmax(-1) * mask)"}).says("""
    You made probabilities of all scores and multiplied them by the mask. Where a visited place takes nearly
    everything, the others are rounded to 0 and nothing is left to compare. Fill the scores with −inf.""")
wrong("fed with the place's number", {"points[rows, place]": "place"}).says("""
    You gave `step` the *number* of the place. A number says nothing about where it lies: look its point up,
    points[rows, place], (B, P).""")
wrong(
    "fed with something that is no point",
    {"points[rows, place]": "place[:, None].expand(-1, points.shape[2]).to(points.dtype)"},
).says("""
    What you gave `step` is none of the row's points: perhaps the *number* of the place, made to look like a point. A
    number says nothing about where it lies: look its point up, points[rows, place].""")
wrong("another row's point", {"points[rows, place]": "points[0, place]"}).says("""
    You looked all places up in row 0's points. Each row has its own: points[rows, place], with rows = 0 … B − 1.""")
wrong("always the first point read", {"points[rows, place]": "points[rows, first]"}).says("""
    You gave `step` the first place's point every time. It reads the place that was chosen *last*, so that it knows
    where it stands.""")
wrong(
    "read in the order of the input", {"for _ in range": "for t in range", "points[rows, place]": "points[:, t]"}
).says("""
    You gave `step` the points in the order in which they came. It must read the place that it chose itself in the
    step before.""")
wrong("one step behind", {"points[rows, place]": "points[rows, tour[max(len(tour) - 2, 0)]]"}).says("""
    You gave `step` the place before the last one. It must read the newest.""")
wrong("state not carried on", {"scores, state = step": "scores, _ = step"}).says("""
    You called `step` with the same state each time, so it forgets what it has read. Use the state that it returned.""")
wrong(
    "the state taken apart",
    "tours = []\n"
    "for b in range(len(points)):\n"
    "    own, tour = state[b:b + 1], [int(first[b])]\n"
    "    while len(tour) < points.shape[1]:\n"
    "        scores, own = step(points[b, tour[-1]][None], own)\n"
    "        scores = scores[0].index_fill(0, torch.tensor(tour), -torch.inf)\n"
    "        tour.append(int(scores.argmax()))\n"
    "    tours.append(tour)\n"
    "return torch.tensor(tours)",
).says("""
    You took the state apart, row by row. What it is, is `step`'s business: a tensor, a tuple of several, or None.
    Step all rows together, and hand the state on as it came.""")
wrong("written into the scores", {"scores.masked_fill(": "scores.masked_fill_("}).says("""
    You wrote −inf into the scores themselves. They belong to `step`, which may go on working with them: here they are
    its state too. Fill a copy: masked_fill without an underscore makes one.""")
wrong(
    "begins at place 0",
    {"place, tour = first, [first]": "place, tour = torch.zeros_like(first), [torch.zeros_like(first)]"},
).says("""
    You began at place 0. The beginning is given, for each row its own: `first`.""")
wrong("the first place left out", {"[first]": "[]"}).says("""
    Your tour has N − 1 places: `first` is missing. It is the first of the N.""")
wrong(
    "the first place left out, and one step more", {"[first]": "[]", "points.shape[1] - 1": "points.shape[1]"}
).says("""
    You took N steps and left `first` out: in the last step nothing was open any more. `first` is the first of the N
    places, and N − 1 steps find the others.""")
wrong("one step too many", {"points.shape[1] - 1": "points.shape[1]"}).says("""
    You took N steps, so that your tours have N + 1 places. `first` is given and the way home is not written down: N −
    1 steps.""")
wrong("one step too few", {"points.shape[1] - 1": "points.shape[1] - 2"}).says("""
    You took N − 2 steps: a place is missing at the end. After `first` there are N − 1 places to find.""")
wrong("home again", {"torch.stack(tour, dim=1)": "torch.stack([*tour, first], dim=1)"}).says("""
    You added the first place at the end. The way home goes without saying: N places, each once.""")
wrong("the worst place", {"-torch.inf).argmax": "torch.inf).argmin"}).says("""
    You took the lowest score. The network's favourite is the place with the highest.""")
wrong("argmax over the batch", {"argmax(-1)": "argmax(0)"}).says("""
    Your argmax runs over the rows of the batch. Each row chooses among its own places: the last axis.""")
wrong("turned round", {"dim=1)": "dim=0)"}).says("""
    Your result is (N, B). Rows are tours: stack the steps along axis 1.""")
wrong(
    "numbered among those left",
    "first_of, tour = first, [first]\n"
    "left = [[n for n in range(points.shape[1]) if n != f] for f in first.tolist()]\n"
    "for _ in range(points.shape[1] - 1):\n"
    "    scores, state = step(points[torch.arange(len(points)), first_of], state)\n"
    "    short = torch.tensor([int(scores[b, row].argmax()) for b, row in enumerate(left)])\n"
    "    first_of = torch.tensor([row.pop(int(i)) for row, i in zip(left, short)])\n"
    "    tour.append(short)\n"
    "return torch.stack(tour, dim=1)",
).says("""
    You took the visited places out and returned the number among those that were left. Places keep their numbers:
    fill with −inf, and leave them where they are.""")
