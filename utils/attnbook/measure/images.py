"""How good are generated pairs of digits? Agreement beside chance, counts of classes, distances between features."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnbook.data.pictures.captions import digit_images

CLASSES = 10


def agreement_and_chance(left: Tensor, right: Tensor, classes: int = CLASSES) -> tuple[float, float]:
    """How often the two digits of a pair are the same, and how often they would be if drawn independently.

    Chance is Σ_c p_left(c) p_right(c), with the shares of the classes as they are on each side. A generator that always
    makes the same digit has agreement 1, and chance 1 beside it.

    Args:
        left, right: ``(N,)`` whole numbers from 0 to ``classes`` − 1.

    Raises:
        ValueError: if the shapes differ, there are no pairs, or a number is out of range.
    """
    _check_pairs(left, right, classes)
    p_left, p_right = (torch.bincount(side, minlength=classes) / len(side) for side in (left, right))  # (classes,)
    return (left == right).cpu().double().mean().item(), (p_left.cpu().double() @ p_right.cpu().double()).item()


def mode_counts(left: Tensor, right: Tensor, classes: int = CLASSES) -> Tensor:
    """How many pairs there are of each class on the left (row) with each on the right (column): ``(classes, classes)``.

    The diagonal holds the pairs that agree, by class. Arguments and errors as of :func:`agreement_and_chance`.
    """
    _check_pairs(left, right, classes)
    return torch.bincount(left * classes + right, minlength=classes**2).unflatten(0, (classes, classes))


def nearest_digits(digits: Tensor) -> tuple[Tensor, Tensor]:
    """The class of the nearest training image, and its Euclidean distance: a judge that was never trained.

    Args:
        digits: ``(..., 8, 8)``, with one leading axis at least.

    Returns:
        labels ``(...)`` long and distances ``(...)``, in units of full ink.
    """
    images, labels = digit_images()
    exact = "donot_use_mm_for_euclid_dist"  # by a matrix product, small distances are lost in rounding
    apart = torch.cdist(digits.flatten(0, -3).flatten(1).cpu(), images.flatten(1), compute_mode=exact)  # (N, 1400)
    distances, nearest = (found.view(digits.shape[:-2]) for found in apart.min(dim=-1))  # (...) each
    return labels[nearest], distances


def frechet_distance(one: Tensor, other: Tensor) -> float:
    """Squared Fréchet distance between normal distributions with the means and covariances of two samples.

    ‖μ₁ − μ₂‖² + tr(Σ₁ + Σ₂ − 2 (Σ₁ Σ₂)^½). With features of an Inception network this is the FID; with those of another
    network it is not, and figures of different networks cannot be compared.

    Args:
        one, other: ``(N, D)`` and ``(M, D)``, features of two sets of images.

    Raises:
        ValueError: if these are not two axes each with the same D, and at least two rows.

    Source: Dowson and Landau 1982; Heusel et al. 2017, equation 6.
    """
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1] or min(len(one), len(other)) < 2:
        raise ValueError(f"one and other must be (N, D) and (M, D), N, M > 1; got {one.shape} and {other.shape}")
    one, other = one.cpu().double(), other.cpu().double()
    first, second = one.T.cov(), other.T.cov()  # (D, D)
    values, vectors = torch.linalg.eigh(first)
    root = (vectors * values.clamp_min(0).sqrt()) @ vectors.T  # Σ₁^½
    # Σ₁ Σ₂ has the eigenvalues of the symmetric Σ₁^½ Σ₂ Σ₁^½.
    mixed = torch.linalg.eigvalsh(root @ second @ root).clamp_min(0).sqrt().sum()
    apart = (one.mean(dim=0) - other.mean(dim=0)).square().sum()
    return max(0.0, (apart + first.trace() + second.trace() - 2 * mixed).item())


def side_shares(weights: Tensor, sides: Sequence[Tensor]) -> Tensor:
    """How much of their attention the positions of one region give to those of each region, on average.

    Args:
        weights: ``(B, T, T)``. sides: R bool masks ``(T,)``, one per region.

    Returns:
        ``(B, R, R)``: row = region of the queries, column = region of the keys. Uniform attention gives a region's
        share of all positions.

    Raises:
        ValueError: if the shapes do not fit, or a region has no position.
    """
    if weights.ndim != 3 or any(side.shape != weights.shape[2:] for side in sides):
        shapes = [tuple(side.shape) for side in sides]
        raise ValueError(f"weights must be (B, T, T) and sides (T,) each, got {tuple(weights.shape)} and {shapes}")
    if not all(side.any() for side in sides):
        raise ValueError("sides holds a region without a position, from which no attention can come")
    received = torch.stack([weights[:, :, side].sum(dim=-1) for side in sides], dim=-1)  # (B, T, R)
    return torch.stack([received[:, side].mean(dim=1) for side in sides], dim=1)  # (B, R, R)


def _check_pairs(left: Tensor, right: Tensor, classes: int) -> None:
    if left.ndim != 1 or left.shape != right.shape or not len(left):
        raise ValueError(f"left and right must be (N,) each, N > 0, got {tuple(left.shape)} and {tuple(right.shape)}")
    smallest, largest = min(int(left.min()), int(right.min())), max(int(left.max()), int(right.max()))
    if smallest < 0 or largest >= classes:
        raise ValueError(f"left and right must lie from 0 to {classes - 1}, got {smallest} to {largest}")
