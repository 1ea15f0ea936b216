"""Lab 14: the loop that points, goes there, and points again."""

import torch

from misread.exercise import About, Exercise

from ..fakes.pointer import EchoPointer, ForgetfulPointer, PairPointer, fake_pointer
from .visited import mask_visited


def greedy_pointer_decode(step, state, points, first):
    """From first (B,) on, always choose the open position with the highest score: tours (B, N)."""
    rows = torch.arange(len(points), device=points.device)  # (B,)
    mask = torch.ones(points.shape[:2], dtype=torch.bool, device=points.device)  # (B, N)
    position, tour = first, [first]  # (B,)
    for _ in range(points.shape[1] - 1):
        mask = mask_visited(mask, position)
        scores, state = step(points[rows, position], state)  # (B, N)
        position = scores.masked_fill(~mask, -torch.inf).argmax(-1)  # (B,)
        tour.append(position)
    return torch.stack(tour, dim=1)  # (B, N)


def _journeys(draw):
    sizes = ((1, 3, 1), (1, 3, 2), (2, 3, 1), (1, 4, 1))
    if not draw.compact:
        batch, size, features = draw.sizes(3, low=2)
        sizes = ((batch, size + 2, features), (4, 4, 4), (3, 3, 3), (1, 5, 2), (2, 1, 2), (3, 2, 1), (2, 12, 2))
        sizes = (*sizes, (5, 7, 1))
    for batch, size, features in sizes:
        first = draw.integers(0, size, batch)
        pointer = fake_pointer(draw, batch, size, features, first)
        yield pointer, pointer.start(), pointer.points.clone(), first
    if draw.compact:
        return
    for scale, shift in ((1.0, -9.0), (1.0, 9.0), (1e-9, 1.0), (1e10, -1e11)):  # all below 0; above; close; immense
        first = draw.integers(1, 6, 3)  # never position 0
        pointer = fake_pointer(draw, 3, 6, 2, first, scale, shift)
        yield pointer, pointer.start(), pointer.points.clone(), first
    for kind in (ForgetfulPointer, PairPointer, EchoPointer):  # whatever the state may be
        first = draw.integers(0, 6, 3)
        pointer = fake_pointer(draw, 3, 6, 2, first, kind=kind)
        yield pointer, pointer.start(), pointer.points.clone(), first
    pointer = fake_pointer(draw, 3, 6, 2, first)
    pointer.points[:, 4] = pointer.points[:, 2]  # two positions with the same point
    yield pointer, pointer.start(), pointer.points.clone(), first


_MASKED = "scores.masked_fill(~mask, -torch.inf)"

GREEDY_POINTER_DECODE = Exercise(
    greedy_pointer_decode,
    cases=_journeys,
    gradients=False,
    about=About(points=3, minutes=20, difficulty=3, read_again="The whole network in one file"),
)

must = GREEDY_POINTER_DECODE.properties
must("begins at `first`", lambda result, step, state, points, first: (result[:, 0] == first).all()).says("""
    Each tour begins at the position that is given, so the first column of the result must be `first`.""")
must(
    "each position once",
    lambda result, step, state, points, first: (result.sort(dim=1).values == torch.arange(points.shape[1])).all(),
).says("""
    A tour contains each position exactly once, but yours contains one twice and leaves another out.""")
must(
    "the second position is the best of the others",
    lambda result, step, state, points, first: (
        points.shape[1] < 2 or (result == greedy_pointer_decode(step, state, points, first))[:, 1].all()
    ),
).says("""
    After `step` has read the point of `first`, the next position must be the one with the highest score among all
    others.""")

_NEXT = "mask = mask_visited(mask, position)"

wrong = GREEDY_POINTER_DECODE.mistakes
wrong("visited positions not masked", {_MASKED: "scores"}).says("""
    You took the highest of all scores, so that the tour returns to positions that it has visited before. `mask_visited`
    returns a *new* mask, which you must keep: mask = mask_visited(mask, position). Then fill the scores of the closed
    positions with −inf before argmax.""")
wrong(
    "first position not masked",
    {f"        {_NEXT}\n": "", "tour.append(position)": f"tour.append(position)\n        {_NEXT}"},
).says("""
    You did not close `first`, so that the tour returns to it. It has been visited from the beginning, so close it
    before the first call of `step`.""")
wrong("only the newest position masked", {_NEXT: "mask = mask_visited(torch.ones_like(mask), position)"}).says("""
    You closed only the position of the last step, and opened those before it again. Keep each new mask for the next
    step, so that more and more positions are closed.""")
wrong("sense reversed", {"~mask": "mask"}).says("""
    Your tour never leaves its first position. Either you filled the scores of the *open* positions, whereas those where
    the mask is False must be filled; or you used argmin, which finds the −inf of the closed positions.""")
wrong("multiplied by the mask", {_MASKED: "(scores * mask)"}).says("""
    You gave visited positions a score of 0, perhaps by multiplying the scores by the mask. The scores of open positions
    can be negative, and then 0 is the highest, so fill with −inf.""")
wrong("0 times −inf", {_MASKED: "(scores + ~mask * -torch.inf)"}).says("""
    You multiplied the mask by −inf, but 0 · ∞ is NaN, so that the open positions have no score any more. Fill instead
    of multiplying: scores.masked_fill(~mask, float('-inf')).""")
wrong("only `first` masked", {_NEXT: "mask = mask_visited(mask, first)"}).says("""
    You closed `first` in every step, and never the positions that were chosen after it. Close the position of the last
    step each time: mask = mask_visited(mask, position).""")
wrong("filled with −1", {_MASKED: "scores.masked_fill(~mask, -1.0)"}).says("""
    You gave visited positions a small number such as −1, which is below every probability. These are scores, and those
    of open positions can be far below −1, so fill with float('-inf').""")
wrong("a mask shared by the batch", {_NEXT: "mask = mask.index_fill(1, position, False)"}).says("""
    You closed the position that one row has chosen in *every* row, as `mask[:, position] = False` does. Each row has
    visited its own positions: mask[rows, position].""")
wrong("filled with −1e9", {_MASKED: "scores.masked_fill(~mask, -1e9)"}).says("""
    You gave visited positions a finite number such as −1e9. The scores of open positions can be lower than any number
    that you choose, so fill with float('-inf').""")
wrong("1e9 subtracted", {_MASKED: "(scores - 1e9 * ~mask)"}).says("""
    You subtracted 1e9 from the scores of visited positions. Scores may lie farther apart than any number that you
    subtract, and then a visited position is still the highest. Fill with float('-inf') instead.""")
wrong("probabilities multiplied by the mask", {_MASKED: "(scores.softmax(-1) * mask)"}).says("""
    You took a softmax over all positions, visited ones too, and multiplied it by the mask. Where a visited position has
    by far the highest score, the probabilities of all others are rounded to 0, so that argmax cannot tell them from the
    visited ones. Fill the scores with −inf; no softmax is needed.""")
wrong("probabilities filled", {_MASKED: "scores.softmax(-1).masked_fill(~mask, -torch.inf)"}).says("""
    You took a softmax over all positions, visited ones too, and closed these afterwards. Where a visited position has
    by far the highest score, the probabilities of all others are rounded to 0 and seem equal. Fill the *scores* with
    −inf; no softmax is needed.""")
wrong("scores in half precision", {_MASKED: "scores.half().masked_fill(~mask, -torch.inf)"}).says("""
    You rounded the scores to half precision (`half`), where close scores are equal and immense ones are infinite.
    Compare the scores as they are.""")
wrong(
    "the point of the step before",
    {
        "position, tour = first, [first]": "position, tour, before = first, [first], first",
        "points[rows, position], state)": "points[rows, before], state)\n        before = position",
    },
).says("""
    You gave `step` the point at which the tour was one step earlier, and the first point twice. Choose the new position
    first; the next call of `step` receives the point of this newest position.""")
wrong("another row's position", {"points[rows, position]": "points[:, position][:, 0]"}).says("""
    `points[:, position]` looks up the positions of *all* rows in every row, (B, B, P), and `[:, 0]` keeps those of
    row 0. Each row reads the point at its own position: points[rows, position], with rows = torch.arange(B).""")
wrong("no point of the row read", {"points[rows, position]": "points.mean(1)"}).says("""
    You gave `step` something that is none of the points of its row, for example a mean, or coordinates that you
    changed. It must receive the point of the position that was chosen last, as it stands in `points`.""")
wrong("always the first point read", {"points[rows, position]": "points[rows, first]"}).says("""
    You gave `step` the point of the first position every time. It must receive the point of the position that was
    chosen in the step before.""")
wrong(
    "read in the order of the input", {"for _ in range": "for t in range", "points[rows, position]": "points[:, t]"}
).says("""
    You gave `step` the points in the order of the input. It must receive the point of the position that was chosen in
    the step before.""")
wrong("state not kept", {"scores, state = step": "scores, _ = step"}).says("""
    You gave `step` the state of the beginning at every move, so that it forgot which points it had read. Keep the state
    that `step` returns for the next move: scores, state = step(…).""")
wrong("positions as real numbers", {"torch.stack(tour, dim=1)": "torch.stack(tour, dim=1).float()"}).says("""
    Your tour is right, but its positions are real numbers, as torch.zeros(B, N) holds them unless told otherwise.
    Positions are whole numbers: torch.zeros(B, N, dtype=torch.long), or torch.stack of what `argmax` returns.""")
AMONG = "torch.stack([row[is_open].argmax() for row, is_open in zip(scores, mask)])"
wrong("counted among the open positions", {f"{_MASKED}.argmax(-1)": AMONG}).says("""
    You took the open scores out, as scores[mask] does, and then the argmax among these. It counts the open positions
    only, so that it is another number than the position in the input. Fill the closed scores with −inf instead.""")
wrong("max gives a pair", {"argmax(-1)": "max(-1)"}).says("""
    `max` with an axis returns a pair, the largest scores and their positions. A tour consists of positions only, which
    `argmax` returns.""")
wrong("the highest scores in place of their positions", {"argmax(-1)": "amax(-1)"}).says("""
    You put the highest *scores* into the tour. A tour consists of positions, which `argmax` returns.""")
wrong("`first` read twice", {"    for _ in": "    _, state = step(points[rows, first], state)\n    for _ in"}).says("""
    You called `step` once before the loop, and the loop gave it the point of `first` again. Each point is read once:
    the state before the first step is given, and there are N − 1 calls.""")
wrong("written into the scores", {"masked_fill(": "masked_fill_("}).says("""
    You wrote −inf into the scores themselves, which belong to `step` and may be needed by it again: here they are also
    its state. `masked_fill`, without an underscore at the end, fills a copy.""")
ZEROS = "points[rows, position] if len(tour) > 1 else torch.zeros_like(points[:, 0])"
wrong("the first point not read", {"points[rows, position]": ZEROS}).says("""
    Your first step reads a point of zeros. The tour begins at `first`, so the first step reads the point with this
    number.""")
ONCE = """
scores, _ = step(points.gather(1, first[:, None, None].expand(-1, 1, points.shape[2]))[:, 0], state)
return scores.scatter(1, first[:, None], torch.inf).argsort(dim=-1, descending=True)"""
wrong("one step for the whole tour", ONCE).says("""
    You called `step` once and sorted its scores. The scores depend on where one stands: after each move, `step` reads
    the new position and gives new scores.""")
