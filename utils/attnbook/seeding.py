"""Chance, on a leash: the same seed gives the same numbers."""

import random
import sys
from numbers import Integral

import torch

LARGEST = 2**32 - 1  # what numpy takes
_APART = 1_000_003  # from one seed's steps to the next seed's: more than any training of the book has steps


def seed_everything(seed: int) -> None:
    """Set the seeds of Python, numpy and torch (on each device); do so before a model draws its weights.

    Args:
        seed: whole number from 0 to 2³² − 1.

    Raises:
        TypeError: if ``seed`` isn't a whole number.
        ValueError: if it is out of range.
    """
    seed = _checked(seed)
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):  # libraries that students bring may draw from its global generator
        numpy.random.seed(seed)
    torch.manual_seed(seed)


def generator(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a source of random numbers of its own; drawing from it disturbs no other.

    Data are drawn on the CPU, which gives the same on every machine, and then moved. What a model decides by chance (a
    word, an action, a tour) is drawn on its own device, because there its probabilities are; each kind of device draws
    other numbers for a seed.

    Args:
        seed: whole number from 0 to 2³² − 1.
        device: where the random tensors shall be made; the generator must live there too.

    Raises:
        TypeError: if ``seed`` isn't a whole number.
        ValueError: if it is out of range.
    """
    return torch.Generator(device=device).manual_seed(_checked(seed))


def seed_of_step(seed: int, step: int) -> int:
    """Return the seed that a training with ``seed`` draws with at ``step``: another one for each seed and each step.

    The batch of a step is then the same whether the training was interrupted before it or not. All of these seeds are
    larger than a million, and tests draw with smaller ones, so that no batch of a training is drawn as a test is. The
    stored records were made with these very numbers, which must therefore not change.

    torch's generator on the CPU tells 2³² seeds apart, and 4294 trainings use them up: from seed 4294 on the numbers
    are those of small seeds again, at other steps.

    Args:
        seed: of the training, from 0 on.
        step: from 0 to 1 000 002; beyond that the next seed's numbers begin.

    >>> seed_of_step(0, 0), seed_of_step(0, 7), seed_of_step(2, 7), seed_of_step(4294, 0)
    (1000003, 1000010, 3000016, 1045592)
    """
    return _APART + (_APART * seed + step) % (LARGEST + 1 - _APART)


def _checked(seed: int) -> int:
    # bool is a kind of int in Python, but seed=True is a slip
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed must be a whole number, got {seed!r}")
    if not 0 <= seed <= LARGEST:
        raise ValueError(f"seed must lie between 0 and {LARGEST}, got {seed}")
    return int(seed)
