"""Lab 14: pointer networks. First, how long a round trip is, and how much longer than need be."""

import torch

from misread.exercise import About, Exercise


def tour_length(points, tour):
    """Length of the round trip through points (B, N, 2) in the order of tour (B, N): (B,)."""
    stops = points.gather(1, tour[..., None].expand(-1, -1, 2))  # (B, N, 2)
    ways = stops - stops.roll(-1, dims=1)  # (B, N, 2): to the next stop, and from the last one home
    return ways.norm(dim=-1).sum(dim=-1)  # (B,)


def orders(draw, batch, positions):
    """`(B, N)`: each row names all positions once, in an order of its own."""
    return torch.stack([draw.order(positions) for _ in range(batch)])


def _trips(draw):
    if draw.compact:  # cities on a grid
        for batch, positions in ((1, 3), (1, 4), (2, 3)):
            yield draw.integers(0, 6, batch, positions, 2).double(), orders(draw, batch, positions)
    batch, positions = draw.sizes(2, low=4)
    yield 3 * draw.normal(batch, positions, 2), orders(draw, batch, positions)
    for batch, positions in ((4, 4), (2, 2), (1, 5), (3, 1), (2, 12), (2, 40)):  # square; one; there and back; many
        yield draw.normal(batch, positions, 2), orders(draw, batch, positions)
    twins = draw.normal(2, 5, 2)
    twins[:, 3] = twins[:, 1]  # two cities at one position
    yield twins, orders(draw, 2, 5)
    yield 500 + 200 * draw.normal(2, 4, 2), orders(draw, 2, 4)  # far from the unit square
    yield 1e-3 * draw.uniform(2, 5, 2), orders(draw, 2, 5)  # and tiny
    yield 1e4 + 1e-3 * draw.uniform(2, 25, 2), orders(draw, 2, 25)  # as above; `cdist` is exact up to 25 points
    yield draw.normal(5, 3, 2).transpose(0, 1), orders(draw, 3, 5)  # batch first in name, not in memory
    for batch, positions in ((2, 60), (1, 150)):
        yield draw.uniform(batch, positions, 2), orders(draw, batch, positions)


def _farthest(points):
    return (points[:, :, None] - points[:, None]).norm(dim=-1).flatten(1).amax(1)  # (B,)


TOUR_LENGTH = Exercise(
    tour_length,
    cases=_trips,
    gradients=False,
    telling=lambda points, tour: points.shape[1] > 1,  # a tour of one city has no length
    about=About(points=2, minutes=11, difficulty=2, read_again="Cities: a round trip as a list of positions"),
)

must = TOUR_LENGTH.properties
must("a length is not negative", lambda result, points, tour: (result >= 0).all()).says("""
    The length of a tour can never be below 0.""")
must("there and back", lambda result, points, tour: (result > 1.999 * _farthest(points) - 1e-12).all()).says("""
    A round trip is at least as long as the straight line from any of its cities to any other and back.""")

_STOPS, _SUM = "points.gather(1, tour[..., None].expand(-1, -1, 2))", "ways.norm(dim=-1).sum(dim=-1)"

wrong = TOUR_LENGTH.mistakes
wrong("the tour doesn't close", {"stops - stops.roll(-1, dims=1)": "stops[:, 1:] - stops[:, :-1]"}).says("""
    You stopped at the last city, but a round trip returns to its first city. The distance from the last city to the
    first belongs to its length.""")
wrong("home to position 0", {"stops.roll(-1, dims=1)": "torch.cat([stops[:, 1:], points[:, :1]], 1)"}).says("""
    Your way home leads to points[:, 0], the first city of the *input*. A round trip returns to the city from which it
    set out, the first one of the tour.""")
wrong("the tour's order ignored", {_STOPS: "points"}).says("""
    The order of `tour` has no influence on your result. Either you went through `points` in the order of the input, or
    you moved from each city n to the city n + 1, for example by rolling `points` before looking them up. Look up the
    points with `tour` first: the next city is the next entry of the *tour*.""")
wrong("every tour in every row's points", {_STOPS: "points[:, tour]"}).says("""
    `points[:, tour]` looks up *every* row's tour in *every* row's points, which gives (B, B, N, 2). Each tour belongs
    to the points of its own row: points[rows, tour], with rows = torch.arange(B)[:, None].""")
wrong(
    "every tour in every row's points, summed along axis 1", {_STOPS: "points[:, tour]", "sum(dim=-1)": "sum(dim=1)"}
).says("""
    `points[:, tour]` looks up *every* row's tour in *every* row's points, which gives (B, B, N, 2), so axis 1 is not
    the tour any more. Each tour belongs to the points of its own row: points[rows, tour], with rows =
    torch.arange(B)[:, None].""")
wrong("one length for the batch", {_SUM: "ways.norm(dim=-1).sum()"}).says("""
    You summed over everything, so that the lengths of all tours became one number. The result has one length per
    instance, (B,): sum along the stops only, with an axis.""")
wrong("rows without their axis", {_STOPS: "points[torch.arange(len(points)), tour]"}).says("""
    You indexed with rows (B,) and a tour (B, N). PyTorch aligns shapes from the right, so the rows run along the tour,
    or the shapes do not fit. Give the rows an axis for the stops: rows = torch.arange(B)[:, None].""")
wrong("only x looked up", {_STOPS: "points.gather(1, tour[..., None])"}).says("""
    Only x counts in your result, and y is missing. With `gather`, an index of size 1 in its last axis looks up only x:
    expand the index to both features, or use points[rows, tour] with rows = torch.arange(B)[:, None].""")
wrong("distances from the first city", {"stops.roll(-1, dims=1)": "stops[:, :1]"}).says("""
    You measured the distance of each city from the *first* one. A step leads from each city to the next, and from the
    last one back to the first: stops.roll(-1, dims=1).""")
wrong("single precision", {"points.gather": "points.float().gather"}).says("""
    You rounded the points to single precision (`float32`), where points that lie close together and far from (0, 0)
    become equal. Keep the dtype of `points`, as torch.zeros(B, dtype=points.dtype) does for new tensors.""")
wrong("rolled without dims", {"stops.roll(-1, dims=1)": "stops.roll(-1)"}).says("""
    You called `roll` without `dims`, which moves single numbers, so that x was subtracted from y. Roll along the axis
    of the stops: dims=1.""")
wrong("squared distances", {"ways.norm(dim=-1)": "ways.square().sum(dim=-1)"}).says("""
    You added up squared distances, because the root is missing. Take the root for each step, and then the sum.""")
wrong("root taken at the end", {_SUM: "ways.norm(dim=(-2, -1))"}).says("""
    You took one root of the sum of all squares. Each step has a length of its own, so take the root for each step
    first, and then the sum.""")
wrong("a guard under the root", {"ways.norm(dim=-1)": "(ways.square().sum(dim=-1) + 1e-6).sqrt()"}).says("""
    You added a small number under the root, so two cities at the same place have a distance. The length of a step is
    the root of its squares alone, which may be 0.""")
wrong("city blocks", {"ways.norm(dim=-1)": "ways.abs().sum(dim=-1)"}).says("""
    You added |Δx| and |Δy|, which is the distance in a town of square blocks. The straight distance is the root of
    Δx² + Δy².""")
wrong("home twice", {_SUM: f"{_SUM} + ways[:, -1].norm(dim=-1)"}).says("""
    You counted the step from the last city to the first twice. With `roll`, this step is already part of the sum.""")
wrong("a constant under the root", {"ways.norm(dim=-1)": "(ways.square().sum(dim=-1) + 1e-8).sqrt()"}).says("""
    You added a constant under the root, so that two cities at the same point seem to be apart. A root of 0 does no harm
    here, because no gradient is computed.""")


def optimality_gap(length, optimal):
    """How much longer than the shortest tours are, relative to these, on average: (B,), (B,) -> a number."""
    return (length / optimal - 1).mean()


def _lengths(draw):
    if draw.compact:
        optimal = draw.integers(1, 5, 2).double()
        yield optimal + draw.integers(0, 4, 2), optimal
    for batch in (draw.sizes(1)[0], 1, 9):
        optimal = draw.uniform(batch, low=0.5, high=4.0)  # short trips and long ones
        yield optimal * draw.uniform(batch, low=1.0, high=1.9), optimal
    optimal = draw.uniform(4, low=1.0, high=9.0)
    yield optimal * torch.tensor([1.0, 1.0, 1.5, 1.1], dtype=optimal.dtype), optimal  # two of them can't be bettered
    yield optimal, optimal.clone()
    yield optimal * draw.uniform(4, low=0.6, high=1.3), optimal  # against a rule of thumb that can be beaten
    yield 1e-3 * optimal * draw.uniform(4, low=1.0, high=3.0), 1e-3 * optimal
    yield 1e-6 * optimal * draw.uniform(4, low=1.0, high=3.0), 1e-6 * optimal
    yield optimal * torch.tensor([5.0, 0.4, 1.0, 1.2], dtype=optimal.dtype), optimal  # very bad, and too good
    optimal = draw.uniform(30, low=1.0, high=4.0)
    ratio = draw.uniform(30, low=1.0, high=1.1)
    ratio[draw.integer(11, 30)] = 4.0  # many, and one of them far from the others
    yield optimal * ratio, optimal


OPTIMALITY_GAP = Exercise(
    optimality_gap,
    cases=_lengths,
    gradients=False,
    about=About(points=2, minutes=7, difficulty=2, read_again="The whole network in one file"),
)

must = OPTIMALITY_GAP.properties
must(
    "0 when all are as good", lambda result, length, optimal: not torch.equal(length, optimal) or abs(result) < 1e-9
).says("""
    Where every tour is as long as the optimal one, the gap must be 0.""")
must(
    "the unit doesn't matter",
    lambda result, length, optimal: (
        (length / optimal).min() - 1 - 1e-9 <= result <= (length / optimal).max() - 1 + 1e-9
    ),
).says("""
    The mean must lie between the smallest and the largest gap. A gap is the ratio of two lengths of the same instance,
    minus 1, so it is the same in miles and in kilometres.""")

wrong = OPTIMALITY_GAP.mistakes
_NEGATIVE = """
    You replaced {}. When a tour is shorter than what it is compared with, its gap is negative and counts as it is:
    length / optimal − 1."""
for _what, _code, _by in (
    ("negative gaps raised to 0", "(length / optimal - 1).clamp(min=0).mean()", "negative gaps by 0 (`clamp`, `relu`)"),
    ("a negative mean raised to 0", "(length / optimal - 1).mean().clamp(min=0)", "a negative mean of the gaps by 0"),
    ("gaps without their sign", "(length / optimal - 1).abs().mean()", "negative gaps by positive ones (`abs`)"),
    ("a mean without its sign", "(length / optimal - 1).mean().abs()", "a negative mean of the gaps by a positive one"),
):
    wrong(_what, f"return {_code}").says(_NEGATIVE.format(_by))
wrong("ratio of the means", "return length.mean() / optimal.mean() - 1").says("""
    You divided the mean length by the mean optimum, so that long tours count more than short ones. Each instance should
    count the same: divide first, instance by instance, and then take the mean.""")
wrong(
    "only those that are worse", "gap = length / optimal - 1\nreturn gap.sum() / (gap != 0).sum().clamp(min=1)"
).says("""
    You took the mean over the tours that are not optimal. A tour that cannot be bettered has the gap 0, and counts like
    any other: divide by the number of all tours.""")
_LEFT_OUT = """
    You took the mean over the tours that are {} than what they are compared with. Every tour counts, with a gap that
    may be 0 or negative: divide by the number of all tours."""
for _what, _sign, _worse in (("only gaps above 0", ">", "longer"), ("negative gaps left out", ">=", "no shorter")):
    wrong(_what, f"gap = length / optimal - 1\nreturn gap[gap {_sign} 0].mean()").says(_LEFT_OUT.format(_worse))
wrong("each with every optimum", "return (length[:, None] / optimal - 1).mean()").says("""
    You divided each length by *every* optimum, (B, B), because of an axis too many. A tour is compared with the optimum
    of its own instance only: `length / optimal`, (B,).""")
wrong("difference, not ratio", "return (length - optimal).mean()").says("""
    You took the mean of the differences, but a difference of 0.1 is much for a tour of length 1 and little for one of
    length 4. Divide each difference by its `optimal`.""")
wrong("part of your own length", {"length / optimal - 1": "1 - optimal / length"}).says("""
    You divided the difference by the length of the tour itself. The gap is measured relative to the optimum, so divide
    by `optimal`.""")
