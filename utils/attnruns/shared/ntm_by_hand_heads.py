"""The heads of a neural Turing machine in NumPy, with the gradient of each step written out beside it.

:mod:`~attnruns.shared.ntm_by_hand` says what for. Each ``…_back`` undoes the function above it: from the gradient of
what came out to the gradients of what went in.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from attnbook.models.ntm import NTMConfig

EPS = 1e-8  # that of the cosine score


def sigmoid(x: ndarray) -> ndarray:
    """1 / (1 + exp(−x)), by a tanh: no power gets too large."""
    return np.tanh(x * 0.5) * 0.5 + 0.5


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
        opened, positive = sigmoid(rest), np.logaddexp(rest, 0)
        return cls(
            told[..., :width], positive[..., :1], opened[..., 1:2], _softmax(rest[..., 2:5]), 1 + positive[..., 5:],
            opened, sigmoid(orders[..., :width]), orders[..., width:],
        )  # fmt: skip


class Used(NamedTuple):
    """A time step of all heads: what they were told, where they looked, what they left, and what the way back needs."""

    told: _Told
    weights: ndarray  # (B, H, N)
    memory: ndarray  # (B, N, M), after writing
    addressing: tuple
    writing: tuple


def use_heads(numbers: ndarray, weights: ndarray, memory: ndarray, config: NTMConfig) -> Used:
    """Address and write, told the numbers ``(B, K)``, from the weights and the memory of the step before."""
    told = _Told.of(numbers, config)
    weights, addressing = _address(told, weights, memory, config.without)
    memory, writing = _write(memory, weights[:, config.read_heads :], told)
    return Used(told, weights, memory, addressing, writing)


def use_heads_back(d_reads: ndarray, d_after: ndarray, d_looked: ndarray, used: Used, config: NTMConfig) -> tuple:
    """From the gradients of reads, memory and weights to those of the heads' numbers ``(B, K)``, memory and weights."""
    batch, readers = len(d_reads), config.read_heads
    d_reads = d_reads.reshape(batch, readers, config.width)
    d_memory = d_after + used.weights[:, :readers].swapaxes(1, 2) @ d_reads  # (B, N, M)
    d_before, d_writers, d_orders = _write_back(d_memory, used.writing, used.told)
    d_weights = d_looked + np.concatenate([d_reads @ used.memory.swapaxes(1, 2), d_writers], axis=1)
    d_previous, d_rows, d_address = _address_back(d_weights, used.addressing, used.told, config.without)
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
