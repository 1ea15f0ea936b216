"""Spectral normalisation: a weight divided by its largest singular value, which power iteration keeps track of.

Source: Miyato et al. 2018.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrize

WARM_UP = 15  # power iterations at the beginning, as in torch


@torch.no_grad()
def spectral_norm_step(weight: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """One power iteration towards the singular vectors of the largest singular value.

    Args:
        weight: ``(out, ...)``; what follows the first axis is flattened.
        v: ``(in,)``, the right singular vector as estimated so far, of length 1.

    Returns:
        ``u (out,)`` and the new ``v (in,)``, both of length 1. Their σ = uᵀ W v approaches the largest singular value
        from below.

    Source: Miyato et al. 2018, algorithm 1 (there a step begins with v = Wᵀ u / ‖Wᵀ u‖, from the u of the step before).
    """
    matrix = weight.flatten(1)  # (out, in)
    u = F.normalize(matrix @ v, dim=0)  # (out,)
    return u, F.normalize(matrix.mT @ u, dim=0)  # (in,)


class SpectralNorm(nn.Module):
    """A parametrization for torch's ``parametrize``: the weight that a layer uses is W / σ(W).

    In training mode each use of the weight takes one power iteration; in evaluation mode the vectors stay. No gradient
    flows through them, so σ = uᵀ W v is linear in W.

    Args:
        weight: ``(out, ...)``, as it is before training.

    Source: Miyato et al. 2018, equation 8 and algorithm 1. Equal to ``torch.nn.utils.parametrizations.spectral_norm``.
    """

    u: Tensor
    v: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        v = F.normalize(torch.randn_like(weight[0].flatten()), dim=0)
        for _ in range(WARM_UP):
            u, v = spectral_norm_step(weight, v)
        self.register_buffer("u", u)
        self.register_buffer("v", v)

    def forward(self, weight: Tensor) -> Tensor:
        """The normalised weight, of the same shape."""
        if self.training:
            self.u, self.v = spectral_norm_step(weight, self.v)
        sigma = self.u @ weight.flatten(1) @ self.v
        return weight / sigma


def spectrally_normalised(layer: nn.Module, enabled: bool = True) -> nn.Module:
    """The same layer, with :class:`SpectralNorm` for its weight if ``enabled``.

    Raises:
        ValueError: if the layer has no weight of two axes or more.
    """
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim < 2:
        raise ValueError(f"layer must have a weight of at least two axes, got {type(layer).__name__}")
    if enabled:
        parametrize.register_parametrization(layer, "weight", SpectralNorm(weight))
    return layer
