"""SAGAN in small: a convolutional generator and discriminator, each with attention between positions of a feature map.

Sources: Zhang et al. 2019; Wang et al. 2018 (the non-local block); Miyato et al. 2018, appendix B (global sum pooling).
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import attend, dot
from attnbook.data.pictures.digit_pairs import HEIGHT, WIDTH
from attnbook.models.captioning import coordinates, image_to_annotations
from attnbook.models.spectral_norm import spectrally_normalised
from attnbook.modes import evaluating
from attnbook.seeding import generator

NOISE = 16  # features of a cell of the noise map
CELL = 4  # a cell of the noise map stands for 4 × 4 pixels
REDUCTION = 8  # features of a map per feature of query and key
VALUE_REDUCTION = 2  # features of a map per feature of value

Layer = Callable[[Tensor], Tensor]


def annotations_to_map(annotations: Tensor, size: Sequence[int]) -> Tensor:
    """Lay annotations out as a feature map again: ``(B, height · width, D)`` -> ``(B, D, height, width)``.

    The inverse of :func:`~attnbook.models.captioning.image_to_annotations`.

    Raises:
        ValueError: if ``annotations`` has another number of axes, or of positions.
    """
    height, width = size
    if annotations.ndim != 3 or annotations.shape[1] != height * width:
        raise ValueError(
            f"annotations must have shape (B, {height} · {width}, D) for a map of {height} × {width}, "
            f"got {tuple(annotations.shape)}"
        )
    return annotations.transpose(1, 2).unflatten(2, (height, width))  # (B, D, T) -> (B, D, height, width)


def feature_map_attention(x: Tensor, query: Layer, key: Layer, value: Layer) -> tuple[Tensor, Tensor]:
    """Each position of a feature map attends to all positions.

    Args:
        x: ``(B, C, H, W)``, the feature map. query, key, value: 1 × 1 convolutions, or any other layers that keep H
            and W; query and key have equally many features.

    Returns:
        context ``(B, Dv, H, W)`` and weights ``(B, H · W, H · W)``; row j holds how much position j attends to each
        position. Positions are counted row by row.

    Raises:
        ValueError: if ``x`` has another number of axes.

    Source: Zhang et al. 2019, equations 1 and 2: g is the query, f the key, h the value.
    """
    q, k, v = (image_to_annotations(layer(x)) for layer in (query, key, value))  # (B, C, H, W) -> (B, H · W, D) each
    context, weights = attend(q, k, v, score=dot)
    return annotations_to_map(context, x.shape[2:]), weights


def gated_residual(x: Tensor, attended: Tensor, gamma: Tensor) -> Tensor:
    """y = γ o + x, with one γ for the whole map.

    Args:
        x, attended: ``(B, C, H, W)``. gamma: a scalar.

    Raises:
        ValueError: if the shapes differ, or ``gamma`` is not a scalar.

    Source: Zhang et al. 2019, equation 3.
    """
    if x.shape != attended.shape or gamma.numel() != 1:
        got = f"{tuple(x.shape)}, {tuple(attended.shape)} and {tuple(gamma.shape)}"
        raise ValueError(f"x and attended must have the same shape and gamma one number, got {got}")
    return gamma * attended + x


class FeatureMapAttention(nn.Module):
    """Attention between the positions of a feature map, added to the map with a learnt weight γ.

    Args:
        channels: C of the map. query and key have C / 8 features each.
        gamma: what γ is before training; at 0 the layer is the identity.
        normalised: spectral normalisation of the four 1 × 1 convolutions.
        value_reduction: value has C / value_reduction features.

    Raises:
        ValueError: if ``channels`` is not a multiple of 8, or of ``value_reduction``.

    Source: Zhang et al. 2019, section 3, where value has C / 8 features, too; C / 2 is the authors' published code.
    """

    def __init__(
        self, channels: int, gamma: float = 0.0, normalised: bool = True, value_reduction: int = VALUE_REDUCTION
    ) -> None:
        super().__init__()
        for reduction in (REDUCTION, value_reduction):
            if channels < 1 or channels % reduction:
                raise ValueError(f"channels must be a multiple of {reduction}, got {channels}")
        narrow, wide = channels // REDUCTION, channels // value_reduction
        self.query, self.key = (_convolution(channels, narrow, 1, normalised, bias=False) for _ in range(2))
        self.value = _convolution(channels, wide, 1, normalised, bias=False)
        self.output = _convolution(wide, channels, 1, normalised, bias=False)
        self.gamma = nn.Parameter(torch.tensor(float(gamma)))

    def forward(self, x: Tensor) -> Tensor:
        """``(B, C, H, W)`` -> the same shape."""
        return self.attended(x)[0]

    def attended(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """As ``forward``, with the weights ``(B, H · W, H · W)``."""
        context, weights = feature_map_attention(x, self.query, self.key, self.value)
        return gated_residual(x, self.output(context), self.gamma), weights


class ImageGenerator(nn.Module):
    """Noise maps to images, by convolutions that see little of the map at once; attention at half the resolution.

    Args:
        attention: whether there is a :class:`FeatureMapAttention`. gamma: where its γ begins.
        normalised: spectral normalisation of the attention.
        channels: of the hidden feature maps; the last one has half of them.
        height, width: of an image, in pixels.
        value_reduction: as of :class:`FeatureMapAttention`.

    Raises:
        ValueError: if ``height`` or ``width`` is not a multiple of 4.

    Source: after Radford et al. 2016 and Zhang et al. 2019, section 3 and 4; ours is smaller, upsamples by repeating
    pixels, and begins from a map of noise beside the coordinates of its cells, so that without attention distant parts
    of an image depend on different noise.
    """

    def __init__(
        self,
        attention: bool = True,
        gamma: float = 0.0,
        normalised: bool = True,
        channels: int = 32,
        height: int = HEIGHT,
        width: int = WIDTH,
        value_reduction: int = VALUE_REDUCTION,
    ) -> None:
        super().__init__()
        if height % CELL or width % CELL:
            raise ValueError(f"height and width must be multiples of {CELL}, got {height} and {width}")
        self.size = (height // CELL, width // CELL)
        self.first = _hidden_layer(NOISE + 2, channels)
        self.second = _hidden_layer(channels, channels)
        self.attention = FeatureMapAttention(channels, gamma, normalised, value_reduction) if attention else None
        self.third = _hidden_layer(channels, channels // 2)
        self.output = nn.Conv2d(channels // 2, 1, 3, padding=1)

    def noise(self, count: int, seed: int = 0) -> Tensor:
        """Noise maps from a standard normal distribution, ``(B, 16, height / 4, width / 4)``, on the model's device."""
        drawn = torch.randn(count, NOISE, *self.size, generator=generator(seed))
        return drawn.to(self.output.weight)

    def hidden(self, noise: Tensor) -> Tensor:
        """The feature map that attention works on: ``(B, C, height / 2, width / 2)``."""
        cells = self.first(torch.cat([noise, coordinates(noise)], dim=1))  # (B, C, height / 4, width / 4)
        return self.second(F.interpolate(cells, scale_factor=2))  # (B, C, height / 2, width / 2)

    def weights(self, noise: Tensor) -> Tensor | None:
        """Who attends to whom while an image is made: ``(B, T, T)`` with T = height / 2 · width / 2, or ``None``."""
        return self.attention.attended(self.hidden(noise))[1] if self.attention is not None else None

    def forward(self, noise: Tensor) -> Tensor:
        """``(B, 16, height / 4, width / 4)`` -> images ``(B, 1, height, width)`` between 0 and 1.

        Raises:
            ValueError: if ``noise`` has another shape.
        """
        if noise.ndim != 4 or noise.shape[1:] != (NOISE, *self.size):
            raise ValueError(f"noise must have shape (B, {NOISE}, {self.size[0]}, {self.size[1]}), got {noise.shape}")
        x = self.hidden(noise)
        if self.attention is not None:
            x = self.attention(x)
        x = self.third(F.interpolate(x, scale_factor=2))  # (B, C / 2, height, width)
        return self.output(x).sigmoid()


class ImageDiscriminator(nn.Module):
    """Images to scores, high = real: local features, whose scores are summed over all positions.

    Without attention a score depends on 14 × 14 pixels, and their sum judges distant parts of an image separately.

    Args:
        attention, gamma, value_reduction: as of :class:`ImageGenerator`.
        normalised: spectral normalisation of every layer.
        channels: of the first feature map, the next two have twice as many.

    Source: after Miyato et al. 2018, appendix B, and Zhang et al. 2019, section 4; ours is smaller.
    """

    def __init__(
        self,
        attention: bool = True,
        gamma: float = 0.0,
        normalised: bool = True,
        channels: int = 32,
        value_reduction: int = VALUE_REDUCTION,
    ) -> None:
        super().__init__()
        self.first = _convolution(1, channels, 3, normalised)
        self.second = _convolution(channels, 2 * channels, 4, normalised, stride=2)
        self.attention = FeatureMapAttention(2 * channels, gamma, normalised, value_reduction) if attention else None
        self.third = _convolution(2 * channels, 2 * channels, 3, normalised)
        self.fourth = _convolution(2 * channels, 3 * channels // 2, 3, normalised)
        self.output = _convolution(3 * channels // 2, 1, 1, normalised)

    def hidden(self, image: Tensor) -> Tensor:
        """The feature map that attention works on: ``(B, C, H / 2, W / 2)``."""
        return self.second(self.first(image).relu()).relu()

    def weights(self, image: Tensor) -> Tensor | None:
        """Who attends to whom while ``image`` is judged: ``(B, T, T)`` with T = H / 2 · W / 2, or ``None``."""
        return self.attention.attended(self.hidden(image))[1] if self.attention is not None else None

    def local_scores(self, image: Tensor) -> Tensor:
        """The score of each position: ``(B, H / 2, W / 2)``."""
        x = self.hidden(image)
        if self.attention is not None:
            x = self.attention(x)
        return self.output(self.fourth(self.third(x).relu()).relu())[:, 0]

    def forward(self, image: Tensor) -> Tensor:
        """``(B, 1, H, W)`` -> scores ``(B,)``, any real numbers.

        Raises:
            ValueError: if ``image`` is not ``(B, 1, H, W)`` with even H and W.
        """
        if image.ndim != 4 or image.shape[1] != 1 or any(side % 2 for side in image.shape[2:]):
            raise ValueError(f"image must have shape (B, 1, H, W) with even H and W, got {tuple(image.shape)}")
        return self.local_scores(image).sum(dim=(1, 2))


class SAGAN(nn.Module):
    """A generator and its discriminator, trained together and kept together; ``forward`` generates."""

    def __init__(self, generator: ImageGenerator, discriminator: ImageDiscriminator) -> None:
        super().__init__()
        self.generator, self.discriminator = generator, discriminator

    def forward(self, noise: Tensor) -> Tensor:
        """Images ``(B, 1, H, W)`` from ``noise (B, 16, H / 4, W / 4)``."""
        return self.generator(noise)

    @evaluating
    def sample(self, count: int, seed: int = 0) -> Tensor:
        """``count`` images ``(B, 1, H, W)``; the same come for the same seed."""
        return self.generator(self.generator.noise(count, seed))

    def gammas(self) -> dict[str, float | None]:
        """γ of the generator and the discriminator; ``None`` where there is no attention."""
        layers = {"generator": self.generator.attention, "discriminator": self.discriminator.attention}
        return {name: None if layer is None else layer.gamma.item() for name, layer in layers.items()}


def _convolution(
    inputs: int, outputs: int, size: int, normalised: bool, stride: int = 1, bias: bool = True
) -> nn.Module:
    """A convolution that keeps the map's size, or divides it by the stride."""
    layer = nn.Conv2d(inputs, outputs, size, stride, padding=(size - 1) // 2, bias=bias)
    return spectrally_normalised(layer, normalised)


def _hidden_layer(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())
