"""The run of a neural Turing machine with its gradient written out, many times as fast on a few sequences.

A machine with one sequence computes little, but in thousands of small operations, each of which PyTorch dispatches,
notes, and walks back. Here the equations of the paper are differentiated by hand, in NumPy, whose calls on small arrays
take a third of the time; autograd sees a single operation. Each ``…_back`` undoes the function above it: from the
gradient of what came out to the gradients of what went in. Logits and gradients are those of
:class:`~attnbook.models.ntm.NTM`, which tests compare.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy import ndarray
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnbook.models.ntm import NTM, NTMConfig, check_vectors
from attnbook.models.recurrent import RecurrentCell

EPS = 1e-8  # that of the cosine score


def run_by_hand(machine: NTM, inputs: Tensor, rows: int = 128) -> tuple[Tensor, Tensor]:
    """What ``machine(inputs, rows)`` returns, with the same gradients, sooner.

    Args:
        machine: on the CPU; with any number of heads, either controller, and any steps left out.
        inputs: ``(B, T, inputs)``; rows: of the memory.

    Returns:
        logits ``(B, T, outputs)``, weights ``(B, T, H, N)`` of all heads, readers first.

    Raises:
        ValueError: if ``inputs`` has another shape, ``rows`` is below 1, or the machine is not on the CPU.

    Source: Graves, Wayne and Danihelka 2014, section 3; the gradient is ours.
    """
    check_vectors(inputs, machine.config.inputs)
    if inputs.device.type != "cpu" or machine.output.weight.device.type != "cpu":
        raise ValueError(f"machine and inputs must be on the CPU, got {machine.output.weight.device}, {inputs.device}")
    state = machine.initial_state(len(inputs), rows)
    into, recurrent, bias = _controller_parameters(machine)
    heads = torch.cat([machine.address.layer.weight, machine.erase_and_add.weight])  # (K, D), K numbers for the heads
    heads_bias = torch.cat([machine.address.layer.bias, machine.erase_and_add.bias])
    given = F.linear(inputs, into, bias)  # (B, T, G): what the input says to the controller, of all steps at once
    known, weights = _Run.apply(given, recurrent, heads, heads_bias, state.memory, state.weights, machine.config)
    return machine.output(known), weights  # known (B, T, D + R · M)


def _controller_parameters(machine: NTM) -> tuple[Tensor, Tensor, Tensor]:
    """Weights for the input, for what comes from the step before (reads, then hidden vector), and the bias."""
    inputs, controller = machine.config.inputs, machine.controller
    if isinstance(controller, RecurrentCell):
        cell = controller.cell
        recurrent = torch.cat([cell.weight_ih[:, inputs:], cell.weight_hh], dim=1)
        return cell.weight_ih[:, :inputs], recurrent, cell.bias_ih + cell.bias_hh
    weight = controller.layer.weight
    return weight[:, :inputs], weight[:, inputs:], controller.layer.bias


class _Step(NamedTuple):
    """What the way back needs of a time step: what went into its parts, and what came out."""

    past: ndarray  # (B, R · M [+ D]): reads and, for an LSTM, the hidden vector of the step before
    hidden: ndarray  # (B, D)
    gates: tuple  # of the controller
    told: "_Told"
    weights: ndarray  # (B, H, N)
    addressing: tuple
    writing: tuple
    memory: ndarray  # (B, N, M), after writing


class _Run(torch.autograd.Function):
    """All steps, from what the input says to the controller to hidden vectors and reads, and to the heads' weights."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, Tensor]:
        """``(B, T, D + R · M)`` and ``(B, T, H, N)``. Keep of each step what its way back needs."""
        given, recurrent, heads, heads_bias, memory, weights = (tensor.detach().numpy() for tensor in arguments[:-1])
        config: NTMConfig = arguments[-1]
        ctx.config, ctx.recurrent, ctx.heads = config, recurrent, heads
        ctx.steps, happened = [], []
        hidden = cell = np.zeros((len(given), config.hidden), given.dtype)
        read = weights[:, : config.read_heads] @ memory  # (B, R, M)
        for t in range(given.shape[1]):
            past = reads = read.reshape(len(given), -1)
            if config.controller == "lstm":
                past = np.concatenate([reads, hidden], axis=1)
            hidden, cell, gates = _control(given[:, t] + past @ recurrent.T, cell)
            told = _Told.of(hidden @ heads.T + heads_bias, config)
            weights, addressing = _address(told, weights, memory, config.without)
            memory, writing = _write(memory, weights[:, config.read_heads :], told)
            if any(ctx.needs_input_grad):  # all these memories take room
                ctx.steps.append(_Step(past, hidden, gates, told, weights, addressing, writing, memory))
            read = weights[:, : config.read_heads] @ memory
            happened.append((hidden, read, weights))
        hiddens, reads, looked = (np.stack(part, axis=1) for part in zip(*happened, strict=True))  # (B, T, …)
        known = np.concatenate([hiddens, reads.reshape(*hiddens.shape[:2], -1)], axis=2)
        return torch.from_numpy(known), torch.from_numpy(looked)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple:
        """From the last step to the first; weight matrices get the gradients of all steps at once."""
        config, steps = ctx.config, ctx.steps
        (d_known, d_looked), size = (part.numpy() for part in gradients), config.read_heads * config.width
        carried = _Carried.nothing(steps[-1])
        d_given, d_told = [], []
        for t in reversed(range(len(steps))):
            d_hidden = d_known[:, t, : config.hidden]
            d_reads = d_known[:, t, config.hidden :] + carried.past[:, :size]
            if config.controller == "lstm":
                d_hidden = d_hidden + carried.past[:, size:]
            d_weights = carried.weights + d_looked[:, t]
            d_numbers, d_memory, d_weights = _heads_back(d_reads, carried.memory, d_weights, steps[t], config)
            d_before, d_cell = _control_back(d_hidden + d_numbers @ ctx.heads, carried.cell, steps[t])
            carried = _Carried(d_memory, d_weights, d_before @ ctx.recurrent, d_cell)
            d_given.append(d_before)
            d_told.append(d_numbers)
        return _of_all_steps(steps, d_given[::-1], d_told[::-1])


class _Carried(NamedTuple):
    """Gradients that a step hands to the one before it: of its memory, weights, reads with hidden vector, and cell."""

    memory: ndarray
    weights: ndarray
    past: ndarray
    cell: ndarray

    @classmethod
    def nothing(cls, last: _Step) -> "_Carried":
        """Nothing comes after the last step."""
        return cls(*map(np.zeros_like, (last.memory, last.weights, last.past, last.hidden)))


def _of_all_steps(steps: list[_Step], d_given: list[ndarray], d_told: list[ndarray]) -> tuple:
    """Gradients of what all steps share, in the order of :meth:`_Run.forward`'s arguments."""
    given, told = np.concatenate(d_given), np.concatenate(d_told)  # (T · B, G), (T · B, K)
    past, hidden = (np.concatenate([step[field] for step in steps]) for field in (0, 1))
    found = np.stack(d_given, axis=1), given.T @ past, told.T @ hidden, told.sum(axis=0)
    return *map(torch.from_numpy, found), None, None, None


# ---- the controller


def _sigmoid(x: ndarray) -> ndarray:
    return np.tanh(x * 0.5) * 0.5 + 0.5  # never too large a power


def _control(before: ndarray, cell: ndarray) -> tuple[ndarray, ndarray, tuple]:
    """``before (B, D)`` or, of an LSTM, ``(B, 4 · D)`` -> hidden vector, memory cell, and what the way back needs."""
    size = cell.shape[1]
    if before.shape[1] == size:
        return np.tanh(before), cell, ()
    opened, new = _sigmoid(before), np.tanh(before[:, 2 * size : 3 * size])
    into, forget, out = opened[:, :size], opened[:, size : 2 * size], opened[:, 3 * size :]
    after = forget * cell + into * new
    squashed = np.tanh(after)
    return out * squashed, after, (into, forget, out, new, cell, squashed)


def _control_back(d_hidden: ndarray, d_after: ndarray, step: _Step) -> tuple[ndarray, ndarray]:
    """Gradients of ``before`` and of the memory cell that came in."""
    if not step.gates:
        return d_hidden * (1 - step.hidden * step.hidden), d_after
    into, forget, out, new, cell, squashed = step.gates
    d_cell = d_after + d_hidden * out * (1 - squashed * squashed)
    d_before = [
        d_cell * new * into * (1 - into),
        d_cell * cell * forget * (1 - forget),
        d_cell * into * (1 - new * new),
        d_hidden * squashed * out * (1 - out),
    ]
    return np.concatenate(d_before, axis=1), d_cell * forget


# ---- what the heads are told


class _Told(NamedTuple):
    """As :class:`~attnbook.models.ntm_addressing.Address` for all heads, and erase and add ``(B, W, M)`` of writers.

    ``opened``: the sigmoid of the six numbers behind the key, ``(B, H, 6)``, which is the slope of a softplus.
    """

    key: ndarray
    beta: ndarray
    gate: ndarray
    shift: ndarray
    gamma: ndarray
    opened: ndarray
    erase: ndarray
    add: ndarray

    @classmethod
    def of(cls, numbers: ndarray, config: NTMConfig) -> "_Told":
        """From the numbers of the linear layers, ``(B, H · (M + 6) + W · 2 · M)``, with every number in its range."""
        batch, width, ends = len(numbers), config.width, config.heads * (config.width + 6)
        told = numbers[:, :ends].reshape(batch, config.heads, width + 6)
        orders = numbers[:, ends:].reshape(batch, config.write_heads, 2 * width)
        rest = told[..., width:]
        opened, positive = _sigmoid(rest), np.logaddexp(rest, 0)
        return cls(
            told[..., :width], positive[..., :1], opened[..., 1:2], _softmax(rest[..., 2:5]), 1 + positive[..., 5:],
            opened, _sigmoid(orders[..., :width]), orders[..., width:],
        )  # fmt: skip


def _heads_back(d_reads: ndarray, d_after: ndarray, d_looked: ndarray, step: _Step, config: NTMConfig) -> tuple:
    """From the gradients of reads, memory and weights to those of the heads' numbers ``(B, K)``, memory and weights."""
    batch, readers = len(d_reads), config.read_heads
    d_reads = d_reads.reshape(batch, readers, config.width)
    d_memory = d_after + step.weights[:, :readers].swapaxes(1, 2) @ d_reads  # (B, N, M)
    d_before, d_writers, d_orders = _write_back(d_memory, step.writing, step.told)
    d_weights = d_looked + np.concatenate([d_reads @ step.memory.swapaxes(1, 2), d_writers], axis=1)
    d_previous, d_rows, d_address = _address_back(d_weights, step.addressing, step.told, config.without)
    d_numbers = np.concatenate([d_address.reshape(batch, -1), d_orders.reshape(batch, -1)], axis=1)
    return d_numbers, d_before + d_rows, d_previous


# ---- addressing


def _softmax(scores: ndarray) -> ndarray:
    powers = np.exp(scores - np.maximum.reduce(scores, axis=-1, keepdims=True))
    return powers / np.add.reduce(powers, axis=-1, keepdims=True)


def _softmax_back(gradient: ndarray, out: ndarray) -> ndarray:
    product = gradient * out
    return product - out * np.add.reduce(product, axis=-1, keepdims=True)


def _address(told: _Told, previous: ndarray, memory: ndarray, without: tuple[str, ...]) -> tuple[ndarray, tuple]:
    """Weights ``(B, H, N)`` by :func:`~attnbook.models.ntm_addressing.address`, and what the way back needs."""
    found = None if "content" in without else _content(told, memory)
    gated = previous if found is None else found[0]
    if found is not None and "interpolation" not in without:
        gated = previous + told.gate * (gated - previous)
    moved = gated if "shift" in without else _shift(gated, told.shift)
    above = np.maximum(moved, np.finfo(moved.dtype).tiny)
    logs = np.log(above)
    weights = moved if "sharpening" in without else _softmax(told.gamma * logs)
    return weights, (previous, found, gated, moved, above, logs, weights)


def _address_back(d_weights: ndarray, kept: tuple, told: _Told, without: tuple[str, ...]) -> tuple:
    """Gradients of the weights before, of the memory, and of the numbers ``(B, H, M + 6)``."""
    previous, found, gated, moved, above, logs, weights = kept
    d_numbers = np.zeros((*told.key.shape[:2], told.key.shape[2] + 6), d_weights.dtype)
    rest = d_numbers[..., -6:]  # β, gate, three shifts, γ
    if "sharpening" not in without:
        d_powers = _softmax_back(d_weights, weights)
        rest[..., 5:] = np.add.reduce(d_powers * logs, axis=-1, keepdims=True) * told.opened[..., 5:]
        d_weights = d_powers * told.gamma / above * (moved == above)
    if "shift" not in without:
        d_weights, d_shift = _shift_back(d_weights, gated, told.shift)
        rest[..., 2:5] = _softmax_back(d_shift, told.shift)
    if found is None:
        return d_weights, 0.0, d_numbers
    d_found, d_previous = d_weights, np.zeros_like(d_weights)
    if "interpolation" not in without:
        d_gate = np.add.reduce(d_weights * (found[0] - previous), axis=-1, keepdims=True)
        rest[..., 1:2] = d_gate * told.gate * (1 - told.gate)
        d_found = told.gate * d_weights
        d_previous = d_weights - d_found
    d_numbers[..., :-6], d_beta, d_memory = _content_back(d_found, found, told)
    rest[..., :1] = d_beta * told.opened[..., :1]
    return d_previous, d_memory, d_numbers


def _content(told: _Told, memory: ndarray) -> tuple[ndarray, ...]:
    """Weights by content ``(B, H, N)`` and scores; keys of length 1, lengths of keys, lengths of rows, and the rows."""
    lengths = np.maximum(np.sqrt(np.add.reduce(told.key * told.key, axis=-1, keepdims=True)), EPS)  # (B, H, 1)
    squares = (memory * memory) @ np.ones(memory.shape[-1], memory.dtype)  # a matrix product sums short rows sooner
    row_lengths = np.maximum(np.sqrt(squares), EPS)[:, None]  # (B, 1, N)
    keys = told.key / lengths
    scores = (told.beta * keys) @ memory.swapaxes(1, 2) / row_lengths  # (B, H, N)
    return _softmax(scores), scores, keys, lengths, row_lengths, memory


def _content_back(d_found: ndarray, kept: tuple[ndarray, ...], told: _Told) -> tuple[ndarray, ndarray, ndarray]:
    """Gradients of key, β and memory. What points along a vector changes its length only, and no cosine."""
    found, scores, keys, lengths, row_lengths, memory = kept
    d_scores = _softmax_back(d_found, found)
    shares = d_scores / row_lengths  # (B, H, N)
    d_keys = shares @ memory  # (B, H, M), of β times the key of length 1
    d_beta = np.add.reduce(d_keys * keys, axis=-1, keepdims=True)
    d_key = (d_keys - (lengths > EPS) * d_beta * keys) * (told.beta / lengths)
    along = np.add.reduce(shares * scores, axis=1, keepdims=True) / row_lengths * (row_lengths > EPS)  # (B, 1, N)
    d_memory = shares.swapaxes(1, 2) @ (told.beta * keys)  # (B, N, M)
    d_memory -= along.swapaxes(1, 2) * memory
    return d_key, d_beta, d_memory


def _around(weights: ndarray) -> ndarray:
    """``(B, H, N)`` -> ``(B, H, N + 2)``: the last row before the first, and the first behind the last."""
    return np.concatenate([weights[..., -1:], weights, weights[..., :1]], axis=-1)


def _shift(weights: ndarray, shift: ndarray) -> ndarray:
    around, back, stay, forth = _around(weights), shift[..., :1], shift[..., 1:2], shift[..., 2:]
    return back * around[..., 2:] + stay * weights + forth * around[..., :-2]


def _shift_back(d_moved: ndarray, weights: ndarray, shift: ndarray) -> tuple[ndarray, ndarray]:
    """Gradients of the weights, which move back, and of the three probabilities."""
    around = _around(weights)
    beside = [around[..., 2:], weights, around[..., :-2]]
    d_shift = np.concatenate([np.add.reduce(d_moved * part, axis=-1, keepdims=True) for part in beside], axis=-1)
    return _shift(d_moved, shift[..., ::-1]), d_shift


# ---- writing


def _write(memory: ndarray, weights: ndarray, told: _Told) -> tuple[ndarray, tuple]:
    """The memory after erasing and adding, ``(B, N, M)``, and what the way back needs."""
    kept = 1 - weights[..., None] * told.erase[:, :, None]  # (B, W, N, M)
    together = kept.prod(axis=1) if kept.shape[1] > 1 else kept[:, 0]  # (B, N, M)
    return memory * together + weights.swapaxes(1, 2) @ told.add, (memory, weights, kept, together)


def _write_back(d_after: ndarray, kept_of: tuple, told: _Told) -> tuple[ndarray, ndarray, ndarray]:
    """Gradients of the memory before, of the writers' weights ``(B, W, N)``, of erase and add ``(B, W, 2 · M)``."""
    memory, weights, kept, together = kept_of
    d_together = (d_after * memory)[:, None]  # (B, 1, N, M)
    if kept.shape[1] > 1:  # of each writer's part: the others' parts are factors
        others = [np.delete(kept, writer, axis=1).prod(axis=1) for writer in range(kept.shape[1])]
        d_together = d_together * np.stack(others, axis=1)  # (B, W, N, M)
    d_weights = told.add @ d_after.swapaxes(1, 2) - (d_together @ told.erase[..., None])[..., 0]
    d_erase = -(weights[:, :, None] @ d_together)[:, :, 0] * told.erase * (1 - told.erase)
    return d_after * together, d_weights, np.concatenate([d_erase, weights @ d_after], axis=-1)
