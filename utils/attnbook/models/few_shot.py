"""Ways to classify a picture after a few labelled examples: in sequence, by prototypes, by pixels (chapter 15)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class GlyphEncoder(nn.Sequential):
    """Pictures ``(N, 1, 16, 16)`` -> ``(N, dim)``: three convolutions, each of which halves the side.

    Each feature is normalised over the batch, or what all pictures share would drown what tells them apart.
    """

    def __init__(self, dim: int = 64, channels: int = 32) -> None:
        halves = [_halve(before, channels) for before in (1, channels, channels)]  # 16 -> 8 -> 4 -> 2 pixels
        super().__init__(*halves, nn.Flatten(), nn.Linear(4 * channels, dim), nn.BatchNorm1d(dim))
        self.dim = dim


def _halve(before: int, channels: int) -> nn.Sequential:
    """A convolution that halves the side; its features are normalised, or the first attention sees keys too alike."""
    return nn.Sequential(nn.Conv2d(before, channels, 3, stride=2, padding=1), nn.BatchNorm2d(channels), nn.ReLU())


class EpisodeReader(nn.Module):
    """Reads an episode as a sequence, each picture with its label beside it, and answers at the last one.

    Args:
        reader: ``(B, T, encoder.dim + ways) -> (B, T, ways)``, for instance a :class:`~attnbook.models.snail.Snail`.
        encoder: pictures ``(N, 1, side, side) -> (N, dim)``.
        ways: how many labels there are.

    Source: Mishra et al. 2018, section 5.1.
    """

    def __init__(self, reader: nn.Module, encoder: GlyphEncoder, ways: int) -> None:
        super().__init__()
        self.reader, self.encoder, self.ways = reader, encoder, ways

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """``images (B, T, 1, side, side)``, ``labels (B, T − 1)`` of all but the last -> logits ``(B, ways)``."""
        return self.reader(self.sequence(images, labels))[:, -1]

    def sequence(self, images: Tensor, labels: Tensor) -> Tensor:
        """What the reader reads, ``(B, T, dim + ways)``; the last picture has zeros in place of a label."""
        features = self.encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])  # (B, T, dim)
        told = F.pad(F.one_hot(labels, self.ways), (0, 0, 0, 1)).to(features.dtype)  # (B, T, ways)
        return torch.cat([features, told], dim=-1)


class LSTMReader(nn.Module):
    """An LSTM in the place of a :class:`~attnbook.models.snail.Snail`: ``(B, T, inputs)`` -> ``(B, T, outputs)``."""

    def __init__(self, inputs: int, outputs: int, hidden: int = 128) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, batch_first=True)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Position t knows of positions 0 … t."""
        return self.output(self.lstm(x)[0])


class PrototypicalNetwork(nn.Module):
    """Each class is the mean of its examples' features; a picture belongs to the nearest mean.

    Source: Snell, Swersky and Zemel 2017, equations 1 and 2.
    """

    def __init__(self, encoder: GlyphEncoder, ways: int) -> None:
        super().__init__()
        self.encoder, self.ways = encoder, ways

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """As :class:`EpisodeReader`: the logits are the negative squared distances to the means, ``(B, ways)``."""
        features = self.encoder(images.flatten(0, 1)).unflatten(0, images.shape[:2])  # (B, T, dim)
        member = F.one_hot(labels, self.ways).to(features.dtype)  # (B, T − 1, ways)
        means = member.mT @ features[:, :-1] / member.sum(dim=1)[..., None]  # (B, ways, dim)
        return -(features[:, -1:] - means).square().sum(dim=-1)


class PixelNeighbour(nn.Module):
    """The label of the example whose picture is nearest, pixel by pixel; nothing is learned.

    Args:
        ways: how many labels there are. blur: side of the square over which pictures are averaged first, odd.
    """

    def __init__(self, ways: int, blur: int = 1) -> None:
        super().__init__()
        self.ways, self.blur = ways, blur

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        """As :class:`EpisodeReader`; the logits ``(B, ways)`` are the negative distances to each class's nearest."""
        smooth = F.avg_pool2d(images.flatten(0, 1), self.blur, stride=1, padding=self.blur // 2)
        flat = smooth.flatten(1).unflatten(0, images.shape[:2])  # (B, T, side²)
        distance = torch.cdist(flat[:, -1:], flat[:, :-1])[:, 0]  # (B, T − 1)
        nearest = torch.full((len(images), self.ways), torch.inf, device=images.device)
        return -nearest.scatter_reduce(1, labels, distance, "amin")
