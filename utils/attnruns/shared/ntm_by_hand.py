"""The run of a neural Turing machine with its gradient written out, many times as fast on a few sequences.

A machine with one sequence computes little, but in thousands of small operations, each of which PyTorch dispatches,
notes, and walks back. Here the equations of the paper are differentiated by hand, in NumPy, whose calls on small arrays
take a third of the time; autograd sees a single operation. Logits and gradients are those of
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
from attnruns.shared.ntm_by_hand_heads import Used, sigmoid, use_heads, use_heads_back


def run_sooner(machine: NTM, inputs: Tensor, rows: int = 128) -> tuple[Tensor, Tensor]:
    """What ``machine(inputs, rows)`` returns: by hand on the CPU, where that is faster, else by the machine itself."""
    on_cpu = inputs.device.type == machine.output.weight.device.type == "cpu"
    return (run_by_hand if on_cpu else type(machine).__call__)(machine, inputs, rows)


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
    """What the way back needs of a time step."""

    past: ndarray  # (B, R · M [+ D]): reads and, for an LSTM, the hidden vector of the step before
    hidden: ndarray  # (B, D)
    gates: tuple  # of the controller
    used: Used  # what the heads did


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
            used = use_heads(hidden @ heads.T + heads_bias, weights, memory, config)
            weights, memory = used.weights, used.memory
            if any(ctx.needs_input_grad):  # all these memories take room
                ctx.steps.append(_Step(past, hidden, gates, used))
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
            d_numbers, d_memory, d_weights = use_heads_back(d_reads, carried.memory, d_weights, steps[t].used, config)
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
        return cls(*map(np.zeros_like, (last.used.memory, last.used.weights, last.past, last.hidden)))


def _of_all_steps(steps: list[_Step], d_given: list[ndarray], d_told: list[ndarray]) -> tuple:
    """Gradients of what all steps share, in the order of :meth:`_Run.forward`'s arguments."""
    given, told = np.concatenate(d_given), np.concatenate(d_told)  # (T · B, G), (T · B, K)
    past, hidden = (np.concatenate([step[field] for step in steps]) for field in (0, 1))
    found = np.stack(d_given, axis=1), given.T @ past, told.T @ hidden, told.sum(axis=0)
    return *map(torch.from_numpy, found), None, None, None


# ---- the controller


def _control(before: ndarray, cell: ndarray) -> tuple[ndarray, ndarray, tuple]:
    """``before (B, D)`` or, of an LSTM, ``(B, 4 · D)`` -> hidden vector, memory cell, and what the way back needs."""
    size = cell.shape[1]
    if before.shape[1] == size:
        return np.tanh(before), cell, ()
    opened, new = sigmoid(before), np.tanh(before[:, 2 * size : 3 * size])
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
