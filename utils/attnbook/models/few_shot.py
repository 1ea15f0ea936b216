"""Ways to classify a picture after a few labelled examples: as a sequence, by prototypes, by pixels (chapter 15)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.device import on_cpu


class GlyphEncoder(nn.Sequential):
    """Pictures ``(N, 1, 16, 16)`` -> ``(N, dim)``: three convolutions, each of which halves the side.

    Batch normalisation takes away what all pictures have in common; otherwise their features would be nearly alike.
    In training it makes each picture's features depend on its batch, the questions included; in evaluation it doesn't.
    """

    def __init__(self, dim: int = 64, channels: int = 32) -> None:
        halves = [_halve(before, channels) for before in (1, channels, channels)]  # 16 -> 8 -> 4 -> 2 pixels
        super().__init__(*halves, nn.Flatten(), nn.Linear(4 * channels, dim), nn.BatchNorm1d(dim))
        self.dim = dim


def _halve(before: int, channels: int) -> nn.Sequential:
    """A convolution that halves the side of the picture, normalised over the batch."""
    return nn.Sequential(nn.Conv2d(before, channels, 3, stride=2, padding=1), nn.BatchNorm2d(channels), nn.ReLU())


class EpisodeReader(nn.Module):
    """Reads an episode as a sequence of pictures with their labels, and predicts the label of the last picture.

    Args:
        reader: ``(B, T, encoder.dim + ways) -> ((B, T, ways), weights)``, a :class:`~attnbook.models.snail.Snail`.
        encoder: pictures ``(N, 1, side, side) -> (N, dim)``.
        ways: how many labels there are.

    Source: Mishra et al. 2018, sections 3 and 5.1.
    """

    def __init__(self, reader: nn.Module, encoder: GlyphEncoder, ways: int) -> None:
        super().__init__()
        self.reader, self.encoder, self.ways = reader, encoder, ways

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """``images (B, T, 1, side, side)``, ``labels (B, T − 1)`` of all but the last -> logits ``(B, ways)``."""
        return self.reader(self.sequence(images, labels))[0][:, -1]

    def sequence(self, images: Tensor, labels: Tensor) -> Tensor:
        """The reader's input ``(B, T, dim + ways)``: features and one-hot label; zeros replace the last label."""
        features = self.encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])  # (B, T, dim)
        given = F.pad(F.one_hot(labels, self.ways), (0, 0, 0, 1)).to(features.dtype)  # (B, T, ways)
        return torch.cat([features, given], dim=-1)


class PrototypicalNetwork(nn.Module):
    """Each class is the mean of its examples' features; a picture is given the label of the nearest mean.

    Args:
        encoder: pictures ``(N, 1, side, side) -> (N, dim)``.
        ways: how many labels there are; each needs at least one example.

    Source: Snell, Swersky and Zemel 2017, equations 1 and 2.
    """

    def __init__(self, encoder: GlyphEncoder, ways: int) -> None:
        super().__init__()
        self.encoder, self.ways = encoder, ways

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """As :class:`EpisodeReader`: the logits are the negative squared distances to the means, ``(B, ways)``.

        Raises:
            ValueError: if, on the CPU, a label has no example in some episode, and so no mean.
        """
        features = self.encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])  # (B, T, dim)
        member = F.one_hot(labels, self.ways).to(features.dtype)  # (B, T − 1, ways)
        examples = member.sum(dim=1)  # (B, ways)
        if on_cpu(examples) and not examples.all():
            raise ValueError(f"labels must name each of {self.ways} classes in every episode, got {labels.tolist()}")
        means = member.mT @ features[:, :-1] / examples[..., None]  # (B, ways, dim)
        return -(features[:, -1:] - means).square().sum(dim=-1)


class PixelNeighbour(nn.Module):
    """The label of the example whose picture is nearest, pixel by pixel; nothing is learned.

    Args:
        ways: how many labels there are.
        blur: side of the square of pixels over which pictures are averaged first; 1 leaves them as they are.

    Raises:
        ValueError: if ``blur`` is not odd, because such a square has no pixel in its middle.
    """

    def __init__(self, ways: int, blur: int = 1) -> None:
        super().__init__()
        if blur < 1 or blur % 2 == 0:
            raise ValueError(f"blur must be odd and at least 1, got {blur}")
        self.ways, self.blur = ways, blur

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """As :class:`EpisodeReader`; the logits ``(B, ways)`` are the negative distances to each class's nearest."""
        smooth = F.avg_pool2d(images.flatten(0, 1), self.blur, stride=1, padding=self.blur // 2)
        flat = smooth.flatten(1).unflatten(0, images.shape[:2])  # (B, T, side²)
        distance = torch.cdist(flat[:, -1:], flat[:, :-1])[:, 0]  # (B, T − 1)
        nearest = distance.new_full((len(images), self.ways), torch.inf)
        return -nearest.scatter_reduce(1, labels, distance, "amin")
