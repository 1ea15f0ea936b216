"""Sequence to sequence: an encoder, a decoder with one fixed vector, a decoder with attention.

A decoder is a *step*, ``step(token, state) -> (logits, state, weights)``. Teacher forcing, greedy decoding and beam
search are loops around it (:class:`attnbook.decoding.Decoder`). Sources: Sutskever et al. 2014, Cho et al. 2014,
Bahdanau et al. 2015.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnbook.attention import Additive, Alignment, PreparedKeys, Score, attend, padding_mask
from attnbook.decoding import select
from attnbook.models.inputs import check_decoder_input, check_source
from attnbook.models.recurrent import RecurrentCell, check_cell


class Encoded(NamedTuple):
    """What an encoder leaves for a decoder.

    Fields:
        annotations: ``(B, Tk, D)``, one vector a source word; zeros at padding.
        last: ``(B, S)``, the final state: what a plain decoder calls c.
        mask: ``(B, Tk)`` bool, ``True`` at real words.
    """

    annotations: Tensor
    last: Tensor
    mask: Tensor


class Encoder(nn.Module):
    """Read a padded batch of sentences with a GRU or an LSTM, once or in both directions.

    Args:
        vocabulary_size: number of source words, specials included.
        embedding: features of a word vector, E.
        hidden: features of an annotation, D. A bidirectional encoder gives half to each direction.
        cell: ``"gru"`` or ``"lstm"``.
        bidirectional: read also from right to left.

    Raises:
        ValueError: for an unknown cell, or an odd ``hidden`` when bidirectional.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding: int = 32,
        hidden: int = 128,
        cell: str = "gru",
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        check_cell(cell)
        if bidirectional and hidden % 2:
            raise ValueError(f"hidden must be even to be shared between two directions, got {hidden}")
        self.embed = nn.Embedding(vocabulary_size, embedding)
        width = hidden // 2 if bidirectional else hidden
        layer = nn.GRU if cell == "gru" else nn.LSTM
        self.rnn = layer(embedding, width, batch_first=True, bidirectional=bidirectional)
        self.output_size = hidden
        self.state_size = hidden if cell == "gru" else 2 * hidden

    def forward(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Encode ``source (B, Tk)`` whose sentences have ``lengths (B,)`` real words each, at least one.

        Packing hides the padding from the RNN, so the last state is each sentence's own.

        Raises:
            ValueError: if the batch is empty, there is not one length a sentence, or one is below 1 or above Tk.
        """
        check_source(source, lengths)
        counts = lengths.cpu()  # packing needs them there
        if int(counts.min()) < 1:
            raise ValueError(f"each sentence needs at least one word, got lengths {counts.tolist()}")
        mask = padding_mask(counts, source.shape[1]).to(source.device)  # (B, Tk)
        embedded = self.embed(source)  # (B, Tk) -> (B, Tk, E)
        packed = pack_padded_sequence(embedded, counts, batch_first=True, enforce_sorted=False)
        states, last = self.rnn(packed)
        annotations, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])  # (B, Tk, D)
        if isinstance(last, Tensor):
            return Encoded(annotations, _side_by_side(last), mask)
        return Encoded(annotations, torch.cat([_side_by_side(part) for part in last], dim=-1), mask)


def _side_by_side(last: Tensor) -> Tensor:
    return last.transpose(0, 1).flatten(1)  # (directions, B, width) -> (B, D)


class TeacherForced(nn.Module):
    """What all recurrent translators share: a loop in which the decoder reads the right words, one step for each."""

    start: Callable[..., Any]
    step: Callable[..., Any]

    def forward(self, source: Tensor, lengths: Tensor, decoder_input: Tensor) -> tuple[Tensor, Tensor | None]:
        """Teacher forcing: read ``source (B, Tk)``, then see the right word ``decoder_input (B, T)`` at each step.

        Returns:
            logits ``(B, T, V)`` and weights ``(B, T, Tk)``, or ``None`` when the model has no attention.

        Raises:
            ValueError: if ``decoder_input`` is not ``(B, T)`` with the batch of ``source`` and T > 0.
        """
        check_decoder_input(decoder_input, source)
        state = self.start(source, lengths)
        logits, weights = [], []
        for token in decoder_input.unbind(dim=1):
            step_logits, state, step_weights = self.step(token, state)
            logits.append(step_logits)
            weights.append(step_weights)
        if weights[0] is None:
            return torch.stack(logits, dim=1), None  # T times (B, V) -> (B, T, V)
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)  # (B, T, V), (B, T, Tk)

    select = staticmethod(select)


class _Seq2Seq(TeacherForced):
    """What the two models share: the word vectors of the target, the first state, and the output layer."""

    def __init__(self, encoder: Encoder, target_size: int, embedding: int, hidden: int, cell: str, inputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.embed = nn.Embedding(target_size, embedding)
        self.cell = RecurrentCell(cell, embedding + inputs, hidden)
        self.first_state = nn.Linear(encoder.state_size, self.cell.state_size)
        self.output = nn.Linear(hidden + inputs + embedding, target_size)

    def _predict(self, hidden: Tensor, context: Tensor, embedded: Tensor) -> Tensor:
        return self.output(torch.cat([hidden, context, embedded], dim=-1))  # (B, V)


class PlainState(NamedTuple):
    """A plain decoder's state: ``recurrent (B, S)`` changes at each step, ``context (B, D)`` is c and stays."""

    recurrent: Tensor
    context: Tensor


class PlainSeq2Seq(_Seq2Seq):
    """Encoder and decoder joined by one vector c, the encoder's last state.

    Args:
        source_size, target_size: vocabulary sizes.
        embedding: features of a word vector, E.
        hidden: features of encoder and decoder states, D.
        cell: ``"gru"`` or ``"lstm"``.
        context: ``"every"`` shows c to the decoder at every step (Cho et al. 2014); ``"first"`` only as its first
            state (Sutskever et al. 2014).
        bidirectional: the encoder reads both ways, so that c is the last states of both directions.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding: int = 32,
        hidden: int = 128,
        cell: str = "gru",
        context: str = "every",
        bidirectional: bool = False,
    ) -> None:
        if context not in ("every", "first"):
            raise ValueError(f'context must be "every" or "first", got {context!r}')
        encoder = Encoder(source_size, embedding, hidden, cell, bidirectional)
        super().__init__(encoder, target_size, embedding, hidden, cell, inputs=hidden if context == "every" else 0)
        self.shown = hidden if context == "every" else 0

    def start(self, source: Tensor, lengths: Tensor) -> PlainState:
        """Encode ``source (B, Tk)``: everything the decoder will ever know of it is in the state."""
        encoded = self.encoder(source, lengths)
        return PlainState(self.first_state(encoded.last).tanh(), encoded.last[:, : self.shown])

    def step(self, token: Tensor, state: PlainState) -> tuple[Tensor, PlainState, None]:
        """s_t = f(s_{t-1}, y_{t-1}, c): one word ``token (B,)`` -> logits ``(B, V)``, state, no weights."""
        embedded = self.embed(token)  # (B,) -> (B, E)
        recurrent = self.cell(torch.cat([embedded, state.context], dim=-1), state.recurrent)
        logits = self._predict(self.cell.hidden(recurrent), state.context, embedded)
        return logits, state._replace(recurrent=recurrent), None


class AttentionState(NamedTuple):
    """An attentive decoder's state.

    Fields:
        recurrent: ``(B, S)``, s_t.
        annotations: ``(B, Tk, D)``, the values: all encoder states, kept.
        prepared: the keys as the score prepared them, once per sentence.
        mask: ``(B, Tk)`` bool.
        alignment: where the decoder has attended so far.
    """

    recurrent: Tensor
    annotations: Tensor
    prepared: PreparedKeys
    mask: Tensor
    alignment: Alignment


class AttentionSeq2Seq(_Seq2Seq):
    """Encoder and decoder joined by attention: a new context c_t for each word.

    Args:
        source_size, target_size, embedding, hidden, cell: as :class:`PlainSeq2Seq`.
        bidirectional: the encoder reads both ways, as in the paper.
        score: module that scores a state ``(B, 1, D)`` against annotations ``(B, Tk, D)``; additive, half as wide
            as the state, when left out.

    Source: Bahdanau et al. 2015, section 3 and appendix A.2 (the output layer is one linear map, not a maxout).
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding: int = 32,
        hidden: int = 128,
        cell: str = "gru",
        bidirectional: bool = True,
        score: Score | None = None,
    ) -> None:
        encoder = Encoder(source_size, embedding, hidden, cell, bidirectional)
        super().__init__(encoder, target_size, embedding, hidden, cell, inputs=hidden)
        self.score = Additive(hidden, hidden, hidden // 2) if score is None else score

    def start(self, source: Tensor, lengths: Tensor) -> AttentionState:
        """Encode ``source (B, Tk)`` and keep every annotation."""
        encoded = self.encoder(source, lengths)
        return AttentionState(
            recurrent=self.first_state(encoded.last).tanh(),
            annotations=encoded.annotations,
            prepared=self.score.prepare(encoded.annotations),
            mask=encoded.mask,
            alignment=Alignment.at_first_position(encoded.mask),
        )

    def step(self, token: Tensor, state: AttentionState) -> tuple[Tensor, AttentionState, Tensor]:
        """c_t from s_{t-1}, then s_t = f(s_{t-1}, y_{t-1}, c_t): ``token (B,)`` -> logits, state, weights (B, Tk)."""
        embedded = self.embed(token)  # (B,) -> (B, E)
        context, weights = attend(
            self.cell.hidden(state.recurrent)[:, None],  # (B, 1, D): one query
            state.prepared.at(state.alignment),
            state.annotations,
            score=self.score,
            mask=state.mask[:, None],  # (B, 1, Tk)
        )
        context, weights = context[:, 0], weights[:, 0]  # (B, D), (B, Tk)
        recurrent = self.cell(torch.cat([embedded, context], dim=-1), state.recurrent)
        logits = self._predict(self.cell.hidden(recurrent), context, embedded)
        return logits, state._replace(recurrent=recurrent, alignment=state.alignment.add(weights)), weights
