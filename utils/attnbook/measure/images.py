"""How good are generated pairs of digits? Agreement beside chance, counts of classes, distances between features."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.pictures.captions import SIZE, digit_images
from attnbook.seeding import generator, seed_of_step
from attnbook.training import fit
from attnbook.training.progress import listening

JUDGE_STEPS = 1000
JUDGE_TRAINING = {"batch": 64, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}
CLASSES, FEATURES = 10, 64


class JudgeNetwork(nn.Module):
    """Two convolutions and two linear layers, which see where in the image a stroke lies."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 16, FEATURES),
            nn.ReLU(),
        )
        self.output = nn.Linear(FEATURES, CLASSES)
        self.dropout = nn.Dropout(0.5)  # while it is trained: there are 1,400 images only

    def forward(self, image: Tensor) -> Tensor:
        """Logits of the digit on ``image (N, 1, 8, 8)``: ``(N, 10)``."""
        return self.output(self.dropout(self.features(image)))


class Judge:
    """Says which digit an image shows, and by which features: a network trained on real digits, then left alone."""

    def __init__(self, network: JudgeNetwork) -> None:
        self.network = network.eval()

    @torch.no_grad()
    def features(self, digits: Tensor) -> Tensor:
        """What the last layer is computed from: ``(..., 8, 8)`` -> ``(..., 64)``."""
        images = digits.flatten(0, -3)[:, None] if digits.ndim > 2 else digits[None, None]  # (N, 1, 8, 8)
        found = self.network.features(images.to(self.network.output.weight))  # (N, 64)
        return found.view(*digits.shape[:-2], FEATURES)

    @torch.no_grad()
    def __call__(self, digits: Tensor) -> Tensor:
        """The most likely digit: ``(..., 8, 8)`` -> ``(...)`` long, from 0 to 9."""
        return self.network.output(self.features(digits)).argmax(dim=-1)


class _Crops(NamedTuple):
    """Single digits: image ``(B, 1, 8, 8)``, label ``(B,)``."""

    image: Tensor
    label: Tensor

    def to(self, device: torch.device | str) -> "_Crops":
        """The same batch on another device."""
        return _Crops(*(tensor.to(device) for tensor in self))


def _shifted_digits(count: int, seed: int) -> _Crops:
    """Digits of the training part, all of a batch shifted by the same zero or one pixel in each direction."""
    draw, (images, labels) = generator(seed), digit_images()
    which = torch.randint(len(images), (count,), generator=draw)  # (B,)
    down, right = torch.randint(3, (2,), generator=draw).tolist()
    padded = F.pad(images[which][:, None], (1, 1, 1, 1))  # (B, 1, 10, 10)
    return _Crops(padded[..., down : down + SIZE, right : right + SIZE], labels[which])


@cache
def trained_judge(seed: int = 0, steps: int = JUDGE_STEPS) -> Judge:
    """A judge, trained within seconds on the digits of the training part; the same again for the same seed.

    No other random numbers are disturbed. A second call returns the first one's judge.
    """
    how = {name: value for name, value in JUDGE_TRAINING.items() if name != "batch"}
    # The bar of an experiment counts the steps of its own trainings alone.
    with torch.random.fork_rng(devices=[]), listening(lambda steps, note: None):
        torch.manual_seed(seed)
        network = JudgeNetwork()
        fit(
            network,
            lambda step: _shifted_digits(int(JUDGE_TRAINING["batch"]), seed_of_step(seed, step)),
            steps,
            loss=lambda model, batch: F.cross_entropy(model(batch.image), batch.label),
            progress=False,
            **how,  # type: ignore[arg-type]
        )
    return Judge(network)


def judge_accuracy(judge: Judge) -> float:
    """Share of the 397 held-out digits that the judge names rightly."""
    images, labels = digit_images(held_out=True)
    return (judge(images) == labels).cpu().double().mean().item()


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
