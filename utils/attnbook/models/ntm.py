"""The neural Turing machine: a small network with a memory beside it, which it reads and writes by attention."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.models.ntm_addressing import STEPS, Address, address, erase_and_add, in_range, read
from attnbook.models.recurrent import RecurrentCell

CONTROLLERS = ("feedforward", "lstm")
STARTS = ("first", "uniform")


@dataclass(frozen=True)
class NTMConfig:
    """Everything that is chosen about a machine. How many rows its memory has is not: that is said at each call.

    Fields:
        inputs: features of an input vector; outputs: of an output vector.
        hidden: features of the controller's hidden vector, D.
        width: features of a row of memory, M.
        read_heads: R, at least 1; write_heads: W, at least 1. H = R + W, the readers first.
        controller: ``"feedforward"`` (a tanh layer, which remembers nothing itself) or ``"lstm"``.
        fill: the number that an empty memory is filled with.
        start: where every head looks before the first step: at the ``"first"`` row, or at all alike (``"uniform"``).
        without: addressing steps to leave out, of ``content``, ``interpolation``, ``shift`` and ``sharpening``. Their
            parameters stay, without a use, so that all variants have as many.

    Raises:
        ValueError: for an unknown controller, start or step, or a size below 1.
    """

    inputs: int = 9
    outputs: int = 8
    hidden: int = 100
    width: int = 20
    read_heads: int = 1
    write_heads: int = 1
    controller: str = "feedforward"
    fill: float = 1e-6
    start: str = "first"
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs", "hidden", "width", "read_heads", "write_heads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name, known in (("controller", CONTROLLERS), ("start", STARTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if isinstance(self.without, str) or set(self.without) - set(STEPS):
            raise ValueError(f"without must be a tuple of some of {', '.join(STEPS)}, got {self.without!r}")

    @property
    def heads(self) -> int:
        """All heads, H = R + W."""
        return self.read_heads + self.write_heads


class NTMState(NamedTuple):
    """What a machine carries from one time step to the next.

    Fields:
        controller: ``(B, S)``, see :class:`RecurrentCell`; a feed-forward controller makes no use of it.
        memory: ``(B, N, M)``.
        weights: ``(B, H, N)``, where each head looked last; readers first.
        reads: ``(B, R, M)``, what was read last.
    """

    controller: Tensor
    memory: Tensor
    weights: Tensor
    reads: Tensor


class NTMRecord(NamedTuple):
    """Everything that happened in a run of T steps, for pictures.

    Fields:
        logits: ``(B, T, outputs)``.
        weights: ``(B, T, H, N)``, readers first; each row sums to 1.
        address: what the heads were told, each field ``(B, T, H, …)``.
        state: the machine after the last step.
    """

    logits: Tensor
    weights: Tensor
    address: Address
    state: NTMState


class FeedForwardCell(nn.Module):
    """A tanh layer that looks like a :class:`RecurrentCell`: its "state" is its hidden vector, and is never read."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.state_size = hidden
        self.layer = nn.Linear(inputs, hidden)

    def hidden(self, state: Tensor) -> Tensor:
        """Return the hidden vector ``(B, hidden)`` of a state."""
        return state

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """``inputs (B, inputs)`` -> hidden vector ``(B, hidden)``."""
        return self.layer(inputs).tanh()


class AddressLayer(nn.Module):
    """Turn the controller's hidden vector into an :class:`Address` for each head, every number in its range.

    Args:
        hidden: features of the hidden vector; heads: H; width: features of a row of memory, M.
    """

    def __init__(self, hidden: int, heads: int, width: int) -> None:
        super().__init__()
        self.heads = heads
        self.layer = nn.Linear(hidden, heads * (width + 6))  # key, beta, gate, three shifts, gamma

    def forward(self, hidden: Tensor) -> Address:
        """``hidden (B, D)`` -> address, each field ``(B, H, …)``."""
        return in_range(self.layer(hidden).unflatten(-1, (self.heads, -1)))  # from (B, H, M + 6)


class NTM(nn.Module):
    """A neural Turing machine.

    At each step the controller sees the input and what was read last; all heads address the memory as
    it is; the writers erase and add; the readers read the memory as it has become; the output comes from the
    controller and these reads. (The paper leaves the order open. Its equation 2 reads M_t, the memory after writing.)

    Args:
        config: see :class:`NTMConfig`.

    Source: Graves, Wayne and Danihelka 2014, section 3.
    """

    def __init__(self, config: NTMConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or NTMConfig()
        sees, reads = config.inputs + config.read_heads * config.width, config.read_heads * config.width
        self.controller: RecurrentCell | FeedForwardCell
        if config.controller == "lstm":
            self.controller = RecurrentCell("lstm", sees, config.hidden)
        else:
            self.controller = FeedForwardCell(sees, config.hidden)
        self.address = AddressLayer(config.hidden, config.heads, config.width)
        self.erase_and_add = nn.Linear(config.hidden, config.write_heads * 2 * config.width)
        self.output = nn.Linear(config.hidden + reads, config.outputs)

    def initial_state(self, batch: int, rows: int) -> NTMState:
        """The machine before its first step, with ``rows`` rows of memory. Nothing of it is learnt.

        Raises:
            ValueError: if ``batch`` or ``rows`` is below 1.
        """
        if batch < 1 or rows < 1:
            raise ValueError(f"batch and rows must be at least 1, got {batch} and {rows}")
        config, like = self.config, self.output.weight  # its device and dtype
        memory = like.new_full((batch, rows, config.width), config.fill)  # (B, N, M)
        weights = like.new_full((batch, config.heads, rows), 1 / rows)  # (B, H, N)
        if config.start == "first":
            weights = torch.zeros_like(weights)
            weights[:, :, 0] = 1.0
        reads = read(memory, weights[:, : config.read_heads])  # (B, R, M)
        return NTMState(like.new_zeros(batch, self.controller.state_size), memory, weights, reads)

    def forward(self, inputs: Tensor, rows: int = 128, state: NTMState | None = None) -> tuple[Tensor, Tensor]:
        """Run the machine over ``inputs (B, T, inputs)`` with a memory of ``rows`` rows, or on from ``state``.

        Returns:
            logits ``(B, T, outputs)``, weights ``(B, T, H, N)`` of all heads, readers first; each row sums to 1.

        Raises:
            ValueError: if ``inputs`` has another shape, or ``rows`` is below 1.
        """
        return self.record(inputs, rows, state)[:2]

    def record(self, inputs: Tensor, rows: int = 128, state: NTMState | None = None) -> NTMRecord:
        """As :meth:`forward`, and keep all that happened."""
        check_vectors(inputs, self.config.inputs)
        state = self.initial_state(len(inputs), rows) if state is None else state
        known, weights, addresses = [], [], []
        for x in inputs.unbind(dim=1):
            state, emitted = self._advance(x, state)
            known.append(self._known(state))
            weights.append(state.weights)
            addresses.append(emitted)
        logits = self.output(torch.stack(known, dim=1))  # (B, T, D + R · M) -> (B, T, outputs)
        parts = [torch.stack(part, dim=1) for part in zip(*addresses, strict=True)]  # (B, T, H, …) each
        return NTMRecord(logits, torch.stack(weights, dim=1), Address(*parts), state)

    def step(self, x: Tensor, state: NTMState) -> tuple[Tensor, NTMState]:
        """One time step: ``x (B, inputs)`` -> logits ``(B, outputs)`` and the new state."""
        state, _ = self._advance(x, state)
        return self.output(self._known(state)), state

    def _advance(self, x: Tensor, state: NTMState) -> tuple[NTMState, Address]:
        config = self.config
        seen = torch.cat([x, state.reads.flatten(1)], dim=-1)  # (B, inputs + R · M)
        controller = self.controller(seen, state.controller)
        hidden = self.controller.hidden(controller)  # (B, D)
        emitted = self.address(hidden)
        weights = address(emitted, state.weights, state.memory, config.without)  # (B, H, N)
        readers, writers = weights.split((config.read_heads, config.write_heads), dim=1)
        erase, add = self.erase_and_add(hidden).unflatten(-1, (config.write_heads, -1)).chunk(2, dim=-1)  # (B, W, M)
        memory = erase_and_add(state.memory, writers, erase.sigmoid(), add)
        return NTMState(controller, memory, weights, read(memory, readers)), emitted

    def _known(self, state: NTMState) -> Tensor:
        hidden = self.controller.hidden(state.controller)
        return torch.cat([hidden, state.reads.flatten(1)], dim=-1)  # (B, D + R · M)


class LSTMTagger(nn.Module):
    """No memory: an LSTM that reads vectors and says one at each step, beside an :class:`NTM` or a SNAIL.

    Args:
        inputs, outputs: features of an input and of an output vector.
        hidden: features of its state; layers: so many LSTMs one upon the other.

    Source: the baseline of Graves et al. 2014, section 4 (three layers).
    """

    def __init__(self, inputs: int = 9, outputs: int = 8, hidden: int = 128, layers: int = 1) -> None:
        super().__init__()
        self.rnn = nn.LSTM(inputs, hidden, layers, batch_first=True)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, inputs: Tensor, rows: int = 0) -> tuple[Tensor, None]:
        """Read ``inputs (B, T, inputs)`` -> logits ``(B, T, outputs)``, and no weights; ``rows`` says nothing to it.

        Raises:
            ValueError: if ``inputs`` has another shape.
        """
        check_vectors(inputs, self.rnn.input_size)
        states, _ = self.rnn(inputs)  # (B, T, D)
        return self.output(states), None


def check_vectors(inputs: Tensor, features: int) -> None:
    """Raise a ValueError unless ``inputs`` is ``(B, T, features)`` with B > 0 and T > 0."""
    if inputs.ndim != 3 or 0 in inputs.shape or inputs.shape[-1] != features:
        raise ValueError(f"inputs must have shape (B, T, {features}) with B > 0 and T > 0, got {tuple(inputs.shape)}")
