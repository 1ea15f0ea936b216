"""Where a head of a neural Turing machine looks: four steps from an order to weights, and what is done with them.

A head looks with weights that sum to 1 over the N rows of the memory. Every function takes weights ``(B, N)`` of one
head, or ``(B, H, N)`` of H heads side by side; whatever else a head brings has the same leading axes.
"""

from collections.abc import Collection
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention import attention_weights, cosine, masked_softmax
from attnbook.attention.precision import at_least_float32
from attnbook.models.ntm_arguments import check_address, check_last, check_rows

STEPS = ("content", "interpolation", "shift", "sharpening")


class Address(NamedTuple):
    """What a head is told at one time step.

    Fields:
        key: ``(B, H, M)``, what to look for.
        beta: ``(B, H, 1)``, at least 0: how sharply to look for it.
        gate: ``(B, H, 1)``, from 0 to 1: 1 = go by content, 0 = stay where the head was.
        shift: ``(B, H, 3)``, probabilities of a move by −1, 0, +1 rows.
        gamma: ``(B, H, 1)``, at least 1: how much to sharpen at the end.
    """

    key: Tensor
    beta: Tensor
    gate: Tensor
    shift: Tensor
    gamma: Tensor


def in_range(numbers: Tensor) -> Address:
    """Turn any numbers ``(..., M + 6)`` into an address, each field ``(..., …)``, every number in its range.

    Source: Graves et al. 2014, section 3.3: β ≥ 0 and γ ≥ 1 by softplus, 0 < g < 1 by a sigmoid, s by a softmax.
    """
    key, beta, gate, shift, gamma = numbers.split((numbers.shape[-1] - 6, 1, 1, 3, 1), dim=-1)
    return Address(key, F.softplus(beta), gate.sigmoid(), shift.softmax(dim=-1), 1 + F.softplus(gamma))


def content_weights(key: Tensor, beta: Tensor, memory: Tensor) -> Tensor:
    """Look for a key: cosine score with each row, times β, softmax. The heads are the queries.

    Args:
        key: ``(B, M)`` or ``(B, H, M)``.
        beta: ``(B, 1)`` or ``(B, H, 1)``, at least 0.
        memory: ``(B, N, M)``. A row of zeros has no direction; its cosine is 0.

    Returns:
        ``(B, N)`` or ``(B, H, N)``; each row sums to 1.

    Raises:
        ValueError: if the shapes do not fit together.

    Source: Graves et al. 2014, equations 5 and 6.
    """
    check_address(key, beta, memory)
    if key.ndim == 2:
        return content_weights(key[:, None], beta[:, None], memory)[:, 0]  # one head: (B, 1, N) -> (B, N)
    return attention_weights(key, memory, score=lambda query, rows: beta * cosine(query, rows))  # (B, H, N)


def interpolate(content: Tensor, previous: Tensor, gate: Tensor) -> Tensor:
    """Mix what was found with where the head was: g · content + (1 − g) · previous.

    Args:
        content: ``(..., N)``; previous: ``(..., N)``.
        gate: ``(..., 1)``, from 0 (stay) to 1 (go by content).

    Raises:
        ValueError: if the shapes do not fit together.

    Source: Graves et al. 2014, equation 7.
    """
    check_last("previous", previous, content, content.shape[-1])
    check_last("gate", gate, content, 1)
    return previous.lerp(content, gate)  # the formula above in one call


def circular_shift(weights: Tensor, shift: Tensor) -> Tensor:
    """Move the focus around the circle of rows: w'(i) = Σ_j w(j) s(i − j).

    Args:
        weights: ``(..., N)``.
        shift: ``(..., 3)``, probabilities of −1, 0, +1. +1 moves the focus to the next row, from the last to row 0.

    Returns:
        ``(..., N)`` with the same sum, if the probabilities sum to 1.

    Raises:
        ValueError: if ``shift`` is not ``(..., 3)`` with the leading axes of ``weights``.

    Source: Graves et al. 2014, equation 8.
    """
    check_last("shift", shift, weights, 3)
    back, stay, forth = shift.split(1, dim=-1)  # (..., 1) each
    return back * weights.roll(-1, dims=-1) + stay * weights + forth * weights.roll(1, dims=-1)


def sharpen(weights: Tensor, gamma: Tensor) -> Tensor:
    """Raise the weights to the power γ and let them sum to 1 again, so that what a shift blurs does not stay blurred.

    w^γ / Σ w^γ is a softmax of γ · log w. As a softmax it bears any γ; a weight of zero counts as the smallest
    number there is, since log 0 has no gradient.

    Args:
        weights: ``(..., N)``, at least 0.
        gamma: ``(..., 1)``, at least 1.

    Raises:
        ValueError: if ``gamma`` does not have one number a row of weights.

    Source: Graves et al. 2014, equation 9.
    """
    check_last("gamma", gamma, weights, 1)
    wide = at_least_float32(weights)  # float16's smallest number, 6e-5, is no zero for a sum over many rows
    logs = wide.clamp_min(torch.finfo(wide.dtype).tiny).log()  # (..., N)
    return masked_softmax(gamma * logs).to(weights.dtype)


def address(emitted: Address, previous: Tensor, memory: Tensor, without: Collection[str] = ()) -> Tensor:
    """All four steps: from what a head is told, and where it was, to where it looks.

    Args:
        emitted: what the controller emitted for all heads.
        previous: ``(B, H, N)``, the weights of the step before.
        memory: ``(B, N, M)``.
        without: steps of :data:`STEPS` to leave out. Without content a head goes by ``previous`` alone, without
            interpolation by content alone; without both it starts from ``previous``.

    Returns:
        ``(B, H, N)``; each row sums to 1.

    Source: Graves et al. 2014, figure 2.
    """
    weights = previous
    if "content" not in without:
        weights = content_weights(emitted.key, emitted.beta, memory)
        if "interpolation" not in without:
            weights = interpolate(weights, previous, emitted.gate)
    if "shift" not in without:
        weights = circular_shift(weights, emitted.shift)
    return weights if "sharpening" in without else sharpen(weights, emitted.gamma)


def read(memory: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of the rows: ``memory (B, N, M)``, ``weights (B, N)`` or ``(B, H, N)`` -> ``(B, [H,] M)``.

    Raises:
        ValueError: if the shapes do not fit together.

    Source: Graves et al. 2014, equation 2: the context of chapter 02 with the rows as values.
    """
    check_rows(memory, weights)
    if weights.ndim == 2:
        return read(memory, weights[:, None])[:, 0]  # one head: (B, 1, M) -> (B, M)
    return weights @ memory  # (B, H, N) @ (B, N, M) -> (B, H, M)


def erase_and_add(memory: Tensor, weights: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """Write: each row forgets as much as it is looked at, then takes in as much. Returns a new memory ``(B, N, M)``.

    Several heads first erase all, then add all, so that their order makes no difference.

    Args:
        memory: ``(B, N, M)``.
        weights: ``(B, N)`` or ``(B, H, N)``.
        erase: ``(B, M)`` or ``(B, H, M)``, from 0 to 1.
        add: as ``erase``, any numbers.

    Raises:
        ValueError: if the shapes do not fit together.

    Source: Graves et al. 2014, equations 3 and 4.
    """
    check_rows(memory, weights, erase=erase, add=add)
    if weights.ndim == 2:
        weights, erase, add = weights[:, None], erase[:, None], add[:, None]  # one head
    kept = 1 - weights[..., None] * erase[:, :, None]  # (B, H, N, 1) * (B, H, 1, M) -> (B, H, N, M)
    kept = kept.prod(dim=1) if kept.shape[1] > 1 else kept[:, 0]  # (B, N, M)
    return memory * kept + weights.mT @ add  # (B, N, H) @ (B, H, M) -> (B, N, M)
