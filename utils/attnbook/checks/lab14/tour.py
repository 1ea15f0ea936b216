"""Lab 14: pointer networks. First, how long a round trip is, and how much longer than need be."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def tour_length(points, tour):
    stops = points.gather(1, tour[..., None].expand(-1, -1, 2))  # (B, N, 2)
    ways = stops - stops.roll(-1, dims=1)  # (B, N, 2): to the next stop, and from the last one home
    return ways.norm(dim=-1).sum(dim=-1)  # (B,)


def orders(draw, batch, places):
    """`(B, N)`: each row names all places once, in an order of its own."""
    return torch.stack([draw.order(places) for _ in range(batch)])


def _trips(draw):
    if draw.compact:  # cities on a grid
        for batch, places in ((1, 3), (1, 4), (2, 3)):
            yield draw.integers(0, 6, batch, places, 2).double(), orders(draw, batch, places)
    batch, places = draw.sizes(2, low=4)
    yield 3 * draw.normal(batch, places, 2), orders(draw, batch, places)
    for batch, places in ((4, 4), (2, 2), (1, 5), (3, 1), (2, 12), (2, 40)):  # square; one; there and back; many
        yield draw.normal(batch, places, 2), orders(draw, batch, places)
    twins = draw.normal(2, 5, 2)
    twins[:, 3] = twins[:, 1]  # two cities at one place
    yield twins, orders(draw, 2, 5)
    yield 500 + 200 * draw.normal(2, 4, 2), orders(draw, 2, 4)  # far from the unit square
    yield 1e-3 * draw.uniform(2, 5, 2), orders(draw, 2, 5)  # and tiny
    yield 1e4 + 1e-3 * draw.uniform(2, 30, 2), orders(draw, 2, 30)  # close together, and far from 0
    yield draw.normal(5, 3, 2).transpose(0, 1), orders(draw, 3, 5)  # batch first in name, not in memory
    for batch, places in ((2, 60), (1, 150)):
        yield draw.uniform(batch, places, 2), orders(draw, batch, places)


TOUR_LENGTH = Exercise(
    tour_length,
    cases=_trips,
    gradients=False,
    tolerance=1e-9,
    properties=[
        Property(
            "a length is not negative", "A length is never below 0.", lambda result, points, tour: (result >= 0).all()
        ),
        Property(
            "it doesn't matter where the tour begins",
            "A round trip is as long, whichever of its cities is named first. Told from another city, yours changes.",
            lambda result, points, tour: torch.allclose(result, tour_length(points, tour.roll(1, dims=1))),
        ),
    ],
)

wrong = TOUR_LENGTH.mistakes
wrong(
    "the tour doesn't close", {"ways = stops - stops.roll(-1, dims=1)": "ways = stops[:, 1:] - stops[:, :-1]"}
).says("""
    You stopped at the last city. A round trip goes home: the way from the last city to the first belongs to it.""")
wrong("the tour's order ignored", {"points.gather(1, tour[..., None].expand(-1, -1, 2))": "points"}).says("""
    You walked through the cities in the order in which they stand in `points`. `tour` says which comes first, second,
    …: look the points up in that order.""")
wrong(
    "every tour in every row's points", {"points.gather(1, tour[..., None].expand(-1, -1, 2))": "points[:, tour]"}
).says("""
    `points[:, tour]` looks up *every* row's tour in *every* row's points: (B, B, N, 2). Each tour belongs to its own
    row: points[rows, tour], with rows = torch.arange(B)[:, None].""")
wrong(
    "every tour in every row's points, walked in order",
    {"points.gather(1, tour[..., None].expand(-1, -1, 2))": "points[:, tour]", "dims=1": "dims=-2"},
).says("""
    Your result is (B, B): `points[:, tour]` measures every row's tour in every row's points. Row b's tour goes
    through row b's points: points[rows, tour], with rows = torch.arange(B)[:, None].""")
wrong("only x looked up", {".expand(-1, -1, 2)": ""}).says("""
    Your `gather` took x alone: it fetches one number for each index, so the way's y is missing. Give it an index for
    both coordinates: tour[..., None].expand(-1, -1, 2).""")
wrong("rolled without dims", {"stops.roll(-1, dims=1)": "stops.roll(-1)"}).says("""
    Your `roll` has no dims, so it moved single numbers and not points: x was taken from y. Give it dims=1, the axis
    of the stops.""")
wrong("root along the tour", {"ways.norm(dim=-1)": "ways.norm(dim=1)"}).says("""
    Your norm runs along the tour: all the Δx under one root, all the Δy under another. A way's length is the root of
    its own Δx² + Δy²: norm(dim=-1), then sum.""")
wrong("tour read the wrong way round", {"tour[..., None]": "tour.argsort(dim=-1)[..., None]"}).says("""
    You read `tour[b, i]` as the time at which city i is visited. It is the other way round: it is the city that is
    visited at time i. No sorting is needed.""")
wrong("one tour for the whole batch", {"tour[..., None]": "tour[:1].expand_as(tour)[..., None]"}).says("""
    You looked up every row's points in the order of row 0's tour. Each row has its own tour.""")
wrong("squared distances", {"ways.norm(dim=-1)": "ways.square().sum(dim=-1)"}).says("""
    You added up squared distances: the root is missing. Take the root of each way, then the sum.""")
wrong("root taken at the end", {"ways.norm(dim=-1).sum(dim=-1)": "ways.square().sum(dim=(-2, -1)).sqrt()"}).says("""
    You added up the squares of all ways and took one root of the total. Each way has a length of its own: root first,
    then sum.""")
wrong("city blocks", {"ways.norm(dim=-1)": "ways.abs().sum(dim=-1)"}).says("""
    You added |Δx| and |Δy|, as one walks in a town of square blocks. Wanted is the straight way: the root of Δx² +
    Δy².""")
wrong("signs cancel", {"ways.norm(dim=-1).sum(dim=-1)": "ways.sum(dim=1).norm(dim=-1)"}).says("""
    You added the ways themselves, with their signs. A round trip comes back to where it began, so they cancel. Take
    each way's length first.""")
wrong("mean of the ways", {".sum(dim=-1)": ".mean(dim=-1)"}).says("""
    You took the mean over the ways. The length of a tour is their sum.""")
wrong("summed over the batch", {".sum(dim=-1)": ".sum()"}).says("""
    You added up the tours of all rows. Each row has a length of its own: sum along the tour only, (B,).""")
wrong("next row in place of next stop", {"dims=1": "dims=0"}).says("""
    Your `roll` goes over the batch, so that you measured from one row's city to another row's. The next stop lies
    along axis 1.""")
wrong("always from the first city", {"stops.roll(-1, dims=1)": "stops[:, :1]"}).says("""
    You measured each city's distance from the first one, as if you went home after each visit. Measure from each city
    to the *next*.""")
wrong(
    "home twice", {"ways.norm(dim=-1).sum(dim=-1)": "ways.norm(dim=-1).sum(dim=-1) + ways[:, -1].norm(dim=-1)"}
).says("""
    You went home although the tour was closed already: the last way is counted twice. With `roll` the way home is in
    it.""")
wrong("a constant under the root", {"ways.norm(dim=-1)": "(ways.square().sum(dim=-1) + 1e-8).sqrt()"}).says("""
    You added a small number under the root. Two cities at one place then seem to lie apart. The root of 0 is 0, and
    harmless here.""")


def optimality_gap(length, optimal):
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
    tolerance=1e-9,
    properties=[
        Property(
            "0 when all are as good",
            "Where each tour is as long as the one beside it, the gap is 0.",
            lambda result, length, optimal: not torch.equal(length, optimal) or abs(result) < 1e-9,
        ),
        Property(
            "the unit doesn't matter",
            "In miles or in kilometres, the gap is the same: it is made of ratios, instance by instance.",
            lambda result, length, optimal: (
                (length / optimal).min() - 1 - 1e-9 <= result <= (length / optimal).max() - 1 + 1e-9
            ),
        ),
    ],
)

wrong = OPTIMALITY_GAP.mistakes
wrong("ratio of the means", "return length.mean() / optimal.mean() - 1").says("""
    You divided the mean length by the mean optimum. Then long trips count for more. Each instance is to count the
    same: divide first, pair by pair, then take the mean.""")
wrong("difference, not ratio", "return (length - optimal).mean()").says("""
    You took the mean of the differences. 0.1 is much for a trip of length 1, and little for one of 4: divide by the
    optimum.""")
wrong("1 not taken off", {" - 1": ""}).says("""
    You returned the mean ratio. A gap of 0 shall mean *as short as can be*: take 1 off.""")
wrong("upside down", {"length / optimal - 1": "optimal / length - 1"}).says("""
    You divided the optimum by the length. How much longer is it than need be? Length over optimum.""")
wrong("part of your own length", {"length / optimal - 1": "1 - optimal / length"}).says("""
    You divided the detour by the tour's own length. It is measured against the best: divide by `optimal`.""")
wrong("in per cent", {".mean()": ".mean() * 100"}).says("""
    You multiplied by 100. The gap is a plain number, 0.05 for 5 %; turn it into per cent where you print it.""")
wrong("sum, not mean", {".mean()": ".sum()"}).says("""
    You added up the gaps. Then more instances make a larger gap: take their mean.""")
wrong("median", {".mean()": ".median()"}).says("""
    You took the median. It does not feel the few bad tours at all. The mean is wanted.""")
wrong("the worst one", {".mean()": ".max()"}).says("""
    You returned the largest gap. Wanted is the mean over all instances.""")
wrong("a number, no tensor", {".mean()": ".mean().item()"}).says("""
    You took the number out of its tensor, by `.item()` or `float`. Return the tensor itself, without axes: who wants
    a plain number can still take it out.""")
wrong("one gap for each instance", {".mean()": ""}).says("""
    You returned all gaps. Wanted is one number: their mean.""")
wrong("cut off at 0", {"(length / optimal - 1)": "(length / optimal - 1).clamp(min=0)"}).says("""
    You set negative gaps to 0. One is negative where a tour beats the one beside it. With true optima that can't be,
    so it would show that something is wrong: leave it in.""")
wrong("absolute values", {"(length / optimal - 1)": "(length / optimal - 1).abs()"}).says("""
    You took absolute values, so that a shorter tour counts as a worse one. Leave the sign as it is.""")
