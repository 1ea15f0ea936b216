"""Solved round trips for experiments to train on and to test with; each set is solved once and kept in a file."""

from functools import cache

from attnbook.data.batching import Batch
from attnbook.data.points.tour_labels import draw_tours, kept_tours
from attnruns.shared.record import SCRATCH

POOL = 20_000  # solved round trips of each size where labels are dear; eight symmetries make 160,000 of them
POOL_SEED = 1  # of their cities; tests are drawn with other seeds
TOURS = SCRATCH / "tours"  # where these are kept


def solved_batch(size: int, count: int, seed: int) -> Batch:
    """``count`` round trips of ``size`` cities to test with, read from their file if they were solved before."""
    return kept_tours(size, count, seed, TOURS)


@cache
def pool_of(size: int) -> Batch:
    """The solved round trips of one size that trainings draw from."""
    return kept_tours(size, POOL, POOL_SEED, TOURS)


def pooled_batch(size: int, count: int, seed: int) -> Batch:
    """``count`` round trips of ``size`` cities to train on, drawn from :func:`pool_of`, each turned or mirrored."""
    return draw_tours(pool_of(size), count, seed)
