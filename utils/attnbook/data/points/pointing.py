"""Tasks whose answer is a row of positions in the input: sorting numbers, walking around a hull, a round trip.

A batch is a :class:`~attnbook.data.batching.Batch` of points: source ``(B, N, P)`` of real numbers, lengths ``(B,)``,
target ``(B, T)`` long, positions from 0 to N − 1, and N where a row has ended.
"""

from functools import cache

import torch
from torch import Tensor

from attnbook.data.batching import Batch
from attnbook.data.points.geometry import convex_hull, random_points
from attnbook.data.points.tours import augment_tours, held_karp
from attnbook.seeding import generator


def batch_of(points: Tensor, target: Tensor) -> Batch:
    """A batch of instances that all have as many positions: ``points (B, N, P)``, ``target (B, T)``."""
    return Batch(points, torch.full((len(points),), points.shape[1]), target)


def sorting_batch(size: int, count: int, seed: int = 0) -> Batch:
    """``count`` times ``size`` numbers between 0 and 1; the target names them from the smallest to the largest.

    Raises:
        ValueError: if ``size`` or ``count`` is not positive.
    """
    numbers = random_points(size, count, generator(seed))[..., :1]  # (B, N, 1)
    return batch_of(numbers, numbers[..., 0].argsort(dim=-1))


def hull_batch(size: int, count: int, seed: int = 0) -> Batch:
    """``count`` times ``size`` points; the target is :func:`~attnbook.data.points.geometry.convex_hull`, ended by N.

    Raises:
        ValueError: if ``size`` is under 3 or ``count`` not positive.

    Source: Vinyals et al. 2015, section 2.4.
    """
    if size < 3:
        raise ValueError(f"size is {size}; a hull needs at least 3 points")
    points = random_points(size, count, generator(seed))
    return batch_of(points, convex_hull(points))


def tour_batch(size: int, count: int, seed: int = 0) -> Batch:
    """``count`` times ``size`` cities; the target is the shortest tour, from city 0, counter-clockwise.

    Raises:
        ValueError: if ``size`` or ``count`` is not positive, or there are more cities than the exact solver takes.

    Source: Vinyals et al. 2015, section 2.4.
    """
    points = random_points(size, count, generator(seed))
    return batch_of(points, held_karp(points))


solved_tours = cache(tour_batch)  # many labels take seconds: made once, and drawn from again and again


def training_tours(size: int, count: int, seed: int, pool: int = 100_000, pool_seed: int = 1) -> Batch:
    """``count`` instances out of ``pool`` solved ones, each turned or mirrored by chance.

    Raises:
        ValueError: as :func:`tour_batch`.
    """
    solved, source = solved_tours(size, pool, pool_seed), generator(seed)
    rows = torch.randint(pool, (count,), generator=source)
    return batch_of(*augment_tours(solved.source[rows], solved.target[rows], source))
