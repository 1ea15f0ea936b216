"""A memory of fixed size in place of a cache: linear attention, its forgetting and its correcting form.

Without the softmax a score is a product, and the sum over all earlier words can be kept as one matrix, S = Σ k vᵀ, of
as many numbers after a million words as after one. Each family is here twice: over all positions at once, as it is
trained, and word by word, as it writes. Both compute the same.

    linear        S ← S + k vᵀ                  adds, and never forgets
    forgetting    S ← a S + k vᵀ                lets everything fade, as much as the word says
    delta rule    S ← S + β k (v − Sᵀk)ᵀ        takes away what the memory held under this key, then adds
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import (
    check_attention,
    check_mask,
    check_mask_of_keys,
    check_same_features,
    check_same_length,
    for_all_heads,
    like_scores,
)


def positive_features(x: Tensor) -> Tensor:
    """elu(x) + 1 > 0, so that no weight is negative. Source: Katharopoulos et al. 2020."""
    return F.elu(x) + 1


def linear_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *,
    features: Callable[[Tensor], Tensor] = positive_features,
) -> tuple[Tensor, None]:  # fmt: skip
    """Attention with the score φ(q)·φ(k) in place of exp(q·k), at all positions at once.

    Without a mask no Tq × Tk matrix is made: (φ(Q) φ(K)ᵀ) V is φ(Q) (φ(K)ᵀ V).

    Args:
        query, key, value, mask: as :func:`~attnbook.attention.attend` takes them; ``causal_mask`` makes it the same
            as :func:`linear_step` word by word.
        features: φ, from ``(..., D)`` to ``(..., any)``, not negative.

    Returns:
        context ``(B, Tq, Dv)``, zero where nothing may be attended to, and ``None``.

    Raises:
        ValueError: if the shapes do not fit together. TypeError: if the mask is not boolean.

    Source: Katharopoulos et al. 2020.
    """
    check_attention(query, key, value)
    check_same_features("linear", query, key)
    query, key = features(query), features(key)
    if mask is None:
        context = query @ (key.mT @ value)  # (B, Tq, F) @ (B, F, Dv) -> (B, Tq, Dv)
        total = query @ key.sum(dim=-2)[..., None]  # (B, Tq, F) @ (B, F, 1) -> (B, Tq, 1)
    else:
        mask = for_all_heads(mask, query)
        check_mask(mask, like_scores(query, key))
        weights = (query @ key.mT).masked_fill(~mask, 0.0)  # type: ignore[operator]  # (B, Tq, Tk); there is a mask
        context, total = weights @ value, weights.sum(dim=-1, keepdim=True)  # (B, Tq, Dv), (B, Tq, 1)
    return context / total.masked_fill(total == 0, 1.0), None


class LinearState(NamedTuple):
    """All that linear attention keeps of the words so far.

    Fields:
        memory: S ``(B, F, Dv)``, the sum of φ(k) vᵀ. total: z ``(B, F)``, the sum of φ(k).
    """

    memory: Tensor
    total: Tensor


def linear_step(
    query: Tensor, key: Tensor, value: Tensor, state: LinearState | None = None, *,
    features: Callable[[Tensor], Tensor] = positive_features,
) -> tuple[Tensor, LinearState]:  # fmt: skip
    """Linear attention for the next word alone.

    Args:
        query, key: ``(B, D)``. value: ``(B, Dv)``.
        state: after the words before; ``None`` before the first.

    Returns:
        context ``(B, Dv)`` and the state after this word, of the same size as before.

    Source: Katharopoulos et al. 2020.
    """
    query, key = features(query), features(key)  # (B, F) each
    memory, total = key[..., :, None] * value[..., None, :], key  # (B, F, Dv), (B, F)
    if state is not None:
        memory, total = state.memory + memory, state.total + total
    context = _look_up(memory, query) / (query * total).sum(dim=-1, keepdim=True)  # (B, Dv) / (B, 1)
    return context, LinearState(memory, total)


def _look_up(memory: Tensor, query: Tensor) -> Tensor:
    """Sᵀq: what the memory ``(B, F, Dv)`` holds under ``query (B, F)`` -> ``(B, Dv)``."""
    return (query[..., None, :] @ memory)[..., 0, :]


def forgetting_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, keep: Tensor
) -> tuple[Tensor, None]:
    """Causal linear attention whose memory fades: what was written at s has the factor a_{s+1} · … · a_t at t.

    There is no sum to divide by, and φ is left out. This is a selective state space (Mamba-2) with C for the query, B
    for the key and Δx for the value.

    Args:
        query, key: ``(B, T, D)``. value: ``(B, T, Dv)``.
        mask: ``(B, 1, T)``; a word with ``False`` is not written, and lets nothing fade.
        keep: a ``(B, T)``, above 0 and up to 1: how much of the memory stays when the word comes.

    Returns:
        context ``(B, T, Dv)`` and ``None``.

    Raises:
        ValueError: if the shapes do not fit together. TypeError: if the mask is not boolean.

    Source: Dao and Gu 2024 (there (L ∘ C Bᵀ) X).
    """
    key, keep = _check_recurrent(query, key, value, mask, "keep", keep, skipped=1.0)
    return (query @ key.mT * _factors(keep)) @ value, None


def _factors(keep: Tensor) -> Tensor:
    """a_{s+1} · … · a_t, what is left at t of what was written at s: ``keep (B, T)`` -> ``(B, T, T)``, 0 for s > t."""
    faded = keep.log().cumsum(dim=-1)  # (B, T): its differences are the logarithms of the factors
    return (faded[..., :, None] - faded[..., None, :]).tril().exp().tril()  # exp only of what is needed


def forgetting_step(
    query: Tensor, key: Tensor, value: Tensor, keep: Tensor, memory: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The same for the next word alone: ``query, key (B, D)``, ``value (B, Dv)``, ``keep (B,)``.

    Returns:
        context ``(B, Dv)`` and the memory ``(B, D, Dv)`` after this word.
    """
    new = key[..., :, None] * value[..., None, :]  # (B, D, Dv)
    memory = new if memory is None else keep[..., None, None] * memory + new
    return _look_up(memory, query), memory


def delta_rule(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, rate: Tensor, keep: Tensor | None = None
) -> tuple[Tensor, None]:
    """Causal linear attention that corrects its memory instead of only adding to it, at all positions at once.

    What is written at t is u_t = β_t (v_t − Σ_{s<t} (k_t·k_s) u_s): the value less what the memory already answers to
    this key. These are T equations with a triangular matrix, solved together. With ``keep`` it is the gated delta rule:
    what was written earlier has faded before it is corrected, as in :func:`forgetting_attention`.

    Args:
        query, key: ``(B, T, D)``; keys of length 1, see :func:`unit_features`. value: ``(B, T, Dv)``.
        mask: ``(B, 1, T)``; a word with ``False`` is not written.
        rate: β ``(B, T)``, from 0 (write nothing) to 1 (replace what the memory held under this key).
        keep: a ``(B, T)``, above 0 and up to 1: how much of the memory stays when the word comes; ``None``: all of it.

    Returns:
        context ``(B, T, Dv)`` and ``None``.

    Raises:
        ValueError: if the shapes do not fit together. TypeError: if the mask is not boolean.

    Source: Schlag et al. 2021, section 4.2 (the rule); Yang et al. 2024, section 3 (all positions at once); Yang et
        al. 2025 (gated).
    """
    present, rate = _check_recurrent(query, key, value, mask, "rate", rate, skipped=0.0)
    by_key, by_query = present @ present.mT, query @ present.mT  # (B, T, T) each
    if keep is not None:
        _, keep = _check_recurrent(query, key, value, mask, "keep", keep, skipped=1.0)
        factors = _factors(keep)
        by_key, by_query = by_key * factors, by_query * factors
    earlier = rate[..., None] * by_key.tril(-1)  # (B, T, T): 0 on the diagonal, where the solver reads 1
    written = torch.linalg.solve_triangular(earlier, rate[..., None] * value, upper=False, unitriangular=True)
    return by_query.tril() @ written, None  # (B, T, T) @ (B, T, Dv) -> (B, T, Dv)


def delta_step(
    query: Tensor, key: Tensor, value: Tensor, rate: Tensor, memory: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The same for the next word alone: ``query, key (B, D)``, ``value (B, Dv)``, ``rate (B,)``.

    The gated rule gives it the memory that has faded.

    Returns:
        context ``(B, Dv)`` and the memory ``(B, D, Dv)`` after this word.

    Source: Schlag et al. 2021, section 4.2.
    """
    if memory is None:
        memory = value.new_zeros(*key.shape, value.shape[-1])  # (B, D, Dv)
    change = rate[..., None] * (value - _look_up(memory, key))  # (B, Dv)
    memory = memory + key[..., :, None] * change[..., None, :]  # (B, D, Dv)
    return _look_up(memory, query), memory


def unit_features(x: Tensor) -> Tensor:
    """x / ‖x‖: with keys of length 1 a rate of 1 replaces exactly. Source: Yang et al. 2024, section 3."""
    return F.normalize(x, dim=-1)


def _check_recurrent(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, name: str, rates: Tensor, skipped: float
) -> tuple[Tensor, Tensor]:
    """Keys and rates, where words that the mask leaves out have the key 0 and the rate ``skipped``."""
    check_attention(query, key, value)
    check_same_length(query, key, value)
    check_same_features("linear", query, key)
    if rates.shape != key.shape[:-1]:
        raise ValueError(f"{name} must have shape {tuple(key.shape[:-1])}, one per position, got {tuple(rates.shape)}")
    if mask is None:
        return key, rates
    check_mask_of_keys(mask, key if key.ndim == 3 else key[:, 0])
    real = (mask if key.ndim == 3 else mask[:, None])[..., 0, :]  # (B, T), or (B, 1, T) with heads
    return key.masked_fill(~real[..., None], 0.0), rates.masked_fill(~real, skipped)
