"""Luong's decoder: attend after the recurrent step, combine, and feed the result to the next step.

Source: Luong et al. 2015, sections 3.1 to 3.3. Where attention sits is a choice of one argument, so that the orders of
Luong and Bahdanau can be compared with everything else alike.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import General, PreparedKeys, Score, attend
from attnbook.attention.centred import LocalAttention
from attnbook.attention.precision import at_least_float32
from attnbook.models.recurrent import RecurrentCell
from attnbook.models.seq2seq import Encoder, TeacherForced

PLACEMENTS = ("output", "input", "both", "skip")


def attentional_state(context: Tensor, hidden: Tensor, weight: Tensor) -> Tensor:
    """h̃ = tanh(W_c [c; h]): what was read in the source, and what the decoder knew, in one vector.

    Args:
        context: ``(B, Dv)``, c_t. hidden: ``(B, D)``, h_t. weight: ``(A, Dv + D)``, W_c; its first columns are for c.

    Returns:
        ``(B, A)``.

    Source: Luong et al. 2015, equation 5.
    """
    return (torch.cat([context, hidden], dim=-1) @ weight.T).tanh()  # (B, Dv + D) -> (B, A)


def input_feeding_step(cell: RecurrentCell, embedded: Tensor, attentional: Tensor, state: Tensor) -> Tensor:
    """s_t = LSTM([y_{t−1}; h̃_{t−1}], s_{t−1}): the last attentional state is part of the next input.

    Args:
        cell: takes ``E + A`` inputs. embedded: ``(B, E)``, the word. attentional: ``(B, A)``; without feeding A = 0.
        state: ``(B, S)``.

    Returns:
        the new state ``(B, S)``.

    Source: Luong et al. 2015, section 3.3.
    """
    return cell(torch.cat([embedded, attentional], dim=-1), state)  # (B, E + A), (B, S) -> (B, S)


class LuongState(NamedTuple):
    """A Luong decoder's state.

    Fields:
        recurrent: ``(B, S)``, of the LSTM. upper: ``(B, S)`` of the second one, ``(B, 0)`` when there is none.
        fed: ``(B, D)``, what the output layer read in the step before; ``(B, 0)`` without input feeding.
        annotations: ``(B, Tk, D)``, the values. prepared: the keys, prepared once per sentence.
        mask: ``(B, Tk)`` bool. lengths: ``(B,)``, words of each sentence.
        centre: ``(B,)``, of the window; −1 before the first word. Global attention leaves it there.
    """

    recurrent: Tensor
    upper: Tensor
    fed: Tensor
    annotations: Tensor
    prepared: PreparedKeys
    mask: Tensor
    lengths: Tensor
    centre: Tensor


class LuongSeq2Seq(TeacherForced):
    """A bidirectional LSTM encoder and an LSTM decoder with Luong's attention.

    Args:
        source_size, target_size: vocabulary sizes.
        embedding: features of a word vector, E. hidden: features of encoder and decoder states, D (even).
        score: module that scores a state ``(B, 1, D)`` against annotations ``(B, Tk, D)``; general when left out.
        local: a window; ``None`` for global attention.
        feeding: whether what the output layer reads is part of the next input as well.
        placement: ``"output"``: c_t from h_t, combined with it for the output layer (Luong);
            ``"input"``: c_t from h_{t−1}, an input of the LSTM alone (Bahdanau's order);
            ``"both"``: c_t from h_{t−1}, an input of the LSTM and combined with h_t for the output layer;
            ``"skip"``: c_t from a first LSTM, an input of a second one; the output layer reads the sum of both states.

    The encoder's last state is the decoder's first one, of each LSTM.

    Raises:
        ValueError: for an unknown placement or an odd ``hidden``.

    Source: Luong et al. 2015, section 3 (there with stacks of four layers).
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding: int = 32,
        hidden: int = 128,
        score: Score | None = None,
        local: LocalAttention | None = None,
        feeding: bool = True,
        placement: str = "output",
    ) -> None:
        super().__init__()
        if placement not in PLACEMENTS:
            raise ValueError(f"placement must be one of {', '.join(PLACEMENTS)}, got {placement!r}")
        self.encoder = Encoder(source_size, embedding, hidden, "lstm", bidirectional=True)
        self.embed = nn.Embedding(target_size, embedding)
        self.score = General(hidden, hidden) if score is None else score
        self.local, self.placement = local, placement
        self.fed_size = hidden if feeding else 0
        of_context = hidden if placement in ("input", "both") else 0
        self.cell = RecurrentCell("lstm", embedding + self.fed_size + of_context, hidden)
        if placement == "skip":
            self.upper = RecurrentCell("lstm", 2 * hidden, hidden)
        if placement in ("output", "both"):
            self.combine = nn.Linear(2 * hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, target_size)

    def start(self, source: Tensor, lengths: Tensor) -> LuongState:
        """Encode ``source (B, Tk)``; nothing has been read, and a centre stands in front of the first word."""
        annotations, last, mask = self.encoder(source, lengths)  # (B, Tk, D), (B, 2 · D), (B, Tk)
        return LuongState(
            recurrent=last,
            upper=last if self.placement == "skip" else last[:, :0],
            fed=torch.zeros_like(last[:, : self.fed_size]),
            annotations=annotations,
            prepared=self.score.prepare(annotations),
            mask=mask,
            lengths=mask.sum(dim=-1),  # (B,)
            centre=at_least_float32(torch.full_like(last[:, 0], -1.0)),  # (B,)
        )

    def step(self, token: Tensor, state: LuongState) -> tuple[Tensor, LuongState, Tensor]:
        """One word ``token (B,)`` -> logits ``(B, V)``, state, weights ``(B, Tk)``."""
        steps = {"output": self.attend_after, "skip": self.attend_between}
        read, state, weights = steps.get(self.placement, self.attend_before)(self.embed(token), state)
        return self.output(read), state._replace(fed=read[:, : self.fed_size]), weights

    def attend_after(self, embedded: Tensor, state: LuongState) -> tuple[Tensor, LuongState, Tensor]:
        """Luong: h_t, then c_t from h_t, then h̃_t: ``(B, D)``, the state, weights ``(B, Tk)``."""
        recurrent = input_feeding_step(self.cell, embedded, state.fed, state.recurrent)
        hidden = self.cell.hidden(recurrent)  # (B, D)
        context, weights, centre = self.attend_from(hidden, state)
        read = attentional_state(context, hidden, self.combine.weight)  # (B, D)
        return read, state._replace(recurrent=recurrent, centre=centre), weights

    def attend_before(self, embedded: Tensor, state: LuongState) -> tuple[Tensor, LuongState, Tensor]:
        """Bahdanau's order: c_t from h_{t−1}, then h_t from c_t; shapes as :meth:`attend_after`."""
        context, weights, centre = self.attend_from(self.cell.hidden(state.recurrent), state)
        inputs = torch.cat([embedded, context], dim=-1)  # (B, E + D)
        recurrent = input_feeding_step(self.cell, inputs, state.fed, state.recurrent)
        hidden = self.cell.hidden(recurrent)  # (B, D)
        read = attentional_state(context, hidden, self.combine.weight) if self.placement == "both" else hidden
        return read, state._replace(recurrent=recurrent, centre=centre), weights

    def attend_between(self, embedded: Tensor, state: LuongState) -> tuple[Tensor, LuongState, Tensor]:
        """A stack: lower LSTM, c_t from it, upper LSTM, and a skip connection; shapes as :meth:`attend_after`."""
        recurrent = input_feeding_step(self.cell, embedded, state.fed, state.recurrent)
        lower = self.cell.hidden(recurrent)  # (B, D)
        context, weights, centre = self.attend_from(lower, state)
        upper = self.upper(torch.cat([lower, context], dim=-1), state.upper)
        read = lower + self.upper.hidden(upper)  # (B, D): the skip connection
        return read, state._replace(recurrent=recurrent, upper=upper, centre=centre), weights

    def attend_from(self, hidden: Tensor, state: LuongState) -> tuple[Tensor, Tensor, Tensor]:
        """One query ``hidden (B, D)``: context ``(B, D)``, weights ``(B, Tk)``, the window's centre ``(B,)``."""
        asked = hidden[:, None], state.prepared, state.annotations, state.mask[:, None]
        centre = state.centre
        if self.local is None:
            context, weights = attend(*asked, score=self.score)
        else:
            centre = self.local.centre(hidden, state.lengths, centre)
            context, weights = self.local(*asked, centre=centre, score=self.score)
        return context[:, 0], weights[:, 0], centre  # (B, 1, D) -> (B, D), (B, 1, Tk) -> (B, Tk), (B,)
