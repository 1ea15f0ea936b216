"""A vision Transformer: an image is cut into patches, and a stack of the usual blocks reads them as if they were words.

The blocks are those of :mod:`attnbook.models.bert`, without a mask, because all images of a batch have equally many
patches. Source: Dosovitskiy et al. 2021.
"""

import torch
from torch import Tensor, nn

from attnbook.attention import Learned
from attnbook.models.block import TransformerConfig, mean_over_heads
from attnbook.models.transformer import Stack, start_as_xavier
from attnbook.modes import evaluating


def patches_to_tokens(images: Tensor, patch: int) -> Tensor:
    """Cut images into square patches, row by row, and write the pixels of each into one vector.

    Args:
        images: ``(B, C, H, W)``.
        patch: P, the side of a patch in pixels.

    Returns:
        ``(B, N, C · P · P)`` with N = H/P · W/P: of each patch channel after channel, and in a channel row after row.

    Raises:
        ValueError: if ``images`` has another number of axes, or its sides are not multiples of ``patch``.

    Source: Dosovitskiy et al. 2021, section 3.1.
    """
    if images.ndim != 4:
        raise ValueError(f"images must have shape (B, C, H, W), got {tuple(images.shape)}")
    batch, channels, height, width = images.shape
    if patch < 1 or height % patch or width % patch:
        raise ValueError(f"height and width must be multiples of patch, got {height} × {width} pixels and {patch}")
    grid = images.reshape(batch, channels, height // patch, patch, width // patch, patch)  # (B, C, H/P, P, W/P, P)
    return grid.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)  # (B, H/P, W/P, C, P, P) -> (B, N, C · P · P)


class VisionTransformer(nn.Module):
    """Patches and a class token, each with a learned position, in blocks without a mask; the class token is classified.

    Args:
        classes: how many there are; ``None`` leaves out the head, so that the class token's vector is returned.
        config: see :class:`~attnbook.models.block.TransformerConfig`, whose ``max_length`` is not used: ``side`` and
            ``patch`` say how many positions there are. The paper has pre-norm and GELU.
        side: S, height and width of an image in pixels. patch: P, of a patch. channels: C, of an image.

    Raises:
        ValueError: if ``side`` is not a multiple of ``patch``, or positions are not learned.

    Source: Dosovitskiy et al. 2021, equations 1 to 4.
    """

    def __init__(
        self, classes: int | None, config: TransformerConfig | None = None, side: int = 8, patch: int = 2,
        channels: int = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.config = config = TransformerConfig(positions="learned", feed_forward="gelu") if config is None else config
        if patch < 1 or side < patch or side % patch:
            raise ValueError(f"side must be a multiple of patch, got {side} and {patch}")
        if config.positions != "learned":
            raise ValueError(f"positions must be learned, one vector per patch, got {config.positions!r}")
        self.shape, self.patch = (channels, side, side), patch
        self.embed = nn.Linear(channels * patch**2, config.d_model)  # E
        self.class_token = nn.Parameter(torch.zeros(config.d_model))  # x_class
        self.add_positions = Learned(config.d_model, 1 + (side // patch) ** 2)  # E_pos
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = Stack(config)
        start_as_xavier([self.blocks])
        self.output = nn.Identity() if classes is None else nn.Linear(config.d_model, classes)

    def encode(self, images: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        """Read ``images (B, C, S, S)``.

        Returns:
            one vector per token, the class token first, ``(B, 1 + N, D)``, and each layer's weights
            ``(B, H, 1 + N, 1 + N)``, or ``None`` when fused.

        Raises:
            ValueError: if the images have another shape, or there are none.
        """
        if images.shape[1:] != self.shape or len(images) == 0:
            wanted = ", ".join(map(str, self.shape))
            raise ValueError(f"images must have shape (B, {wanted}) with B > 0, got {tuple(images.shape)}")
        x = self.embed(patches_to_tokens(images, self.patch))  # (B, N, D)
        first = self.class_token.expand(len(x), 1, -1)  # (B, 1, D)
        x, seen = self.dropout(self.add_positions(torch.cat([first, x], dim=1))), []  # (B, 1 + N, D): equation 1
        for layer in self.blocks.layers:  # equations 2 and 3
            x, _, weights, _ = layer(x)
            seen.append(weights)
        return self.blocks.last_norm(x), seen

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read as :meth:`encode` does.

        Returns:
            logits of the classes ``(B, classes)``, from the class token (equation 4), or its vector ``(B, D)`` without
            a head; and weights ``(B, 1 + N, 1 + N)``: of the last layer, the mean of its heads; ``None`` if fused.
        """
        x, seen = self.encode(images)
        return self.output(x[:, 0]), mean_over_heads(seen[-1])

    @evaluating
    def maps(self, images: Tensor) -> list[Tensor | None]:
        """Each layer's weights ``(B, H, 1 + N, 1 + N)``; arguments as of :meth:`encode`."""
        return self.encode(images)[1]
