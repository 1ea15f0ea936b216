"""Labels for round trips of up to 20 cities: exact ones where they are cheap, else the best of a local search.

Held and Karp's table takes some 3.5 times as long for each further city: 0.06 ms per instance of 10 cities, 0.4 ms of
12, 57 ms of 16. So sets of more than 12 cities are solved by :func:`iterated_two_opt`, whose tours are not proved to be
the shortest: with 60 rounds 58 of 60 sets of 16 cities were (mean gap 0.06 %), at 7 ms each; 20 cities take 13 ms.
"""

from pathlib import Path

import torch
from torch import Tensor

from attnbook.data.batching import Batch
from attnbook.data.points.geometry import random_points
from attnbook.data.points.pointing import batch_of
from attnbook.data.points.tours import augment_tours, canonical_tour, held_karp, nearest_neighbour, tour_length, two_opt
from attnbook.files import whole_file
from attnbook.seeding import generator

EXACT = 12  # cities up to which labels are proved to be the shortest tours
ROUNDS = 60  # of the local search beyond
TOGETHER = 2000  # instances that are searched side by side


def double_bridge(tour: Tensor, generator: torch.Generator) -> Tensor:
    """Cut each tour into four parts A B C D by chance, and join them as A C B D: ``(B, N)`` -> ``(B, N)``, N ≥ 4.

    No single reversal of :func:`~attnbook.data.points.tours.two_opt` can take this back, so a search leaves
    where it is stuck.

    Raises:
        ValueError: if there are fewer than 4 cities.

    Source: Martin, Otto and Felten 1991.
    """
    count, size = tour.shape
    if size < 4:
        raise ValueError(f"tour has {size} cities; four parts need at least 4")
    cuts = torch.rand(count, size - 1, generator=generator).topk(3).indices.sort(dim=1).values + 1  # (B, 3) from 1 on
    part = (torch.arange(size) >= cuts[..., None].to(tour.device)).sum(dim=1)  # (B, N): 0 … 3
    order = torch.tensor([0, 2, 1, 3], device=tour.device)[part] * size + torch.arange(size, device=tour.device)
    return tour.gather(1, order.argsort(dim=1))


def iterated_two_opt(points: Tensor, rounds: int, generator: torch.Generator) -> Tensor:
    """2-opt from *nearest first*, then ``rounds`` times: a double bridge, 2-opt again, and keep the shorter tour.

    Args:
        points: ``(B, N, 2)``.
        rounds: how often. generator: of the cuts, on the CPU.

    Returns:
        ``(B, N)``, from city 0, counter-clockwise.

    Source: Martin, Otto and Felten 1991, with 2-opt as the local search and without temperature.
    """
    tour = two_opt(points, nearest_neighbour(points))
    if points.shape[1] >= 5:  # 2-opt finds the shortest of the three tours of 4 cities
        for _ in range(rounds):
            other = two_opt(points, double_bridge(tour, generator))
            shorter = tour_length(points, other) < tour_length(points, tour)  # (B,)
            tour = torch.where(shorter[:, None], other, tour)
    return canonical_tour(points, tour)


def label_tours(points: Tensor, seed: int = 0) -> Tensor:
    """Shortest tours ``(B, N)`` of up to 12 cities, and beyond those of :func:`iterated_two_opt`.

    ``seed`` is that of the local search.
    """
    if points.shape[1] <= EXACT:
        return held_karp(points)
    source = generator(seed)
    return torch.cat([iterated_two_opt(part, ROUNDS, source) for part in points.split(TOGETHER)])


def labelled_tours(size: int, count: int, seed: int = 0) -> Batch:
    """``count`` times ``size`` cities with :func:`label_tours`; of up to 12 cities the same as ``tour_batch``.

    Raises:
        ValueError: if ``size`` or ``count`` is not positive.
    """
    points = random_points(size, count, generator(seed))
    return batch_of(points, label_tours(points, seed))


def kept_tours(size: int, count: int, seed: int, folder: Path) -> Batch:
    """:func:`labelled_tours`, read from a file in ``folder`` if it is there, else made and written there."""
    file = folder / f"tours_{size}_{count}_{seed}.pt"
    if not file.is_file():
        batch = labelled_tours(size, count, seed)
        with whole_file(file) as whole:  # two processes may be at it at once
            torch.save(tuple(batch), whole)
    return Batch(*torch.load(file, weights_only=True))


def draw_tours(pool: Batch, count: int, seed: int) -> Batch:
    """``count`` instances out of a pool, each turned or mirrored by chance."""
    source = generator(seed)
    rows = torch.randint(len(pool.source), (count,), generator=source)  # (B,)
    return batch_of(*augment_tours(pool.source[rows], pool.target[rows], source))
