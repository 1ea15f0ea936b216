"""A link between distant positions that is no attention: two dense layers over the positions of a feature map."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from attnbook.models.captioning import image_to_annotations
from attnbook.models.sagan import REDUCTION, VALUE_REDUCTION, annotations_to_map, gated_residual
from attnbook.models.spectral_norm import spectrally_normalised


class DensePositions(nn.Module):
    """SAGAN's layer, where two dense layers over the N positions stand in place of queries and keys.

    The values of all positions pass through C² / (8 N) numbers per feature. So there are as many parameters as in
    :class:`~attnbook.models.sagan.FeatureMapAttention`, but what a position receives from another one is the same for
    all images.

    Args:
        channels: C of the map. size: its height and width; N is their product.
        gamma, normalised, value_reduction: as of ``FeatureMapAttention``.

    Raises:
        ValueError: if C² isn't a multiple of 8 N.

    Source: ours.
    """

    def __init__(
        self,
        channels: int,
        size: Sequence[int],
        gamma: float = 0.0,
        normalised: bool = True,
        value_reduction: int = VALUE_REDUCTION,
    ) -> None:
        super().__init__()
        positions, wide = size[0] * size[1], channels // value_reduction
        middle, rest = divmod(channels**2, REDUCTION * positions)
        if rest:
            raise ValueError(f"channels² must be a multiple of {REDUCTION} · {positions}, got {channels} channels")
        self.gather = spectrally_normalised(nn.Linear(positions, middle, bias=False), normalised)
        self.spread = spectrally_normalised(nn.Linear(middle, positions, bias=False), normalised)
        self.value = spectrally_normalised(nn.Conv2d(channels, wide, 1, bias=False), normalised)
        self.output = spectrally_normalised(nn.Conv2d(wide, channels, 1, bias=False), normalised)
        self.gamma = nn.Parameter(torch.tensor(float(gamma)))

    def forward(self, x: Tensor) -> Tensor:
        """``(B, C, H, W)`` -> the same shape."""
        return self.attended(x)[0]

    def attended(self, x: Tensor) -> tuple[Tensor, None]:
        """As ``forward``, with ``None`` in place of the weights of attention."""
        values = image_to_annotations(self.value(x)).mT  # (B, C / 2, N)
        context = annotations_to_map(self.spread(self.gather(values)).mT, x.shape[2:])  # (B, C / 2, H, W)
        return gated_residual(x, self.output(context), self.gamma), None
