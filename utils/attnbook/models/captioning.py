"""Show, Attend and Tell: a convolutional network whose feature map is attended to by an LSTM that writes a caption.

Source: Xu et al. 2015.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import Additive, PreparedKeys, attend
from attnbook.attention.hard import hard_attend, straight_through_attend
from attnbook.decoding import select
from attnbook.models.recurrent import RecurrentCell

FEATURES = 64  # of the feature map, and of an annotation


def image_to_annotations(features: Tensor) -> Tensor:
    """Lay the cells of a feature map in a row: ``(B, D, height, width)`` -> ``(B, height · width, D)``.

    Raises:
        ValueError: if ``features`` has another number of axes.

    Source: Xu et al. 2015, section 3.1.1: one annotation a_i per position.
    """
    if features.ndim != 4:
        raise ValueError(f"features must have shape (B, D, height, width), got {tuple(features.shape)}")
    return features.flatten(2).transpose(1, 2)  # (B, D, height, width) -> (B, D, Tk) -> (B, Tk, D)


def coordinates(features: Tensor) -> Tensor:
    """Row and column of each cell, from −1 to 1: ``(B, D, height, width)`` -> ``(B, 2, height, width)``."""
    rows, columns = (torch.linspace(-1, 1, n).to(features) for n in features.shape[-2:])
    grid = torch.stack(torch.meshgrid(rows, columns, indexing="ij"))  # (2, height, width)
    return grid.expand(len(features), -1, -1, -1)


class FeatureMap(nn.Sequential):
    """Three convolutions, the maximum of 2 × 2 after the first two: ``(B, 1, S, S)`` -> ``(B, 64, S / 4, S / 4)``.

    A cell stands for 4 × 4 pixels; what it holds depends on the 18 × 18 pixels around their centre.
    """

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 24, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(48, FEATURES, 3, padding=1),
            nn.ReLU(),
        )


class DigitClassifier(nn.Module):
    """A feature map, the maximum of each feature over all cells, and a linear layer: to pretrain the feature map."""

    def __init__(self, features: FeatureMap, classes: int = 10) -> None:
        super().__init__()
        self.features = features
        self.output = nn.Linear(FEATURES, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Logits of the digit on ``image (B, 1, S, S)``: ``(B, 10)``."""
        return self.output(self.features(image).amax(dim=(2, 3)))


class CaptionState(NamedTuple):
    """A captioner's state.

    Fields:
        recurrent: ``(B, S)``, hidden vector and memory cell of the LSTM.
        annotations: ``(B, Tk, D)``, the values.
        prepared: the keys as the score prepared them, once per image.
        location: ``(B,)`` long, the position that the last context was read from; of the largest weight if it was
            read from all of them.
    """

    recurrent: Tensor
    annotations: Tensor
    prepared: PreparedKeys
    location: Tensor


class Captioned(NamedTuple):
    """A teacher-forced pass: logits ``(B, T, V)``, and ``(B, T, Tk)`` weights and ``(B, T)`` positions or ``None``."""

    logits: Tensor
    weights: Tensor | None
    locations: Tensor | None


def soft_read(query, key, value, mask=None, *, score, sample=False) -> tuple[Tensor, Tensor, Tensor]:
    """Context from all positions (Xu et al. 2015, equations 4 to 6, 13); the position is that of the largest weight."""
    context, weights = attend(query, key, value, mask, score=score)
    return context, weights, weights.argmax(dim=-1)


READS: dict[str, Callable] = {"soft": soft_read, "hard": hard_attend, "straight_through": straight_through_attend}


class Captioner(nn.Module):
    """A feature map and an LSTM decoder that attends to it: ``step`` and ``start`` are those of ``Decoder``.

    Args:
        vocabulary_size: number of words, specials included.
        attention: ``"soft"``; ``"hard"`` or ``"straight_through"``, which draw a position while the model is in
            training mode, and take that of the largest weight in evaluation mode, unless the attribute ``draws`` is
            set to ``True`` or ``False``; ``"mean"`` is no attention: each context is the mean of all annotations.
        embedding, hidden: features of a word vector and of the decoder's state.
        gate: multiply the context by β_t = σ(f_β(h_{t−1})), a scalar.

    Raises:
        ValueError: for an unknown attention.

    Source: Xu et al. 2015, section 3.1 and 4.2.1 (the gate). The output layer is one linear map of state, context and
    word, ours is smaller, and a cell's coordinates stand beside its features.
    """

    def __init__(
        self, vocabulary_size: int, attention: str = "soft", embedding: int = 32, hidden: int = 128, gate: bool = False
    ) -> None:
        super().__init__()
        if attention not in ("mean", *READS):
            raise ValueError(f"attention must be one of mean, {', '.join(READS)}; got {attention!r}")
        self.read = READS.get(attention)
        self.draws: bool | None = None  # whether positions are drawn; None: in training mode
        self.features = FeatureMap()
        self.place = nn.Conv2d(FEATURES + 2, FEATURES, 1)
        self.score = Additive(hidden, FEATURES, FEATURES) if self.read else None
        self.gate = nn.Linear(hidden, 1) if gate else None
        self.embed = nn.Embedding(vocabulary_size, embedding)
        self.cell = RecurrentCell("lstm", embedding + FEATURES, hidden)
        self.first_state = nn.Linear(FEATURES, self.cell.state_size)
        self.output = nn.Linear(hidden + FEATURES + embedding, vocabulary_size)

    def annotate(self, image: Tensor) -> Tensor:
        """Keys and values of an image: ``(B, 1, S, S)`` -> ``(B, Tk, D)``, one annotation per cell."""
        features = self.features(image)  # (B, D, S / 4, S / 4)
        return image_to_annotations(self.place(torch.cat([features, coordinates(features)], dim=1)).relu())

    def start(self, image: Tensor) -> CaptionState:
        """The state before the first word of ``image (B, 1, S, S)``: the LSTM begins from the mean annotation.

        Raises:
            ValueError: if ``image`` is not ``(B, 1, S, S)`` with S divisible by 4.
        """
        check_image(image)
        annotations = self.annotate(image)
        recurrent = self.first_state(annotations.mean(dim=1)).tanh()
        prepared = self.score.prepare(annotations) if self.score else PreparedKeys(annotations)
        return CaptionState(recurrent, annotations, prepared, torch.zeros_like(image[:, 0, 0, 0], dtype=torch.long))

    def step(self, token: Tensor, state: CaptionState) -> tuple[Tensor, CaptionState, Tensor | None]:
        """z_t from h_{t-1}, then h_t from E y_{t-1} and z_t: ``token (B,)`` -> logits, state, weights ``(B, Tk)``."""
        context, weights, location = self.context(state)
        embedded = self.embed(token)  # (B,) -> (B, E)
        recurrent = self.cell(torch.cat([embedded, context], dim=-1), state.recurrent)
        logits = self.output(torch.cat([self.cell.hidden(recurrent), context, embedded], dim=-1))  # (B, V)
        return logits, state._replace(recurrent=recurrent, location=location), weights

    def context(self, state: CaptionState) -> tuple[Tensor, Tensor | None, Tensor]:
        """Attend with h_{t-1} as the query: context ``(B, D)``, weights ``(B, Tk)`` and position ``(B,)``."""
        hidden = self.cell.hidden(state.recurrent)  # (B, H)
        if self.read is None:
            return state.annotations.mean(dim=1), None, state.location
        query, values = hidden[:, None], state.annotations  # (B, 1, H): one query
        sample = self.training if self.draws is None else self.draws
        context, weights, location = self.read(query, state.prepared, values, score=self.score, sample=sample)
        if self.gate is not None:
            context = context * self.gate(hidden).sigmoid()[:, None]  # (B, 1, D) * (B, 1, 1)
        return context[:, 0], weights[:, 0], location[:, 0]

    def forward(self, image: Tensor, words: Tensor) -> Captioned:
        """Teacher forcing: the right word ``words (B, T)`` at each step.

        Raises:
            ValueError: if the shapes are not ``(B, 1, S, S)`` and ``(B, T)`` with T > 0.
        """
        if words.ndim != 2 or len(words) != len(image) or not words.shape[1]:
            raise ValueError(f"words must have shape ({len(image)}, T) with T > 0, got {tuple(words.shape)}")
        return self.follow(self.start(image), words)

    def follow(self, state: CaptionState, words: Tensor) -> Captioned:
        """As ``forward``, from a state on."""
        steps = []
        for token in words.unbind(dim=1):
            logits, state, weights = self.step(token, state)
            steps.append((logits, weights, state.location))
        if self.read is None:
            return Captioned(torch.stack([step[0] for step in steps], dim=1), None, None)
        return Captioned(*(torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)))

    select = staticmethod(select)


def check_image(image: Tensor) -> None:
    """Raise a ValueError unless ``image`` is ``(B, 1, S, S)`` with S divisible by 4."""
    side = image.shape[-1]
    if image.ndim != 4 or image.shape[1:] != (1, side, side) or side % 4 or not len(image):
        raise ValueError(f"image must have shape (B, 1, S, S) with S divisible by 4, got {tuple(image.shape)}")
