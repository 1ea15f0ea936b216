"""GNMT: a deep encoder and a deep decoder of LSTM layers, joined by attention (Wu et al. 2016).

Only the lowest layer of the encoder reads both ways. The lowest layer of the decoder asks for a context, and every
layer of the decoder is given it. Residual connections carry the input of a layer past the layer.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import Additive, PreparedKeys, attend
from attnbook.models.recurrent import RecurrentCell
from attnbook.models.seq2seq import Encoded, Encoder, TeacherForced

FIRST_RESIDUAL = 3  # the lowest layer, counted from 1, that has a residual connection; so it is in the paper


def _first_residual(layers: int, residual: bool) -> int:
    """The number of the lowest layer with a residual connection; above the last one if there is to be none."""
    if layers < 1:
        raise ValueError(f"layers must be at least 1, got {layers}")
    return FIRST_RESIDUAL if residual else layers + 1


class GNMTEncoder(Encoder):
    """A bidirectional LSTM layer, and above it LSTM layers that read from left to right.

    Args:
        vocabulary_size, embedding, hidden: as :class:`Encoder`; the two directions share the ``hidden`` features.
        layers: how many in all.
        residual: whether layers from the third on add their input to their output.

    Raises:
        ValueError: if ``layers`` is below 1, or ``hidden`` is odd.

    Source: Wu et al. 2016, section 3.2 (the bidirectional layer) and equation 6 (residual connections).
    """

    def __init__(self, vocabulary_size: int, embedding: int, hidden: int, layers: int, residual: bool) -> None:
        first_residual = _first_residual(layers, residual)
        super().__init__(vocabulary_size, embedding, hidden, "lstm", bidirectional=True)
        self.upper = nn.ModuleList(nn.LSTM(hidden, hidden, batch_first=True) for _ in range(layers - 1))
        self.first_residual = first_residual

    def forward(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Encode ``source (B, Tk)``; the annotations are the outputs of the top layer, ``last`` is the lowest one's."""
        x, last, mask = super().forward(source, lengths)  # x: (B, Tk, D), the bidirectional layer
        for layer, lstm in enumerate(self.upper, start=2):
            out, _ = lstm(x)  # (B, Tk, D); padding stands to the right, where no real word can have read it
            x = x + out if layer >= self.first_residual else out
        return Encoded(x.masked_fill(~mask[..., None], 0.0), last, mask)


class GNMTState(NamedTuple):
    """A deep decoder's state.

    Fields:
        recurrent: one ``(B, 2 · D)`` per layer, lowest layer first: hidden vector and memory cell side by side.
        annotations: ``(B, Tk, D)``, the values.
        prepared: the keys as the score prepared them, once per sentence.
        mask: ``(B, Tk)`` bool.
    """

    recurrent: tuple[Tensor, ...]
    annotations: Tensor
    prepared: PreparedKeys
    mask: Tensor


class GNMT(TeacherForced):
    """Deep encoder, deep decoder, attention between the top of the one and the bottom of the other.

    Every layer of the decoder begins with a state of zeros, so whatever the decoder knows of the source comes through
    attention. (The paper does not say how its decoder begins.)

    Args:
        source_size, target_size: vocabulary sizes.
        embedding: features of a word vector, E.
        hidden: features of a layer's output, D; even.
        layers: of the encoder, and of the decoder.
        residual: whether layers from the third on add their input to their output.

    Raises:
        ValueError: if ``layers`` is below 1, or ``hidden`` is odd.

    Source: Wu et al. 2016, section 3 and figure 1. Two differences: the output layer is given the context too, as in
    Bahdanau et al. 2015, and words are not cut into pieces.
    """

    cells: Any  # RecurrentCells in a ModuleList, whose items have no type of their own

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding: int = 32,
        hidden: int = 96,
        layers: int = 8,
        residual: bool = True,
    ) -> None:
        super().__init__()
        self.encoder = GNMTEncoder(source_size, embedding, hidden, layers, residual)
        self.embed = nn.Embedding(target_size, embedding)
        inputs = [embedding] + [hidden] * (layers - 1)
        self.cells = nn.ModuleList(RecurrentCell("lstm", size + hidden, hidden) for size in inputs)
        self.score = Additive(hidden, hidden, hidden // 2)
        self.output = nn.Linear(hidden + hidden, target_size)
        self.first_residual = self.encoder.first_residual

    def start(self, source: Tensor, lengths: Tensor) -> GNMTState:
        """Encode ``source (B, Tk)`` and keep the top layer's outputs."""
        annotations, _, mask = self.encoder(source, lengths)
        nothing = annotations.new_zeros(len(source), self.cells[0].state_size)  # (B, 2 · D)
        return GNMTState((nothing,) * len(self.cells), annotations, self.score.prepare(annotations), mask)

    def step(self, token: Tensor, state: GNMTState) -> tuple[Tensor, GNMTState, Tensor]:
        """One word ``token (B,)`` through all layers -> logits ``(B, V)``, state, weights ``(B, Tk)``."""
        context, weights = self.attend(state)  # (B, D), (B, Tk)
        x, recurrent = self.embed(token), []  # (B, E)
        for layer, (cell, before) in enumerate(zip(self.cells, state.recurrent, strict=True), start=1):
            recurrent.append(cell(torch.cat([x, context], dim=-1), before))
            out = cell.hidden(recurrent[-1])  # (B, D)
            x = x + out if layer >= self.first_residual else out
        logits = self.output(torch.cat([x, context], dim=-1))  # (B, V)
        return logits, state._replace(recurrent=tuple(recurrent)), weights

    def attend(self, state: GNMTState) -> tuple[Tensor, Tensor]:
        """What the lowest layer, as the last step left it, attends to: context ``(B, D)``, weights ``(B, Tk)``.

        Source: Wu et al. 2016, equation 4.
        """
        query = self.cells[0].hidden(state.recurrent[0])[:, None]  # (B, 1, D)
        keys, mask = state.prepared, state.mask[:, None]  # (B, 1, Tk)
        context, weights = attend(query, keys, state.annotations, score=self.score, mask=mask)
        return context[:, 0], weights[:, 0]

    def lstm_layers(self) -> dict[str, list[nn.Module]]:
        """The LSTM layers of ``"encoder"`` and ``"decoder"``, lowest first: to measure their gradients."""
        return {"encoder": [self.encoder.rnn, *self.encoder.upper], "decoder": list(self.cells)}
