"""The pointer network: attention whose weights are the answer, a distribution over the positions of the input.

N positions have the numbers 0 … N − 1. What the network can name at a step is N + 1 things, the positions and the end,
number N; as a decoder's *input* the number N means the beginning.
"""

from collections.abc import Callable
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook import decoding
from attnbook.attention import Additive, PreparedKeys, attention_weights, masked_log_softmax, padding_mask
from attnbook.data import shift_right
from attnbook.data.batching import Batch
from attnbook.device import on_cpu
from attnbook.models.pointer_encoders import Glimpse, make_encoder

LONGEST = 6  # positions named per point where one may come again: N points have at most 2 · N − 5 triangles


def pointer_log_probs(
    query: Tensor, key: Tensor | PreparedKeys, mask: Tensor | None = None, *, score: Callable[..., Tensor]
) -> Tensor:
    """Log-probability of pointing at each position: attention's weights, in logarithms, and no weighted sum after them.

    Args:
        query: ``(B, Tq, Dq)``, what is asked with: the decoder's states.
        key: ``(B, Tk, Dk)``, the positions, or what the score has prepared of them.
        mask: bool, broadcastable to ``(B, Tq, Tk)``, ``True`` = may be pointed at.
        score: any ``(query, key) -> (B, Tq, Tk)``; the paper's is :class:`~attnbook.attention.scores.Additive`.

    Returns:
        ``(B, Tq, Tk)`` in nats, −inf where masked.

    Raises:
        TypeError: if the mask is not boolean. ValueError: if the shapes do not fit.

    Source: Vinyals et al. 2015, equation 3.
    """
    return attention_weights(query, key, mask, score=score, normalise=masked_log_softmax)


def mask_visited(mask: Tensor, chosen: Tensor) -> Tensor:
    """Where one may point after ``chosen`` has been pointed at: a new mask, the given one stays as it is.

    Args:
        mask: ``(B, N)`` bool. chosen: ``(B,)`` positions; N, the end, masks nothing.

    Returns:
        ``(B, N)`` bool.

    Raises:
        TypeError: if the mask is not boolean. ValueError: if there is not one choice a row, or, on the CPU, one is not
            from 0 to N.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may be pointed at), got {mask.dtype}")
    if mask.ndim != 2 or chosen.shape != mask.shape[:1]:
        raise ValueError(f"mask (B, N) and chosen (B,) do not fit: {tuple(mask.shape)} and {tuple(chosen.shape)}")
    if on_cpu(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) <= mask.shape[1]:
        raise ValueError(f"chosen must hold positions from 0 to {mask.shape[1]}, got {chosen.tolist()}")
    return mask & (torch.arange(mask.shape[1], device=mask.device) != chosen[:, None])


def mask_visited_by_step(mask: Tensor, read: Tensor) -> Tensor:
    """:func:`mask_visited` for all steps at once: row t is what is left after the first t + 1 positions of ``read``.

    ``mask (B, N), read (B, T)`` -> ``(B, T, N)`` bool.
    """
    visited = F.one_hot(read, mask.shape[1] + 1)[..., :-1].cumsum(dim=1) > 0  # (B, T, N)
    return mask[:, None] & ~visited


class PointerState(NamedTuple):
    """What a pointer network's decoder keeps between its steps.

    Fields:
        hidden, cell: ``(B, D)`` of its LSTM.
        inputs: ``(B, N + 1, D)``, what it reads when a position has been chosen; last: at the beginning.
        prepared: the keys of the positions and of the end, as the score prepared them once.
        mask: ``(B, N)`` bool, the positions that are left.
        glimpsed: the same keys as the glimpse prepared them, where there is one.
    """

    hidden: Tensor
    cell: Tensor
    inputs: Tensor
    prepared: PreparedKeys
    mask: Tensor
    glimpsed: tuple[PreparedKeys, Tensor] | None = None


class PointerNetwork(nn.Module):
    """Read N points, then point at them one by one, at none of them twice (unless ``once`` is false).

    u_tj = vᵀ tanh(W_1 e_j + W_2 d_t),  p(C_t = j | C_1 … C_{t−1}) = softmax(u_t)_j over the positions that are left,
    with e_j the encoder's state at position j, and d_t the decoder's state after it has read the last chosen position.

    Args:
        features: numbers that describe a point, P: 2 in the plane, 1 for sorting.
        hidden: features D of everything inside.
        encoder: ``"lstm"`` (the paper), ``"bilstm"``, or ``"transformer"``, which does not know the order of its input.
        may_stop: it may end before all positions are named (a hull). If not, it ends when none is left.
        first: the position at which every answer begins (a round trip); ``None``: it chooses the first position too.
        once: each position is named once at most. If not (the corners of triangles), nothing is masked, ``may_stop``
            must be true, and an answer has at most 6 · N positions.
        embed: points become vectors of D features before they are read. If not, the LSTMs read the P numbers of a
            point themselves, as in the paper, which takes less time.
        glimpse: attend to the positions before pointing at one of them.

    Raises:
        ValueError: if positions may be named again and there is no stopping, or a Transformer gets no embedded points.

    Source: Vinyals et al. 2015, sections 2.2 and 2.3. There positions are masked only at the end, and for tours.
    """

    def __init__(
        self,
        features: int = 2,
        hidden: int = 128,
        encoder: str = "lstm",
        may_stop: bool = False,
        first: int | None = None,
        once: bool = True,
        embed: bool = True,
        glimpse: bool = False,
    ) -> None:
        super().__init__()
        if not once and not may_stop:
            raise ValueError("where positions may be named again (once=False) only an end stops it: set may_stop=True")
        self.features, self.may_stop, self.first, self.once = features, may_stop, first, once
        read = hidden if embed else features  # numbers that the LSTMs read per position
        self.embed = nn.Linear(features, hidden) if embed else nn.Identity()
        self.encoder = make_encoder(encoder, hidden, None if embed else features)
        self.beginning = nn.Parameter(torch.randn(read) * read**-0.5)
        self.end = nn.Parameter(torch.randn(hidden) * hidden**-0.5)
        self.decoder = nn.LSTM(read, hidden, batch_first=True)
        self.score = Additive(hidden, hidden, hidden)
        self.glimpse = Glimpse(hidden) if glimpse else None

    def start(self, points: Tensor, lengths: Tensor) -> PointerState:
        """Encode ``points (B, N, P)``, of which each row's first ``lengths (B,)`` are real; nothing chosen yet.

        Raises:
            ValueError: if ``points`` is not ``(B, N, P)`` with B, N > 0, there is not one length a row, or, on the CPU,
                one is not from 1 to N.
        """
        self._check(points, lengths)
        mask = padding_mask(lengths, points.shape[1]).to(points.device)  # (B, N)
        embedded = self.embed(points)  # (B, N, P) -> (B, N, D)
        key, (hidden, cell) = self.encoder(embedded, mask)
        inputs, key = _with(embedded, self.beginning), _with(key, self.end)  # (B, N + 1, D) each
        glimpsed = None if self.glimpse is None else self.glimpse.prepare(key)
        return PointerState(hidden, cell, inputs, self.score.prepare(key), mask, glimpsed)

    def _check(self, points: Tensor, lengths: Tensor) -> None:
        if points.ndim != 3 or 0 in points.shape or points.shape[-1] != self.features:
            shape = f"(B, N, {self.features})"
            raise ValueError(f"points must have shape {shape} with B, N > 0, got {tuple(points.shape)}")
        if lengths.shape != (len(points),) or (on_cpu(lengths) and int(lengths.min()) < 1):
            wanted = f"{len(points)} numbers from 1 to {points.shape[1]}"
            raise ValueError(f"lengths must be {wanted}, got {lengths.tolist()}")

    def forward(self, points: Tensor, lengths: Tensor, decoder_input: Tensor) -> tuple[Tensor, Tensor]:
        """Teacher forcing: all steps in one pass, the decoder reading the right position before each.

        Args:
            points, lengths: as :meth:`start`.
            decoder_input: ``(B, T)``, what is read before each step: positions, or N for the beginning.

        Returns:
            log-probabilities ``(B, T, N + 1)`` and their exponentials, the weights.
        """
        state = self.start(points, lengths)
        every = state.mask[:, None].expand(-1, decoder_input.shape[1], -1)  # (B, T, N)
        mask = mask_visited_by_step(state.mask, decoder_input) if self.once else every
        return self._point(decoder_input, state, mask)[:2]

    def step(self, token: Tensor, state: PointerState) -> tuple[Tensor, PointerState, Tensor]:
        """Read one position ``token (B,)`` (N: the beginning), point at the next.

        Returns:
            log-probabilities ``(B, N + 1)``, the state after it, weights ``(B, N + 1)``.
        """
        mask = mask_visited(state.mask, token) if self.once else state.mask
        log_probs, weights, (hidden, cell) = self._point(token[:, None], state, mask[:, None])
        return log_probs[:, 0], state._replace(hidden=hidden[0], cell=cell[0], mask=mask), weights[:, 0]

    select = staticmethod(decoding.select)

    def _point(self, read: Tensor, state: PointerState, mask: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Read positions ``(B, T)`` from a state on; after each, point at what its row of ``mask (B, T, N)`` allows."""
        inputs = state.inputs.gather(1, read[..., None].expand(*read.shape, state.inputs.shape[-1]))  # (B, T, D)
        query, last = self.decoder(inputs, (state.hidden[None], state.cell[None]))  # (B, T, D)
        mask = self._with_end(mask)  # (B, T, N + 1)
        if self.glimpse is not None and state.glimpsed is not None:
            query = self.glimpse(query, state.glimpsed, mask)
        log_probs = pointer_log_probs(query, state.prepared, mask, score=self.score)
        return log_probs, log_probs.exp(), last

    def _with_end(self, mask: Tensor) -> Tensor:
        """``(B, T, N)`` -> ``(B, T, N + 1)``: the end is allowed when no position is left, or at any time."""
        may_end = torch.ones_like(mask[..., :1]) if self.may_stop else ~mask.any(dim=-1, keepdim=True)
        return torch.cat([mask, may_end], dim=-1)


def _with(rows: Tensor, vector: Tensor) -> Tensor:
    """``(B, N, D)`` and ``(D,)`` -> ``(B, N + 1, D)``: one more row, the same for each instance."""
    return torch.cat([rows, vector.expand(len(rows), 1, -1)], dim=1)


def answer_log_probs(model: PointerNetwork, points: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    """Log-probability of each step of an answer, teacher-forced: ``target (B, T)`` -> ``(B, T)`` in nats.

    A first position that is given, and all that stands after an answer's end, has probability 1.
    """
    size, given = points.shape[1], 0 if model.first is None else 1
    read = shift_right(target, size)[:, given:]  # from the given position on, the beginning is never read
    log_probs, _ = model(points, lengths, read)  # (B, T − given, N + 1)
    chosen = log_probs.gather(2, target[:, given:, None])[..., 0]  # (B, T − given)
    chosen = chosen.masked_fill(read_ends(target, size)[:, given:], 0.0)
    return F.pad(chosen, (given, 0))


def read_ends(target: Tensor, size: int) -> Tensor:
    """Which steps come after an answer's end: ``(B, T)`` -> ``(B, T)`` bool."""
    return (target == size).cumsum(dim=1) > 1


def pointer_loss(model: PointerNetwork, batch: Batch) -> Tensor:
    """Mean negative log-likelihood of the right answers, in nats a choice: a scalar.

    ``batch``: source ``(B, N, P)``, lengths ``(B,)``, target ``(B, T)``; see :mod:`attnbook.data.points.pointing`.
    """
    choices = (~read_ends(batch.target, batch.source.shape[1])).sum()
    return -answer_log_probs(model, *batch).sum() / choices


def greedy_pointer_decode(model: PointerNetwork, points: Tensor, lengths: Tensor | None = None) -> decoding.Decoded:
    """Point at the likeliest of the positions that are left, until none is, or the end is likelier.

    Args:
        points: ``(B, N, P)``. lengths: ``(B,)``, how many of them are real; all when left out.

    Returns:
        tokens ``(B, L)``, positions, and N after an answer's end; weights ``(B, L, N + 1)``.
    """
    lengths, begin, steps = _plan(model, points, lengths)
    tokens, weights = decoding.greedy(model, points, lengths, max_length=steps, bos=begin, eos=points.shape[1])
    if model.first is None:
        return decoding.Decoded(tokens, weights)
    weights = cast(Tensor, weights)  # it always points somewhere
    given = torch.full_like(tokens[:, :1], begin)  # (B, 1)
    certain = F.one_hot(given, points.shape[1] + 1).to(weights.dtype)  # (B, 1, N + 1)
    return decoding.Decoded(torch.cat([given, tokens], dim=1), torch.cat([certain, weights], dim=1))


def beam_pointer_decode(
    model: PointerNetwork, points: Tensor, lengths: Tensor | None = None, width: int = 4
) -> decoding.Beams:
    """Keep the ``width`` likeliest beginnings of an answer at each step; arguments as :func:`greedy_pointer_decode`.

    Returns:
        tokens ``(B, W, L)``, best first, and scores ``(B, W)``: log-probabilities in nats, −inf where there are
        fewer than W answers.
    """
    lengths, begin, steps = _plan(model, points, lengths)
    end = points.shape[1]
    tokens, scores = decoding.beam(model, points, lengths, max_length=steps, width=width, bos=begin, eos=end)
    if model.first is not None:
        tokens = torch.cat([torch.full_like(tokens[..., :1], begin), tokens], dim=-1)
    return decoding.Beams(tokens, scores)


def _plan(model: PointerNetwork, points: Tensor, lengths: Tensor | None) -> tuple[Tensor, int, int]:
    """Lengths, what is read first, and how many steps there can be."""
    size = points.shape[1]
    lengths = torch.full((len(points),), size, device=points.device) if lengths is None else lengths
    steps = size + 1 if model.may_stop else size
    steps = steps if model.once else LONGEST * size
    return (lengths, size, steps) if model.first is None else (lengths, model.first, steps - 1)
