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


def _farthest(points):
    return (points[:, :, None] - points[:, None]).norm(dim=-1).flatten(1).amax(1)  # (B,)


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
            "there and back",
            "A round trip is at least as long as the straight way between any two of its cities, and back.",
            lambda result, points, tour: (result > 1.999 * _farthest(points) - 1e-12).all(),
        ),
    ],
)

_STOPS, _SUM = "points.gather(1, tour[..., None].expand(-1, -1, 2))", "ways.norm(dim=-1).sum(dim=-1)"

wrong = TOUR_LENGTH.mistakes
wrong("the tour doesn't close", {"stops - stops.roll(-1, dims=1)": "stops[:, 1:] - stops[:, :-1]"}).says("""
    You stopped at the last city. A round trip goes home: the way from the last city to the first belongs to it.""")
wrong("the tour's order ignored", {_STOPS: "points"}).says("""
    You walked through `points` in their given order. `tour` says which comes first: look them up by it.""")
wrong("every tour in every row's points", {_STOPS: "points[:, tour]"}).says("""
    `points[:, tour]` looks up *every* row's tour in *every* row's points: (B, B, N, 2). Each tour belongs to its own
    row: points[rows, tour], with rows = torch.arange(B)[:, None].""")
wrong("rolled without dims", {"stops.roll(-1, dims=1)": "stops.roll(-1)"}).says("""
    Your `roll` has no dims, so it moved single numbers: x was taken from y. Give it dims=1, the axis of the stops.""")
wrong("root along the tour", {"ways.norm(dim=-1)": "ways.norm(dim=1)"}).says("""
    Your norm runs along the tour: all the Δx under one root, all the Δy under another. A way's length is the root of
    its own Δx² + Δy²: norm(dim=-1), then sum.""")
wrong("squared distances", {"ways.norm(dim=-1)": "ways.square().sum(dim=-1)"}).says("""
    You added up squared distances: the root is missing. Take the root of each way, then the sum.""")
wrong("root taken at the end", {_SUM: "ways.norm(dim=(-2, -1))"}).says("""
    You took one root of the total of all squares. Each way has a length of its own: root first, then sum.""")
wrong("city blocks", {"ways.norm(dim=-1)": "ways.abs().sum(dim=-1)"}).says("""
    You added |Δx| and |Δy|, as in a town of square blocks. The straight way is the root of Δx² + Δy².""")
wrong("home twice", {_SUM: f"{_SUM} + ways[:, -1].norm(dim=-1)"}).says("""
    You went home although the tour was closed already: with `roll` the way home is in it.""")
wrong("a constant under the root", {"ways.norm(dim=-1)": "(ways.square().sum(dim=-1) + 1e-8).sqrt()"}).says("""
    You added a constant under the root: two cities at one place seem to lie apart. The root of 0 is harmless here.""")


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
            "The mean lies between the smallest and the largest gap. A gap is a ratio, less 1, of two lengths of one "
            "instance: the same in miles and in kilometres.",
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
    You took the mean of the differences. 0.1 is much for a trip of 1, little for one of 4: divide by `optimal`.""")
wrong("part of your own length", {"length / optimal - 1": "1 - optimal / length"}).says("""
    You divided the detour by the tour's own length. It is measured against the best: divide by `optimal`.""")
wrong("median", {".mean()": ".median()"}).says("""
    You took the median. It does not feel the few bad tours at all. The mean is wanted.""")
wrong("the worst one", {".mean()": ".max()"}).says("""
    You returned the largest gap. Wanted is the mean over all instances.""")
wrong("cut off at 0", {"(length / optimal - 1)": "(length / optimal - 1).clamp(min=0)"}).says("""
    You set negative gaps to 0. One is negative where a tour beats the one beside it. With true optima that can't be,
    so it would show that something is wrong: leave it in.""")
wrong("absolute values", {"(length / optimal - 1)": "(length / optimal - 1).abs()"}).says("""
    You took absolute values, so that a shorter tour counts as a worse one. Leave the sign as it is.""")
