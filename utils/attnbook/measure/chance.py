"""Do counts agree with the probabilities that they should have?"""

import torch
from torch import Tensor


def chi_squared_p(counts: Tensor, probabilities: Tensor) -> float:
    """The probability of counts that lie at least this far from the expected ones, if the probabilities hold.

    The distance is χ² = Σ (counts − expected)² / expected. A small result, say under .001, speaks against the
    probabilities; where they hold, every number from 0 to 1 is as likely. Each expected count should be 5 or more.

    Args:
        counts: ``(V,)``, how often each outcome came. probabilities: ``(V,)``, above 0; they are normalised.

    Raises:
        ValueError: if the shapes differ, there are fewer than two outcomes or no counts, or a probability is not above
            0.

    Source: Pearson 1900.
    """
    if counts.shape != probabilities.shape or counts.ndim != 1 or len(counts) < 2:
        raise ValueError(
            f"counts and probabilities must both be (V,) with V > 1, got {tuple(counts.shape)} and "
            f"{tuple(probabilities.shape)}"
        )
    counts, probabilities = counts.cpu().double(), probabilities.cpu().double()
    if counts.sum() <= 0 or (probabilities <= 0).any():
        raise ValueError("there must be counts, and every probability must be above 0")
    expected = probabilities / probabilities.sum() * counts.sum()  # (V,)
    distance = ((counts - expected) ** 2 / expected).sum()
    return torch.special.gammaincc(torch.tensor((len(counts) - 1) / 2).double(), distance / 2).item()
