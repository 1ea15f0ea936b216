"""Round trips through cities (the travelling salesman problem): the shortest one, and quicker ways to a short one.

Cities are points ``(B, N, 2)``; a tour is a row of positions ``(B, N)`` long that names each city once. From the last
city it goes back to the first.
"""

import torch
from torch import Tensor

from attnbook.data.points.geometry import SYMMETRIES, check_points, check_positions, corners, polygon_area, turn_square

MOST_CITIES = 13  # Held and Karp's table has (N − 1) · 2^(N − 1) entries for each instance
_ENTRIES = 2**20  # of the tables that are filled side by side: what a cache holds


def distances(points: Tensor) -> Tensor:
    """Distance of each city from each: ``(B, N, 2)`` -> ``(B, N, N)``, exactly symmetric, zeros on the diagonal."""
    check_points(points)
    return (points[:, :, None] - points[:, None]).square().sum(dim=-1).sqrt()


def _check_tour(points: Tensor, tour: Tensor) -> None:
    check_positions("tour", tour, points, points.shape[1] - 1)
    everywhere = torch.arange(points.shape[1], device=tour.device).expand(len(points), -1)
    if tour.shape != everywhere.shape or not torch.equal(tour.sort(dim=-1).values, everywhere):
        raise ValueError(f"tour must name each of the {points.shape[1]} cities once, got {tour.tolist()}")


def tour_length(points: Tensor, tour: Tensor) -> Tensor:
    """Length of the closed way through the points in the tour's order: ``(B, N, 2), (B, N)`` -> ``(B,)``.

    Raises:
        ValueError: if a tour does not name each city exactly once.
    """
    _check_tour(points, tour)
    stops = corners(points, tour)  # (B, N, 2)
    return (stops - stops.roll(-1, dims=1)).norm(dim=-1).sum(dim=-1)


def optimality_gap(length: Tensor, optimal: Tensor) -> Tensor:
    """By which part tours are longer than the shortest ones, on average: mean of length / optimal − 1, a scalar.

    Raises:
        ValueError: if the shapes differ, there is no tour, or a shortest one has no length.
    """
    if length.shape != optimal.shape or length.numel() == 0:
        shapes = f"{tuple(length.shape)} and {tuple(optimal.shape)}"
        raise ValueError(f"length and optimal must have the same shape (B,) with B > 0, got {shapes}")
    if not (optimal > 0).all():
        raise ValueError("optimal holds a tour of length 0: all of its cities are one")
    return (length / optimal - 1).mean()


def canonical_tour(points: Tensor, tour: Tensor) -> Tensor:
    """The same round trip, told from city 0 on and counter-clockwise: ``(B, N)``.

    2 · N rows of positions are one trip; a network shall learn one of them. Raises ValueError as :func:`tour_length`.

    Source: Vinyals et al. 2015, section 4.1 (theirs starts at city 0 too, but has no direction).
    """
    _check_tour(points, tour)
    clockwise = (polygon_area(points, tour) < 0).to(tour.device)  # (B,)
    tour = torch.where(clockwise[:, None], tour.flip(1), tour)
    steps = torch.arange(tour.shape[1], device=tour.device)  # (N,)
    return tour.gather(1, (tour.argmin(dim=1, keepdim=True) + steps) % tour.shape[1])  # turned until 0 is in front


def random_tours(size: int, count: int, generator: torch.Generator) -> Tensor:
    """Tours by pure chance, ``(count, size)``: all orders equally likely."""
    return torch.rand(count, size, generator=generator).argsort(dim=-1)


def augment_tours(points: Tensor, tour: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Turn or mirror each instance by chance, and tell its tour anew, from city 0 counter-clockwise.

    A shortest tour stays one, so eight instances come from each label. Returns points and tours, shaped as given.
    """
    symmetry = torch.randint(SYMMETRIES, (len(points),), generator=generator).to(points.device)
    points = turn_square(points, symmetry)
    return points, canonical_tour(points, tour)


def held_karp(points: Tensor) -> Tensor:
    """The shortest tour, by dynamic programming over sets of cities; from city 0, counter-clockwise.

    cost[S, j], the shortest way from city 0 through all of S that ends at j ∈ S, is the least of
    cost[S − {j}, i] + d(i, j) over i ∈ S − {j}. All sets of one size are done at once, for many instances at once.

    Args:
        points: ``(B, N, 2)`` with N ≤ 13.

    Returns:
        ``(B, N)`` long.

    Raises:
        ValueError: if ``points`` is not ``(B, N, 2)``, or there are more than 13 cities.

    Source: Held and Karp 1962; Bellman 1962.
    """
    check_points(points)
    size = points.shape[1]
    if size > MOST_CITIES:
        raise ValueError(f"points have {size} cities; the exact solver is for at most {MOST_CITIES}")
    if size < 4:  # there is one round trip only
        return canonical_tour(points, torch.arange(size, device=points.device).repeat(len(points), 1))
    together = max(1, _ENTRIES // ((size - 1) * 2 ** (size - 1)))
    return canonical_tour(points, torch.cat([_shortest(part) for part in points.split(together)]))


def _shortest(points: Tensor) -> Tensor:
    """:func:`held_karp` for as many instances as go side by side. City 0 is apart; the others are 0 … m − 1 here."""
    way = distances(points).permute(1, 2, 0)  # (N, N, B): the instances last, where they lie side by side in memory
    home, way = way[0, 1:], way[1:, 1:].contiguous()  # (m, B), (m, m, B)
    cost = _costs(home, way)  # (2^m, m, B)
    rest, batch = len(cost) - 1, torch.arange(len(points), device=points.device)
    left = torch.full_like(batch, rest)  # (B,): the set that is still to be walked back, all at first
    last = (cost[rest] + home).argmin(dim=0)  # (B,): the city from which it is best to go home
    tour = [last]
    for _ in range(len(home) - 1):
        left = left - (1 << last)
        last = (cost[left, :, batch] + way[:, last, batch].T).argmin(dim=1)  # (B, m) -> (B,)
        tour.append(last)
    return torch.stack([torch.full_like(last, -1), *tour], dim=1) + 1  # (B, N)


def _costs(home: Tensor, way: Tensor) -> Tensor:
    """The table cost[S, j] of all instances, S as a binary number: ``(m, B), (m, m, B)`` -> ``(2^m, m, B)``."""
    m, batch = home.shape
    cost = home.new_full((2**m, m, batch), float("inf"))
    sets = torch.arange(2**m, device=home.device)
    holds = sets[:, None] >> torch.arange(m, device=home.device) & 1  # (2^m, m): 1 where city j is in set S
    cities = torch.arange(m, device=home.device)
    cost[1 << cities, cities] = home
    for size in range(2, m + 1):
        of_size = holds.sum(dim=1) == size  # (2^m,)
        for j in range(m):
            chosen = sets[of_size & (holds[:, j] == 1)]  # (C,): the sets of this size with j
            cost[chosen, j] = (cost[chosen - (1 << j)] + way[:, j]).amin(dim=1)  # (C, m, B) -> (C, B)
    return cost


def nearest_neighbour(points: Tensor) -> Tensor:
    """From city 0 on, always to the nearest city not yet seen: ``(B, N, 2)`` -> ``(B, N)``.

    Source: Rosenkrantz, Stearns and Lewis 1977.
    """
    way = distances(points)  # (B, N, N)
    here = torch.zeros(len(points), dtype=torch.long, device=points.device)  # (B,)
    rows, tour = torch.arange(len(points), device=points.device), [here]
    seen = torch.zeros(points.shape[:2], dtype=torch.bool, device=points.device)  # (B, N)
    for _ in range(points.shape[1] - 1):
        seen = seen.scatter(1, here[:, None], True)
        here = way[rows, here].masked_fill(seen, float("inf")).argmin(dim=-1)
        tour.append(here)
    return torch.stack(tour, dim=1)


def turns_round_centre(points: Tensor) -> Tensor:
    """By how many degrees, counter-clockwise, each city lies beyond city 0: ``(B, N, 2)`` -> ``(B, N)`` in [0, 360).

    The angles are measured at the mean of all cities of an instance.
    """
    check_points(points)
    x, y = (points - points.mean(dim=1, keepdim=True)).unbind(dim=-1)  # (B, N) each
    angle = torch.atan2(y, x).rad2deg()
    return (angle - angle[:, :1]) % 360


def round_the_centre(points: Tensor) -> Tensor:
    """From city 0 on, the cities counter-clockwise by their angle around their mean: ``(B, N, 2)`` -> ``(B, N)``."""
    return turns_round_centre(points).argsort(dim=1)


def two_opt(points: Tensor, tour: Tensor) -> Tensor:
    """Take two edges out and close the tour the other way round, the best such pair first, until none helps.

    Args:
        points: ``(B, N, 2)``. tour: ``(B, N)``, where to begin.

    Returns:
        ``(B, N)``, no longer than before; it starts where it started.

    Raises:
        ValueError: if a tour does not name each city exactly once.

    Source: Croes 1958.
    """
    _check_tour(points, tour)
    device, points, tour = tour.device, points.cpu().double(), tour.cpu()  # mps has no float64
    positions = torch.arange(tour.shape[1])  # (N,)
    while True:
        gain, first, last = _best_reversal(points, tour)  # (B,) each
        better = gain > 1e-9  # what is less is rounding, and could go to and fro for ever
        if not better.any():
            return tour.to(device)
        inside = (positions > first[:, None]) & (positions <= last[:, None]) & better[:, None]  # (B, N)
        tour = tour.gather(1, torch.where(inside, first[:, None] + 1 + last[:, None] - positions, positions))


def _best_reversal(points: Tensor, tour: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which part of the tour it saves to reverse the stops i + 1 … j, and i and j, where it saves most."""
    stops = corners(points, tour)  # (B, N, 2)
    way = distances(stops)  # (B, N, N) between the stops
    onward = (stops - stops.roll(-1, dims=1)).square().sum(dim=-1).sqrt()  # (B, N): from each stop to the next
    after = way.roll((-1, -1), dims=(1, 2))  # (B, N, N): between the stops that follow
    gain = onward[:, :, None] + onward[:, None] - way - after  # d(i, i+1) + d(j, j+1) − d(i, j) − d(i+1, j+1)
    size = tour.shape[1]
    best = gain.triu(diagonal=1).flatten(1).max(dim=1)  # i < j
    return best.values / onward.sum(dim=1), best.indices // size, best.indices % size
